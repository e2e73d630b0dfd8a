import { describePenalty } from '../penalties/index.ts';
import type { Penalty } from '../penalties/penalty.ts';

/** "l2", "elastic-net 0.3", "l1 (w ≥ 0)": with L1's share where that is not settled by the name. */
export function penaltyName(penalty: Penalty): string {
  const { name, l1 } = penalty;
  return describePenalty(name === 'elastic-net' ? { ...penalty, name: `${name} ${l1}` } : penalty);
}

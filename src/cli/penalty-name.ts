import type { Penalty } from '../penalties/penalty.ts';

/** "l2", "l1", "elastic-net 0.3": with L1's share where that is not settled by the name. */
export function penaltyName({ name, l1 }: Pick<Penalty, 'name' | 'l1'>): string {
  return name === 'elastic-net' ? `${name} ${l1}` : name;
}

import type { Penalty } from './penalty.ts';
import { separablePenalty } from './separable.ts';

/** φ(w) = ½ w², ridge. */
export function l2(): Penalty {
  return separablePenalty('l2', 0, 1);
}

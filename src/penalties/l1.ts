import type { Penalty } from './penalty.ts';
import { separablePenalty } from './separable.ts';

/** φ(w) = |w|, the LASSO. */
export function l1(): Penalty {
  return separablePenalty('l1', 1, 0);
}

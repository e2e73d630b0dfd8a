/**
 * What L2, L1 and the elastic net share:
 *
 *   φ(w)         = l1 |w| + (l2/2) w²
 *   prox_tφ(w)   = S(w, t l1) / (1 + t l2),   S the soft threshold
 *   φ*(s)        = max(0, |s| − l1)² / (2 l2)   for l2 > 0
 *                  0 for |s| ≤ l1, else ∞       for l2 = 0
 */
import { softThreshold } from '../math/scalars.ts';
import type { Penalty } from './penalty.ts';

function signOf(w: number): number {
  if (w > 0) return 1;
  return w < 0 ? -1 : 0;
}

export function separablePenalty(name: string, l1: number, l2: number): Penalty {
  return Object.freeze({
    name,
    l1,
    l2,
    value: (w: number) => l1 * Math.abs(w) + 0.5 * l2 * w * w,
    subgradient: (w: number) => l1 * signOf(w) + l2 * w,
    prox: (w: number, t: number) => softThreshold(w, t * l1) / (1 + t * l2),
    conjugate: (s: number) => {
      const excess = Math.abs(s) - l1;
      if (excess <= 0) return 0;
      return l2 > 0 ? (excess * excess) / (2 * l2) : Infinity;
    },
  });
}

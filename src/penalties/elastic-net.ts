import { UsageError } from '../errors.ts';
import type { Penalty } from './penalty.ts';
import { separablePenalty } from './separable.ts';

/** φ(w) = ρ |w| + ½ (1 − ρ) w² with ρ = l1Ratio, 0 < ρ < 1; scikit-learn's `l1_ratio`. */
export function elasticNet(options: { l1Ratio?: number } = {}): Penalty {
  const { l1Ratio = 0.5 } = options;
  if (!(l1Ratio > 0 && l1Ratio < 1)) {
    throw new UsageError(
      `penalty 'elastic-net': l1Ratio is ${String(l1Ratio)}; it must lie between 0 and 1 ` +
        "(penalties 'l2' and 'l1' are its ends)",
    );
  }
  return separablePenalty('elastic-net', l1Ratio, 1 - l1Ratio);
}

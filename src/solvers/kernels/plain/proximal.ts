import type { Loss } from '../../../problem/losses/loss.ts';
import type { ProximalKernels } from '../proximal.ts';

/** Twin of assembly/proximal.ts. */
export function plainProximalKernels(loss: Loss): ProximalKernels {
  const { parameter } = loss;
  return {
    proximalAlong(margins, change, share, { labels, rowWeights, centre }, width, alpha) {
      for (let i = 0; i < margins.length; i++) {
        const c = rowWeights[i];
        const u = margins[i] + share * change[i];
        const a = loss.dualStep(centre[i], u, width, labels[i], parameter);
        alpha[i] = c === 0 ? 0 : c * a;
      }
    },

    proximalPoint(margins, { labels, rowWeights, centre }, width, flat, alpha, curvatures) {
      for (let i = 0; i < margins.length; i++) {
        const c = rowWeights[i];
        const y = labels[i];
        const a = loss.dualStep(centre[i], margins[i], width, y, parameter);
        const isInside =
          -a > loss.conjugateLow(y, parameter) && -a < loss.conjugateHigh(y, parameter);
        const isCurved = isInside && !(flat && a === 0);
        // A solver that needs it refuses losses without it.
        const bend = isCurved ? (loss.conjugateCurvature?.(-a, y, parameter) ?? 0) : 0;
        alpha[i] = c === 0 ? 0 : c * a;
        curvatures[i] = c * (isCurved ? 1 / (width + bend) : 0);
      }
    },
  };
}

import { clamp } from '../../math/scalars.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Kernels } from '../../solvers/kernels/kernels.ts';

type SumKernels = Pick<
  Kernels,
  | 'lossSum'
  | 'conjugateSum'
  | 'conjugateSlope'
  | 'lossSlope'
  | 'dualPoint'
  | 'dualSlopes'
  | 'shiftAlpha'
>;

/** Sums over rows for the objective and the line searches. Twin of assembly/sums.ts. */
export function plainSumKernels(loss: Loss): SumKernels {
  const { parameter } = loss;
  return {
    lossSum(margins, labels, importance, begin, end) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const c = importance[i];
        if (c !== 0) sum += c * loss.value(margins[i], labels[i], parameter);
      }
      return sum;
    },

    conjugateSum(alpha, labels, importance, begin, end, scale) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const c = importance[i];
        if (c === 0) continue;
        sum += c * loss.conjugate(-(scale * alpha[i] * (1 / c)), labels[i], parameter);
      }
      return sum;
    },

    conjugateSlope(from, to, labels, importance, begin, end, eta) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const delta = to[i] - from[i];
        // Where c is 0, α never moves.
        if (delta !== 0) {
          const at = (from[i] + eta * delta) * (importance[i] > 0 ? 1 / importance[i] : 0);
          sum += delta * loss.conjugateDerivative(-at, labels[i], parameter);
        }
      }
      return sum;
    },

    lossSlope(from, to, labels, importance, begin, end, eta) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const delta = to[i] - from[i];
        if (delta !== 0) {
          const slope = loss.derivative(from[i] + eta * delta, labels[i], parameter);
          sum += delta * (importance[i] * slope);
        }
      }
      return sum;
    },

    dualPoint(margins, labels, importance, begin, end, alpha) {
      for (let i = begin; i < end; i++) {
        alpha[i] = -(importance[i] * loss.derivative(margins[i], labels[i], parameter));
      }
    },

    dualSlopes(alpha, labels, importance, begin, end, target) {
      for (let i = begin; i < end; i++) {
        const c = importance[i];
        const inverse = c > 0 ? 1 / c : 0;
        target[i] = loss.conjugateDerivative(-(alpha[i] * inverse), labels[i], parameter);
      }
    },

    shiftAlpha(alpha, labels, importance, begin, end, shift, target) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const y = labels[i];
        const c = importance[i];
        let moved = 0;
        if (c !== 0) {
          const low = -(c * loss.conjugateHigh(y, parameter));
          const high = -(c * loss.conjugateLow(y, parameter));
          moved = clamp(alpha[i] + c * shift, low, high);
        }
        target[i] = moved;
        sum += moved;
      }
      return sum;
    },
  };
}

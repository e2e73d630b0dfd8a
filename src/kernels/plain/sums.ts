import type { Loss } from '../../losses/loss.ts';
import { clamp } from '../../math/scalars.ts';
import type { Kernels } from '../kernels.ts';

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
    lossSum(margins, labels, begin, end) {
      let sum = 0;
      for (let i = begin; i < end; i++) sum += loss.value(margins[i], labels[i], parameter);
      return sum;
    },

    conjugateSum(alpha, labels, begin, end, scale) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        sum += loss.conjugate(-(scale * alpha[i]), labels[i], parameter);
      }
      return sum;
    },

    conjugateSlope(from, to, labels, begin, end, eta) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const delta = to[i] - from[i];
        if (delta !== 0) {
          sum += delta * loss.conjugateDerivative(-(from[i] + eta * delta), labels[i], parameter);
        }
      }
      return sum;
    },

    lossSlope(from, to, labels, begin, end, eta) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const delta = to[i] - from[i];
        if (delta !== 0)
          sum += delta * loss.derivative(from[i] + eta * delta, labels[i], parameter);
      }
      return sum;
    },

    dualPoint(margins, labels, begin, end, alpha) {
      for (let i = begin; i < end; i++) {
        alpha[i] = -loss.derivative(margins[i], labels[i], parameter);
      }
    },

    dualSlopes(alpha, labels, begin, end, target) {
      for (let i = begin; i < end; i++) {
        target[i] = loss.conjugateDerivative(-alpha[i], labels[i], parameter);
      }
    },

    shiftAlpha(alpha, labels, begin, end, shift, target) {
      let sum = 0;
      for (let i = begin; i < end; i++) {
        const y = labels[i];
        const low = -loss.conjugateHigh(y, parameter);
        const high = -loss.conjugateLow(y, parameter);
        const moved = clamp(alpha[i] + shift, low, high);
        target[i] = moved;
        sum += moved;
      }
      return sum;
    },
  };
}

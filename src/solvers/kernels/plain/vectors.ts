import { clamp, softThreshold } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Kernels, VectorKernels } from '../kernels.ts';

/** Loops over whole vectors, for every loss the same. Twin of assembly/vectors.ts. */
export const plainVectorKernels: VectorKernels = {
  extrapolate(now, start, previous, beta) {
    for (let k = 0; k < now.length; k++) {
      const value = now[k];
      start[k] = value;
      now[k] = value + beta * (value - previous[k]);
      previous[k] = value;
    }
  },

  interpolate(target, from, to, share) {
    for (let k = 0; k < target.length; k++) {
      const value = from[k];
      target[k] = value + share * (to[k] - value);
    }
  },

  scaleInto(source, target, factor) {
    for (let k = 0; k < target.length; k++) target[k] = source[k] * factor;
  },

  combine(target, a, factor, b) {
    for (let k = 0; k < target.length; k++) target[k] = a[k] + factor * b[k];
  },

  multiplyInto(a, b, target) {
    for (let k = 0; k < target.length; k++) target[k] = a[k] * b[k];
  },

  penaltySum(weights, l1, l2) {
    let sum = 0;
    for (let j = 0; j < weights.length; j++) {
      const w = weights[j];
      sum += l1[j] * Math.abs(w) + 0.5 * l2[j] * w * w;
    }
    return sum;
  },

  penaltyConjugateSum(image, l1, l2) {
    let sum = 0;
    for (let j = 0; j < image.length; j++) {
      if (l2[j] > 0) {
        const excess = softThreshold(image[j], l1[j]);
        sum += (excess * excess) / (2 * l2[j]);
      }
    }
    return sum;
  },

  boundedConjugateSum(image, l1, l2, { low, high }, scale) {
    let sum = 0;
    for (let j = 0; j < image.length; j++) {
      const excess = softThreshold(scale * image[j], l1[j]);
      if (excess === 0) continue;
      let w = excess > 0 ? high[j] : low[j];
      if (l2[j] > 0) w = clamp(excess / l2[j], low[j], high[j]);
      if (Math.abs(w) < Infinity) sum += w * (excess - 0.5 * l2[j] * w);
    }
    return sum;
  },

  penaltySlope(from, to, l1, l2, share) {
    let sum = 0;
    for (let j = 0; j < from.length; j++) {
      const change = to[j] - from[j];
      if (change === 0) continue;
      const w = from[j] + share * change;
      const corner = w > 0 ? change : w < 0 ? -change : Math.abs(change);
      sum += l1[j] * corner + l2[j] * w * change;
    }
    return sum;
  },

  changeAlong(from, to) {
    let sum = 0;
    for (let j = 0; j < from.length; j++) sum += from[j] * (to[j] - from[j]);
    return sum;
  },

  changeSquare(from, to) {
    let sum = 0;
    for (let j = 0; j < from.length; j++) {
      const change = to[j] - from[j];
      sum += change * change;
    }
    return sum;
  },

  mapWeights({ image, threshold, inverse, shift, box }, weights) {
    for (let j = 0; j < weights.length; j++) {
      const free = softThreshold(image[j] + shift[j], threshold[j]) * inverse[j];
      weights[j] = box ? clamp(free, box.low[j], box.high[j]) : free;
    }
  },

  mappedSlope({ image, threshold, inverse, shift, box }, start, share) {
    let sum = 0;
    for (let j = 0; j < start.length; j++) {
      const change = image[j] - start[j];
      const excess = softThreshold(start[j] + share * change + shift[j], threshold[j]);
      sum += box
        ? change * clamp(excess * inverse[j], box.low[j], box.high[j])
        : change * excess * inverse[j];
    }
    return sum;
  },

  listUnits(runs, length, skip, now, start, active) {
    let count = 0;
    for (let k = 0; k < runs.length; k++) {
      const first = runs[k] * length;
      const end = Math.min(first + length, active.length);
      for (let unit = first; unit < end; unit++) {
        if (skip[unit] > 0) {
          skip[unit]--;
          if (now[unit] === start[unit]) continue;
        }
        active[count++] = unit;
      }
    }
    return count;
  },
};

/** How far from where ℓ* has its slope, relative to it, a score is on a straight part. */
const straightFrom = 1e-9;

/** Where ℓ* has the slope ℓ'(u), is u: on a straight part it is anywhere. */
function isOnCurve(loss: Loss, u: number, slope: number, y: number): boolean {
  const distance = Math.abs(u - loss.conjugateDerivative(slope, y, loss.parameter));
  return !(distance > straightFrom * (1 + Math.abs(u)));
}

/**
 * ℓ''(u) = 1/ℓ*''(ℓ'(u)), without the least value that `curvature` has for the sake of single steps; 0
 * on a straight part, which a loss that `isBent` has not. On a steep part that is nearly straight a
 * quadratic with this curvature would fall far below 0: one with ℓ'²/(2ℓ) touches it, and half of that
 * is the least. Where ℓ is so small that it is all rounding errors, that exceeds |ℓ'| and does not count.
 */
function curvatureOf(
  loss: Loss,
  [u, y]: readonly [u: number, y: number],
  isBent: boolean,
  [here, slope]: readonly [value: number, slope: number],
): number {
  const { parameter } = loss;
  const size = Math.abs(slope);
  let curvature = 0;
  if (isBent || isOnCurve(loss, u, slope, y)) {
    curvature = loss.curvature(u, y, parameter, slope);
    const inverse = loss.conjugateCurvature?.(slope, y, parameter);
    if (inverse !== undefined) curvature = Math.min(curvature, 1 / inverse);
  }
  const chord = (0.25 * size * size) / here;
  return chord < size && chord > curvature ? chord : curvature;
}

/** Sums over rows for the objective and the line searches. Twin of assembly/sums.ts. */
export function plainSumKernels(loss: Loss) {
  const { parameter } = loss;
  return {
    lossSum(margins, labels, rowWeights) {
      let sum = 0;
      for (let i = 0; i < margins.length; i++) {
        const c = rowWeights[i];
        if (c !== 0) sum += c * loss.value(margins[i], labels[i], parameter);
      }
      return sum;
    },

    conjugateSum(alpha, labels, rowWeights, scale) {
      let sum = 0;
      for (let i = 0; i < alpha.length; i++) {
        const c = rowWeights[i];
        if (c === 0) continue;
        sum += c * loss.conjugate(-(scale * alpha[i] * (1 / c)), labels[i], parameter);
      }
      return sum;
    },

    conjugateSlope(from, to, labels, rowWeights, eta) {
      let sum = 0;
      for (let i = 0; i < from.length; i++) {
        const delta = to[i] - from[i];
        // Where c is 0, α never moves.
        if (delta !== 0) {
          const at = (from[i] + eta * delta) * (rowWeights[i] > 0 ? 1 / rowWeights[i] : 0);
          sum += delta * loss.conjugateDerivative(-at, labels[i], parameter);
        }
      }
      return sum;
    },

    lossSlope(from, to, labels, rowWeights, eta) {
      let sum = 0;
      for (let i = 0; i < from.length; i++) {
        const delta = to[i] - from[i];
        if (delta !== 0) {
          const slope = loss.derivative(from[i] + eta * delta, labels[i], parameter);
          sum += delta * (rowWeights[i] * slope);
        }
      }
      return sum;
    },

    dualPoint(margins, labels, rowWeights, alpha) {
      for (let i = 0; i < margins.length; i++) {
        alpha[i] = -(rowWeights[i] * loss.derivative(margins[i], labels[i], parameter));
      }
    },

    expandLoss(margins, labels, rowWeights, isBent, alpha, curvatures) {
      let sum = 0;
      for (let i = 0; i < margins.length; i++) {
        const [u, y, c] = [margins[i], labels[i], rowWeights[i]];
        const here = loss.value(u, y, parameter);
        const slope = loss.derivative(u, y, parameter);
        if (c !== 0) sum += c * here;
        alpha[i] = -(c * slope);
        curvatures[i] = c * curvatureOf(loss, [u, y], isBent, [here, slope]);
      }
      return sum;
    },

    dualSlopes(alpha, labels, rowWeights, target) {
      for (let i = 0; i < alpha.length; i++) {
        const c = rowWeights[i];
        const inverse = c > 0 ? 1 / c : 0;
        target[i] = loss.conjugateDerivative(-(alpha[i] * inverse), labels[i], parameter);
      }
    },

    shiftAlpha(alpha, labels, rowWeights, shift, target) {
      let sum = 0;
      for (let i = 0; i < alpha.length; i++) {
        const y = labels[i];
        const c = rowWeights[i];
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
  } satisfies Partial<Kernels>;
}

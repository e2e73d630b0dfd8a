import { exp } from '../../../math/elementary.ts';
import {
  atLeast,
  exactSumError,
  OPERATIONS,
  penaltyConjugate,
  SECURE,
  sumError,
  UNIT,
} from '../../../math/rounding.ts';
import { xlogx } from '../../../math/scalars.ts';
import { CompensatedSum } from '../../../math/vectors.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import { type CertificateKernels, lossKind } from '../certificate.ts';

/** Twin of assembly/certificate.ts. */
export function plainCertificateKernels(loss: Loss): CertificateKernels {
  const { parameter } = loss;
  return {
    lossErrors(margins, labels, rowWeights, sizes, counts, more, adding, kind, found) {
      let [errors, sum] = [0, 0];
      for (let i = 0; i < margins.length; i++) {
        const [u, y, c] = [margins[i], labels[i], rowWeights[i]];
        if (c === 0) continue;
        // The argument of the loss is rounded, too.
        let argument = Math.abs(u - y);
        if (kind !== lossKind.residual) argument = 1 + Math.abs(u) + Math.abs(parameter);
        if (kind === lossKind.custom) argument += Math.abs(y);
        const delta = 2 * UNIT * (SECURE * ((counts[i] + more) * sizes[i]) + 4 * argument);
        const here = loss.value(u, y, parameter);
        const most = Math.max(
          loss.value(u + delta, y, parameter),
          loss.value(u - delta, y, parameter),
        );
        // A custom loss may be negative.
        const size = Math.max(Math.abs(most), Math.abs(here));
        let terms = size;
        if (kind === lossKind.log) {
          terms += exp(u) + y * (1 + Math.abs(u)) + Math.abs(xlogx(y));
        }
        if (kind === lossKind.custom) {
          terms += (Math.abs(u) + Math.abs(y)) * Math.abs(loss.derivative(u, y, parameter));
        }
        errors += c * (Math.max(0, most - here) + OPERATIONS * UNIT * terms + adding * size);
        sum += c * Math.abs(here);
      }
      found[0] = errors;
      found[1] = sum;
    },

    conjugateErrors(alpha, labels, rowWeights, scale, _kind, found) {
      const sum = new CompensatedSum();
      let [sizes, errors] = [0, 0];
      for (let i = 0; i < alpha.length; i++) {
        const c = rowWeights[i];
        if (c === 0) continue;
        const s = -(scale * alpha[i] * (1 / c));
        const value = loss.conjugate(s, labels[i], parameter);
        sum.add(c * value);
        sizes += Math.abs(c * value);
        errors += OPERATIONS * UNIT * c * conjugateTerms(loss, s, labels[i], value);
      }
      found[0] = sum.total;
      found[1] = sizes;
      found[2] = errors;
    },

    curvatureSum(margins, labels, rowWeights) {
      let sum = 0;
      for (let i = 0; i < margins.length; i++) {
        const [u, y] = [margins[i], labels[i]];
        if (rowWeights[i] === 0) continue;
        const slope = loss.derivative(u, y, parameter);
        sum += rowWeights[i] * loss.curvature(u, y, parameter, slope);
      }
      return sum;
    },

    imageErrors(image, sizes, counts, more, exactly) {
      for (let j = 0; j < image.length; j++) {
        const count = counts[j] + more;
        sizes[j] = exactly ? exactSumError(count, image[j], sizes[j]) : sumError(count, sizes[j]);
      }
    },

    penaltyBounds({ image, errors, l1, l2, skip }, box, scale, rounding, found) {
      let [sum, most] = [0, 0];
      for (let j = 0; j < image.length; j++) {
        if (j === skip) continue;
        const [low, high] = [box?.low[j] ?? -Infinity, box?.high[j] ?? Infinity];
        const conjugate = (v: number, error: number) =>
          penaltyConjugate(scale * v, l1[j], l2[j], low, high, error);
        sum += conjugate(image[j], 0);
        const above = conjugate(image[j] + errors[j], OPERATIONS * UNIT);
        const below = conjugate(image[j] - errors[j], OPERATIONS * UNIT);
        most += Math.max(above, below) * rounding;
      }
      found[0] = sum;
      found[1] = most;
    },

    greatestRatio({ image, errors, l1, skip }, box) {
      let greatest = 0;
      for (let j = 0; j < image.length; j++) {
        if (j === skip) continue;
        const most = atLeast(l1[j], OPERATIONS * UNIT);
        const [v, error] = [image[j], errors[j]];
        if (!box || box.high[j] === Infinity) greatest = Math.max(greatest, (v + error) / most);
        if (!box || box.low[j] === -Infinity) greatest = Math.max(greatest, (error - v) / most);
      }
      return greatest;
    },

    columnRooms({ image, errors, l1, skip }, box, scale) {
      for (let j = 0; j < image.length; j++) {
        if (j === skip) continue;
        const up = !box || box.high[j] > 0 ? image[j] : -Infinity;
        const down = !box || box.low[j] < 0 ? -image[j] : -Infinity;
        const most = scale * (Math.max(up, down) + errors[j]);
        const error = OPERATIONS * UNIT * Math.abs(most);
        errors[j] = atLeast(l1[j], OPERATIONS * UNIT) - (most + error);
      }
    },

    addSquares({ offsets, indices, values }, begin, end, byRow, rowWeights, squares, sums) {
      for (let unit = begin; unit < end; unit++) {
        for (let k = offsets[unit]; k < offsets[unit + 1]; k++) {
          const column = byRow ? indices[k] : unit;
          const part = rowWeights[byRow ? unit : indices[k]] * values[k];
          sums[column] += part;
          squares[column] += part * values[k];
        }
      }
    },

    addExactly({ offsets, indices, values }, begin, end, byRow, alpha, high, low) {
      for (let unit = begin; unit < end; unit++) {
        for (let k = offsets[unit]; k < offsets[unit + 1]; k++) {
          const column = byRow ? indices[k] : unit;
          const a = alpha[byRow ? unit : indices[k]];
          const upper = upperBits(a);
          addTerm(high, low, column, upper * values[k]);
          addTerm(high, low, column, (a - upper) * values[k]);
        }
      }
    },
  };
}

/** The sizes of what ℓ*(s), whose value is given, is computed from. */
export function conjugateTerms(loss: Loss, s: number, y: number, value: number): number {
  const { parameter, link } = loss;
  if (s === 0) return Math.abs(value);
  const slope = Math.abs(loss.conjugateDerivative(s, y, parameter));
  const linear = Math.abs(s) * (1 + Math.abs(y) + slope + Math.abs(parameter));
  if (link !== 'log') return Math.abs(value) + linear;
  const beta = Math.max(0, s + y);
  return Math.abs(value) + linear + Math.abs(xlogx(beta)) + beta + Math.abs(xlogx(y)) + y;
}

/** The upper 26 bits, whose product with a value of the data has no rounding error. */
function upperBits(a: number): number {
  const shifted = 134_217_729 * a;
  return shifted - (shifted - a);
}

/** high[j] += term, with the rounding error in low[j]. */
function addTerm(high: Float64Array, low: Float64Array, j: number, term: number): void {
  const before = high[j];
  const sum = before + term;
  const part = sum - before;
  high[j] = sum;
  low[j] += before - (sum - part) + (term - part);
}

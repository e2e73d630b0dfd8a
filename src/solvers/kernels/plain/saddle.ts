import type { Loss } from '../../../problem/losses/loss.ts';
import { type Kernels, saddleStride, saddleSlot as slot } from '../kernels.ts';

function sign(w: number): number {
  return w > 0 ? 1 : w < 0 ? -1 : 0;
}

/** The point of [low, high] nearest to x; of two equal zeros the first, as vector units have it. */
function bounded(x: number, low: number, high: number): number {
  const raised = x < low ? low : x;
  return high < raised ? high : raised;
}

/**
 * The paper's update, equation (saddle_grad), for every (i, j) of a cell, both sides from the
 * values before the update as Lemma 1 has it:
 *
 *   w_j ← w_j − η (λ ∇φ_j(w_j)/|Ω̄_j| − α_i x_ij/W)
 *   α_i ← α_i + η c_i (∇ℓ*_i(−α_i/c_i)/(W|Ω_i|) − w_j x_ij/W)
 *
 * The paper has c_i = 1 and W = m. Steps c_i times as long make those of α_i/c_i, whose domain is the
 * same in every row, of one scale.
 *
 * With SVRG the gradient is taken relative to a snapshot (w⁰, α⁰) plus the snapshot's full
 * gradient spread evenly over its non-zeros. With AdaGrad η is divided by the root of the sum of
 * squared gradients. Then both are projected onto their boxes.
 * Twin of assembly/saddle.ts.
 */
export function plainSaddleKernel(loss: Loss): Pick<Kernels, 'saddleRows'> {
  const { parameter } = loss;
  return {
    saddleRows({ offsets, indices, values }, order, begin, end, rows, columns, step) {
      const { weightStep, alphaStep, adagrad, svrg, l1, l2, inverseTotalWeight } = step;
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const y = rows.labels[i];
        const c = rows.rowWeights[i];
        const inverse = c > 0 ? 1 / c : 0;
        const rowStep = c * alphaStep;
        const share = rows.inverseCounts[i];
        const low = c > 0 ? c * rows.low[i] : 0;
        const high = c > 0 ? c * rows.high[i] : 0;
        const alpha0 = rows.snapshot[i];
        const gradient0 = rows.snapshotGradient[i];
        const slope0 = svrg ? loss.conjugateDerivative(-(alpha0 * inverse), y, parameter) : 0;
        let alpha = rows.alpha[i];
        let accumulator = rows.accumulators[i];
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          const at = indices[k] * saddleStride;
          const x = values[k] * inverseTotalWeight;
          const w = columns[at + slot.weight];
          const slope = loss.conjugateDerivative(-(alpha * inverse), y, parameter);
          let weightGradient: number;
          let alphaGradient: number;
          if (svrg) {
            const w0 = columns[at + slot.snapshot];
            weightGradient =
              (l1 * (sign(w) - sign(w0)) + l2 * (w - w0)) * columns[at + slot.share] -
              (alpha - alpha0) * x +
              columns[at + slot.gradient];
            alphaGradient = (slope - slope0) * share - (w - w0) * x + gradient0;
          } else {
            weightGradient = (l1 * sign(w) + l2 * w) * columns[at + slot.share] - alpha * x;
            alphaGradient = slope * share - w * x;
          }
          // w goes down its gradient, α up.
          let weightMove = -weightStep * weightGradient;
          let alphaMove = rowStep * alphaGradient;
          if (adagrad) {
            const weightSquares = columns[at + slot.squares] + weightGradient * weightGradient;
            columns[at + slot.squares] = weightSquares;
            accumulator += alphaGradient * alphaGradient;
            weightMove = weightSquares > 0 ? weightMove / Math.sqrt(weightSquares) : 0;
            alphaMove = accumulator > 0 ? alphaMove / Math.sqrt(accumulator) : 0;
          }
          columns[at + slot.weight] = bounded(
            w + weightMove,
            columns[at + slot.low],
            columns[at + slot.high],
          );
          alpha = bounded(alpha + alphaMove, low, high);
        }
        rows.alpha[i] = alpha;
        rows.accumulators[i] = accumulator;
      }
    },
  };
}

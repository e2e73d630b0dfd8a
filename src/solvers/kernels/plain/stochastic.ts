import { decayed, meanOfDecay } from '../../../math/decay.ts';
import { clamp } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import {
  type Kernels,
  saddleStride,
  sgdClock,
  sgdSlot,
  sgdStride,
  saddleSlot as slot,
} from '../kernels.ts';

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

/**
 * Brings the weight of the line at `at` up to `time` and returns it. The weight has decayed ever
 * since it was last seen, and the sum over time takes part in that.
 */
function caughtUp(lines: Float64Array, at: number, time: number): number {
  const before = lines[at + sgdSlot.weight];
  const elapsed = time - lines[at + sgdSlot.seen];
  if (elapsed === 0) return before;
  lines[at + sgdSlot.seen] = time;
  if (before === 0) return before;
  const missed = lines[at + sgdSlot.rate] * elapsed;
  const l1 = lines[at + sgdSlot.l1];
  const l2 = lines[at + sgdSlot.l2];
  const now = decayed(before, missed, l1, l2);
  lines[at + sgdSlot.weight] = now;
  lines[at + sgdSlot.sum] += elapsed * meanOfDecay(before, now, missed, l1, l2);
  return now;
}

/**
 * Stochastic gradient descent with a lazy penalty, s = c_i (n/W) ℓ'(⟨w, x_i⟩, y_i) for one row after
 * another, which is the slope of the mean loss in the mean over rows:
 *
 *   AdaGrad:  G_j += (s x_ij)²,  w_j −= (η_j/√G_j) s x_ij
 *   else:     w_j −= η s x_ij,   η = η₀/√age
 *
 * and then, where weights are bounded, back into the box. The penalty never leads out of it: its
 * flow goes to 0.
 *
 * Twin of assembly/sgd.ts.
 */
export function plainSgdKernels(loss: Loss): Pick<Kernels, 'sgdRows' | 'sgdSettle'> {
  const { parameter } = loss;
  return {
    sgdRows(whole, order, begin, end, rows, lines, clock, step) {
      const { blocks, offsets, indices, values, starts } = whole;
      const { adagrad, stepSize, aging, rowShare, bounds } = step;
      const stride = whole.rows + 1;
      let time = clock[sgdClock.time];
      let age = clock[sgdClock.age];
      let work = clock[sgdClock.work];
      for (let position = begin; position < end; position++) {
        const i = order[position];
        let u = 0;
        let nonzeros = 0;
        for (let block = 0, from = i; block < blocks; block++, from += stride) {
          nonzeros += offsets[from + 1] - offsets[from];
          for (let k = offsets[from]; k < offsets[from + 1]; k++) {
            const at = (starts[block] + indices[k]) * sgdStride;
            u += caughtUp(lines, at, time) * values[k];
          }
        }
        const c = rows.rowWeights[i];
        const derivative = c === 0 ? 0 : loss.derivative(u, rows.labels[i], parameter);
        const slope = derivative * (c * rowShare);
        const eta = adagrad ? 1 : stepSize / Math.sqrt(age);
        rows.alpha[i] = 0 - c * derivative;
        work += nonzeros;
        time += eta;
        age += aging;
        if (slope === 0) continue;
        work += nonzeros;
        for (let block = 0, from = i; block < blocks; block++, from += stride) {
          for (let k = offsets[from]; k < offsets[from + 1]; k++) {
            const at = (starts[block] + indices[k]) * sgdStride;
            const gradient = slope * values[k];
            let rate = eta;
            if (adagrad) {
              const squares = lines[at + sgdSlot.squares] + gradient * gradient;
              if (!(squares > 0)) continue;
              rate = lines[at + sgdSlot.scale] / Math.sqrt(squares);
              lines[at + sgdSlot.squares] = squares;
              lines[at + sgdSlot.rate] = rate;
            }
            const next = lines[at + sgdSlot.weight] - rate * gradient;
            const held = bounds && lines[at + sgdSlot.l1] + lines[at + sgdSlot.l2] > 0;
            lines[at + sgdSlot.weight] = held ? clamp(next, bounds.low, bounds.high) : next;
          }
        }
      }
      clock[sgdClock.time] = time;
      clock[sgdClock.age] = age;
      clock[sgdClock.work] = work;
    },

    sgdSettle(lines, held, clock) {
      const time = clock[sgdClock.time];
      for (let k = 0; k < held.length; k++) {
        const at = held[k] * sgdStride;
        caughtUp(lines, at, time);
        lines[at + sgdSlot.seen] = 0;
      }
      clock[sgdClock.time] = 0;
    },
  };
}

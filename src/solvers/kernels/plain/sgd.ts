import { decayed, meanOfDecay } from '../../../math/decay.ts';
import { clamp } from '../../../math/scalars.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import { type Kernels, sgdClock, sgdSlot, sgdStride } from '../kernels.ts';

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

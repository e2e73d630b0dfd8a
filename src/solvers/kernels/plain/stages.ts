import type { Loss } from '../../../problem/losses/loss.ts';
import type { StageKernels } from '../stages.ts';
import { dot, rowStep } from './rows.ts';

/** Coarse stages of row mode. Twin of assembly/stages.ts. */
export function plainStageKernels(loss: Loss): StageKernels {
  const stepRow = rowStep(loss);
  return {
    sweepStage(whole, order, begin, end, rows, step, pull, hot, weights, stats) {
      const { blocks, offsets, indices, values, starts } = whole;
      for (let position = begin; position < end; position++) {
        const i = order[position];
        const delta = stepRow(i, dot(whole, i, weights, 0), rows, step, stats);
        if (delta === 0) continue;
        const scaled = delta * step.deltaScale;
        for (let block = 0; block < blocks; block++) {
          const at = block * (whole.rows + 1) + i;
          const start = starts[block];
          for (let k = offsets[at]; k < offsets[at + 1]; k++) {
            const j = indices[k];
            weights[start + j] += scaled * values[k] * pull[start + Math.min(j, hot[block])];
          }
        }
      }
    },

    addChanges(target, base, copies, stride, workers, first, end, share, hot) {
      for (let j = 0; j < end; j++) {
        const before = base[j];
        const part = share[Math.min(j, hot)];
        let sum = target[j];
        for (let k = 0, worker = first; k < workers; k++) {
          sum += (copies[worker * stride + j] - before) * part;
          worker = worker === 0 ? workers - 1 : worker - 1;
        }
        target[j] = sum;
      }
    },
  };
}

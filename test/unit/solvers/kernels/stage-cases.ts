/** Random arguments for the coarse stages of row mode. */

import type { KernelCase } from './cases.ts';
import {
  doubles,
  drawRowState,
  drawStats,
  drawStep,
  drawWholeRows,
  integers,
  number,
} from './draw.ts';

export const stageCases: Readonly<Record<string, KernelCase>> = {
  sweepStage: (arena, random, loss) => {
    const { whole, bounds, columns, counts, order, begin, end } = drawWholeRows(arena, random);
    const rows = { ...drawRowState(arena, random, loss, whole.rows), counts };
    const step = drawStep(random);
    const pull = doubles(arena, columns, () => 1 + random.uniform());
    const widthOf = (block: number) => bounds[block + 1] - bounds[block];
    const hot = integers(arena, whole.blocks, (block) => random.below(widthOf(block)));
    const weights = doubles(arena, columns, () => number(random));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepStage(whole, order, begin, end, rows, step, pull, hot, weights, stats);
      return undefined;
    };
  },
  ...Object.fromEntries(
    [false, true].map((inPlace): [string, KernelCase] => [
      inPlace ? 'addChanges: in place' : 'addChanges',
      (arena, random) => {
        const workers = 1 + random.below(4);
        const columns = 1 + random.below(9);
        const stride = columns + random.below(3);
        const target = doubles(arena, columns, () => number(random));
        const base = inPlace ? target : doubles(arena, columns, () => number(random));
        const copies = doubles(arena, workers * stride, () => number(random));
        const share = doubles(arena, columns, () => random.uniform());
        const [first, end, hot] = [
          random.below(workers),
          random.below(columns + 1),
          random.below(columns),
        ];
        return (kernels) => {
          kernels.addChanges(target, base, copies, stride, workers, first, end, share, hot);
          return undefined;
        };
      },
    ]),
  ),
};

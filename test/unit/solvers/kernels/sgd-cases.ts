/** Random arguments for stochastic gradient descent. */

import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import { sgdClock, sgdStride } from '../../../../src/solvers/kernels/kernels.ts';
import type { KernelCase } from './cases.ts';
import { doubles, drawRows, drawWholeRows } from './draw.ts';

/** Lines and a clock whose time none of them has passed. */
function drawLines(arena: Arena, random: Random, columns: number) {
  const time = 4 * random.uniform();
  const perhaps = (size: number) => (random.below(3) === 0 ? 0 : size * random.uniform());
  // {w, squares, rate, seen, sum, l1, l2, scale}
  const line = [
    () => [0, -0, random.normal(), random.normal()][random.below(4)],
    () => perhaps(1),
    () => perhaps(2),
    () => (random.below(4) === 0 ? time : time * random.uniform()),
    () => random.normal(),
    () => perhaps(0.5),
    () => perhaps(random.below(2) === 0 ? 0.003 : 2),
    () => perhaps(1),
  ];
  const slots = [time, 1 + 5 * random.uniform(), random.below(100)];
  return {
    lines: doubles(arena, sgdStride * columns, (k) => line[k % sgdStride]()),
    clock: doubles(arena, sgdClock.length, (k) => slots[k] ?? 0),
  };
}

function rowsCase(adagrad: boolean, bounded = false): KernelCase {
  return (arena, random, loss) => {
    const { whole, columns, order, begin, end } = drawWholeRows(arena, random);
    const rows = drawRows(arena, random, loss, whole.rows);
    const { lines, clock } = drawLines(arena, random, columns);
    const bounds = {
      low: -random.below(2) * random.uniform(),
      high: [Infinity, 0.5][random.below(2)],
    };
    const step = {
      adagrad,
      stepSize: random.uniform(),
      aging: random.uniform(),
      rowShare: random.uniform(),
      ...(bounded && { bounds }),
    };
    return (kernels) => {
      kernels.sgdRows(whole, order, begin, end, rows, lines, clock, step);
      return undefined;
    };
  };
}

export const sgdCases: Readonly<Record<string, KernelCase>> = {
  'sgdRows: AdaGrad': rowsCase(true),
  'sgdRows: η₀/√t': rowsCase(false),
  'sgdRows: AdaGrad, bounded': rowsCase(true, true),
  'sgdRows: η₀/√t, bounded': rowsCase(false, true),
  sgdSettle: (arena, random) => {
    const columns = random.below(9);
    const { lines, clock } = drawLines(arena, random, columns);
    const held = arena.int32(random.below(columns + 1));
    for (let k = 0; k < held.length; k++) held[k] = k + (columns - held.length);
    return (kernels) => {
      kernels.sgdSettle(lines, held, clock);
      return undefined;
    };
  },
};

/** Random arguments for the sums by segments. */
import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import { doubles, floats, integers, number } from './draw.ts';

type SegmentCase = (arena: Arena, random: Random) => (kernels: Kernels) => number | undefined;

/** Numbers of terms: few, around the length of a segment, and some segments. */
const drawCount = (random: Random) =>
  [random.below(20), 505 + random.below(15), 1020 + random.below(1000)][
    Math.max(0, random.below(8) - 5)
  ];

/** Units with few and with many entries; the cells of a worker share their arrays. */
function drawUnits(arena: Arena, random: Random) {
  const others = 1 + random.below(40);
  const offsets = [random.below(3)];
  for (let units = random.below(6); units > 0; units--) {
    offsets.push(offsets[offsets.length - 1] + drawCount(random));
  }
  const units = offsets.length - 1;
  const total = offsets[units];
  const begin = random.below(units + 1);
  return {
    units,
    cell: {
      offsets: integers(arena, units + 1, (k) => offsets[k]),
      indices: integers(arena, total, () => random.below(others)),
      values: floats(arena, total, () => number(random)),
    },
    begin,
    end: begin + random.below(units - begin + 1),
    fresh: random.below(2) === 0,
    source: doubles(arena, others, () => number(random)),
  };
}

function unitsCase(name: 'segmentProducts' | 'segmentSquares'): SegmentCase {
  return (arena, random) => {
    const { units, cell, begin, end, fresh, source } = drawUnits(arena, random);
    const result = doubles(arena, units, () => number(random));
    return (kernels) => {
      kernels[name](cell, begin, end, fresh, source, result);
      return undefined;
    };
  };
}

export const segmentCases: Readonly<Record<string, SegmentCase>> = {
  segmentProducts: unitsCase('segmentProducts'),
  segmentSquares: unitsCase('segmentSquares'),
  segmentSum: (arena, random) => {
    const x = doubles(arena, drawCount(random), () => number(random));
    return (kernels) => kernels.segmentSum(x);
  },
  segmentDot: (arena, random) => {
    const count = drawCount(random);
    const x = doubles(arena, count, () => number(random));
    const y = doubles(arena, count, () => number(random));
    return (kernels) => kernels.segmentDot(x, y);
  },
};

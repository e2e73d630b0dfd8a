/** Random arguments for the kernels of the working set. */
import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import type { Kernels } from '../../../../src/solvers/kernels/kernels.ts';
import type { KernelCase } from './cases.ts';
import { bytes, doubles, drawCell, drawRows, floats, integers, number } from './draw.ts';

const zeroOr = (random: Random, value: number) => (random.below(3) === 0 ? 0 : value);

/** A packed cell, the model of its rows and the numbers of its columns. */
function drawWorkingSet(arena: Arena, random: Random) {
  const shape = drawCell(arena, random);
  const { units, others } = shape;
  const perRow = (draw: () => number) => doubles(arena, others, draw);
  const perColumn = (draw: () => number) => doubles(arena, units, draw);
  const columns = {
    now: perColumn(() => zeroOr(random, number(random))),
    gradients: perColumn(() => number(random)),
    hessians: perColumn(() => zeroOr(random, random.uniform())),
    l1: perColumn(() => zeroOr(random, random.uniform())),
    l2: perColumn(() => zeroOr(random, random.uniform())),
    violations: perColumn(() => number(random)),
    counts: perColumn(() => random.below(9)),
  };
  return {
    ...shape,
    columns,
    curvatures: perRow(() => zeroOr(random, random.uniform())),
    moved: perRow(() => zeroOr(random, number(random))),
    results: perColumn(() => number(random)),
    more: perColumn(() => number(random)),
    scale: 1 / (1 + random.below(50)),
    allowed: random.uniform(),
    stats: doubles(arena, 8, () => number(random)),
  };
}

/** Rows of a model: margins, slopes, 1/h and q, which is 0 where 1/h is. */
function drawModelRows(arena: Arena, random: Random, loss: Parameters<KernelCase>[2]) {
  const length = random.below(12);
  const { labels, rowWeights } = drawRows(arena, random, loss, length);
  const perRow = (draw: () => number) => doubles(arena, length, draw);
  return {
    labels,
    rowWeights,
    margins: perRow(() => number(random)),
    slopes: perRow(() => number(random)),
    derivatives: perRow(() => loss.derivative(number(random), 1, loss.parameter)),
    curvatures: perRow(() => zeroOr(random, random.uniform())),
    inverses: perRow(() => zeroOr(random, random.uniform())),
    moved: perRow(() => zeroOr(random, number(random))),
  };
}

type Drawn = ReturnType<typeof drawWorkingSet>;

const onSet =
  (call: (kernels: Kernels, drawn: Drawn) => void): KernelCase =>
  (arena, random) => {
    const drawn = drawWorkingSet(arena, random);
    return (kernels) => {
      call(kernels, drawn);
      return undefined;
    };
  };

/** Some vectors of one length. */
const onVectors =
  (call: (kernels: Kernels, vectors: Float64Array[], share: number) => unknown): KernelCase =>
  (arena, random) => {
    const length = random.below(12);
    const vectors = Array.from({ length: 5 }, () =>
      doubles(arena, length, () => zeroOr(random, number(random))),
    );
    const share = [0, 1, random.uniform()][random.below(3)];
    return (kernels) => {
      const result = call(kernels, vectors, share);
      return typeof result === 'number' ? result : undefined;
    };
  };

function errorCase(isOpen: boolean): KernelCase {
  return (arena, random, loss) => {
    const rows = drawModelRows(arena, random, loss);
    const { margins, labels, rowWeights, slopes, inverses, moved } = rows;
    return (kernels) =>
      kernels.modelError(margins, labels, rowWeights, slopes, inverses, moved, isOpen);
  };
}

export const workingSetCases: Record<string, KernelCase> = {
  packColumns: (arena, random) => {
    const { cell, order, begin, end, units } = drawCell(arena, random);
    const room = 2 + cell.indices.length;
    const packed = {
      offsets: integers(arena, units + 1, () => 2),
      indices: integers(arena, room, () => random.below(9)),
      values: floats(arena, room, () => number(random)),
    };
    return (kernels) => {
      kernels.packColumns(cell, order, begin, end, packed);
      return undefined;
    };
  },
  packRows: (arena, random) => {
    const { cell, end, others } = drawCell(arena, random);
    const byRows = {
      offsets: integers(arena, others + 1, () => random.below(9)),
      indices: integers(arena, cell.indices.length, () => random.below(9)),
      values: floats(arena, cell.indices.length, () => number(random)),
    };
    return (kernels) => {
      kernels.packRows(cell, end, byRows);
      return undefined;
    };
  },
  modelRows: (arena, random, loss) => {
    const drawn = drawModelRows(arena, random, loss);
    const { margins, labels, rowWeights, derivatives, slopes, curvatures } = drawn;
    const known = random.below(2) === 0;
    return (kernels) =>
      kernels.modelRows(margins, labels, rowWeights, known, derivatives, slopes, curvatures);
  },
  searchSlope: (arena, random, loss) => {
    const drawn = drawModelRows(arena, random, loss);
    const { margins, labels, rowWeights, inverses, moved, derivatives } = drawn;
    return (kernels) =>
      kernels.searchSlope(margins, labels, rowWeights, inverses, moved, derivatives);
  },
  boundCurvatures: (arena, random, loss) => {
    const { curvatures, rowWeights, inverses } = drawModelRows(arena, random, loss);
    const least = random.uniform();
    return (kernels) => {
      kernels.boundCurvatures(curvatures, rowWeights, least, inverses);
      return undefined;
    };
  },
  modelError: errorCase(false),
  'modelError: from the slope': errorCase(true),
  sumColumns: onSet((kernels, { cell, begin, end, moved, curvatures, results, more }) =>
    kernels.sumColumns(cell, begin, end, moved, curvatures, results, more),
  ),
  countSharing: (arena, random) => {
    const { cell, begin, end, others } = drawWorkingSet(arena, random);
    const sharing = bytes(arena, others, () => 0);
    const shares = bytes(arena, cell.indices.length, () => 0);
    return (kernels) => {
      kernels.countSharing(cell, begin, end, sharing, shares);
      return undefined;
    };
  },
  sumTogether: (arena, random) => {
    const drawn = drawWorkingSet(arena, random);
    const { cell, begin, end, moved, curvatures, results, more } = drawn;
    const shares = bytes(arena, cell.indices.length, () => 1 + random.below(16));
    return (kernels) => {
      kernels.sumTogether(cell, begin, end, moved, curvatures, shares, results, more);
      return undefined;
    };
  },
  sweepWorkingSet: onSet(
    (kernels, { cell, begin, end, curvatures, moved, columns, scale, allowed, stats }) =>
      kernels.sweepWorkingSet(cell, begin, end, curvatures, moved, columns, scale, allowed, stats),
  ),
  dotColumns: onSet((kernels, { cell, begin, end, moved, results }) =>
    kernels.dotColumns(cell, begin, end, moved, results),
  ),
  stepWorkingSet: onSet((kernels, { begin, end, results, columns, scale, allowed, more, stats }) =>
    kernels.stepWorkingSet(begin, end, results, columns, scale, allowed, more, stats),
  ),
  moveColumns: onSet((kernels, { cell, begin, end, results, curvatures, moved }) =>
    kernels.moveColumns(cell, begin, end, results, curvatures, moved),
  ),
  sweepDual: onSet(
    (kernels, { cell, begin, end, curvatures, moved, columns, allowed, scale, stats }) =>
      kernels.sweepDual(cell, begin, end, curvatures, moved, columns, allowed, scale, stats),
  ),
  stepDual: onSet((kernels, { begin, end, results, columns, allowed, scale, more, stats }) =>
    kernels.stepDual(begin, end, results, columns, allowed, scale, more, stats),
  ),
  productOfSum: onVectors((kernels, [a, b, c]) => kernels.productOfSum(a, b, c)),
  productOfThree: onVectors((kernels, [a, b, c]) => kernels.productOfThree(a, b, c)),
  scaledChange: onVectors((kernels, [a, b, c, d]) => kernels.scaledChange(a, b, c, d)),
  addScaled: onVectors((kernels, [a, b, c], share) => kernels.addScaled(a, share, b, c)),
  addMultiple: onVectors((kernels, [a, b], share) => kernels.addMultiple(a, share, b)),
  cornerSum: onVectors((kernels, [a, b, c], share) => kernels.cornerSum(a, b, c, share)),
  penaltySlopeBefore: onVectors((kernels, [a, b, c, d], share) =>
    kernels.penaltySlopeBefore(a, b, c, d, share),
  ),
  bendDirection: (arena, random) => {
    const { columns, results, more, units, order } = drawWorkingSet(arena, random);
    const deltas = doubles(arena, units, () => number(random));
    return (kernels) =>
      kernels.bendDirection(columns.now, results, columns.l1, more, { units: order, deltas });
  },
  moveWeights: onVectors((kernels, [a, b], share) => kernels.moveWeights(a, b, share, 2)),
  measureViolations: onSet((kernels, { columns, results, scale, stats }) =>
    kernels.measureViolations(columns.now, results, columns.l1, columns.l2, 1 / scale, stats),
  ),
};

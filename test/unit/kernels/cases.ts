/** Random arguments for every kernel, the same for both implementations. */
import {
  type Cell,
  type ColumnState,
  type Kernels,
  type MarginState,
  type Pending,
  type RowState,
  saddleStride,
  stat,
  type WeightMap,
} from '../../../src/kernels/kernels.ts';
import type { Loss } from '../../../src/losses/loss.ts';
import type { Random } from '../../../src/math/random.ts';
import type { Arena } from '../../../src/parallel/arena.ts';

/** Takes memory, fills it from `random` and returns a call; its result is compared too. */
export type KernelCase = (
  arena: Arena,
  random: Random,
  loss: Loss,
) => (kernels: Kernels) => number | undefined;

type Draw = (k: number) => number;

function fill<Kind extends Float64Array | Float32Array | Int32Array | Uint8Array>(
  array: Kind,
  length: number,
  draw: Draw,
): Kind {
  // `array` is empty while memory is only being counted; the draws must happen all the same.
  for (let k = 0; k < length; k++) {
    const value = draw(k);
    if (k < array.length) array[k] = value;
  }
  return array;
}

const doubles = (arena: Arena, length: number, draw: Draw) =>
  fill(arena.float64(length), length, draw);

/** Mostly ordinary numbers; zeros of both signs, ones and large ones now and then. */
function number(random: Random): number {
  const kind = random.below(12);
  if (kind === 0) return [0, -0, 1, -1, 30, -30, 700, -700][random.below(8)];
  return random.normal() * 10 ** (random.below(3) - 1);
}

function label(random: Random, loss: Loss): number {
  if (loss.task === 'classification') return random.below(2) === 0 ? -1 : 1;
  return random.below(8) === 0 ? 0 : 3 * random.normal();
}

/** α inside its domain, at its ends, and outside, where momentum can put it. */
function dualValue(random: Random, loss: Loss, y: number): number {
  const low = Math.max(-3, -loss.conjugateHigh(y, loss.parameter));
  const high = Math.min(3, -loss.conjugateLow(y, loss.parameter));
  const kind = random.below(8);
  if (kind === 0) return low;
  if (kind === 1) return high;
  if (kind === 2) return low - random.uniform();
  if (kind === 3) return high + random.uniform();
  return low + random.uniform() * (high - low);
}

/** Labels and the α that belong to them. */
function drawRows(arena: Arena, random: Random, loss: Loss, rows: number) {
  const drawn = Array.from({ length: rows }, () => label(random, loss));
  const labels = doubles(arena, rows, (i) => drawn[i]);
  const alpha = doubles(arena, rows, (i) => dualValue(random, loss, drawn[i]));
  return { labels, alpha };
}

interface CellShape {
  readonly units: number;
  readonly others: number;
  readonly cell: Cell;
  readonly order: Int32Array;
  readonly begin: number;
  readonly end: number;
}

/** A cell whose units have 0, 1 or a few entries, and a random stretch of a random order. */
function drawCell(arena: Arena, random: Random): CellShape {
  const units = random.below(12);
  const others = 1 + random.below(9);
  const lines = Array.from({ length: units }, () => {
    const wanted = [0, 1, 2, others][random.below(4)];
    const chosen = Int32Array.from({ length: others }, (_, j) => j);
    random.shuffle(chosen, others);
    return chosen.slice(0, Math.min(wanted, others)).sort();
  });
  // The cells of a worker share their arrays, so the first entry need not be number 0.
  const first = random.below(3);
  const total = lines.reduce((sum, line) => sum + line.length, first);
  const flat = lines.flatMap((line) => [...line]);
  const starts = [first];
  for (const line of lines) starts.push(starts[starts.length - 1] + line.length);
  const shuffled = Int32Array.from({ length: units }, (_, k) => k);
  random.shuffle(shuffled, units);
  const begin = random.below(units + 1);
  const end = begin + random.below(units - begin + 1);
  return {
    units,
    others,
    cell: {
      offsets: fill(arena.int32(units + 1), units + 1, (k) => starts[k]),
      indices: fill(arena.int32(total), total, (k) => (k < first ? 0 : flat[k - first])),
      values: fill(arena.float32(total), total, () => number(random)),
    },
    order: fill(arena.int32(units), units, (k) => shuffled[k]),
    begin,
    end,
  };
}

/** Changes of some distinct units, as a batch leaves them. */
function drawPending(
  arena: Arena,
  random: Random,
  { units, order }: CellShape,
): { pending: Pending; count: number } {
  const count = random.below(units + 1);
  return {
    pending: {
      units: fill(arena.int32(units), units, (k) => order[k] ?? 0),
      deltas: doubles(arena, units, () => number(random)),
    },
    count,
  };
}

function drawMap(arena: Arena, random: Random, columns: number): WeightMap {
  return {
    image: doubles(arena, columns, () => number(random)),
    threshold: doubles(arena, columns, () => (random.below(3) === 0 ? 0 : random.uniform())),
    inverse: doubles(arena, columns, () => 100 * random.uniform()),
    shift: doubles(arena, columns, () => (random.below(2) === 0 ? 0 : random.normal())),
  };
}

function drawRowState(arena: Arena, random: Random, loss: Loss, rows: number): RowState {
  return {
    ...drawRows(arena, random, loss, rows),
    norms: doubles(arena, rows, () => (random.below(6) === 0 ? 0 : 50 * random.uniform())),
    collisions: doubles(arena, rows, () => (random.below(3) === 0 ? 0 : 5 * random.uniform())),
    counts: fill(arena.int32(rows), rows, () => random.below(20)),
    level: fill(arena.uint8(rows), rows, () => random.below(4)),
    skip: fill(arena.uint8(rows), rows, () => random.below(8)),
  };
}

function drawStep(random: Random) {
  return {
    damping: random.below(3) === 0 ? 0 : 4 * random.uniform(),
    inverseRows: 1 / (1 + random.below(100)),
    deltaScale: 10 * random.uniform(),
    shrink: random.below(2),
  };
}

function drawMargins(arena: Arena, random: Random, loss: Loss, rows: number): MarginState {
  return {
    labels: doubles(arena, rows, () => label(random, loss)),
    margins: doubles(arena, rows, () => number(random)),
    slopes: doubles(arena, rows, () => number(random)),
    curvatures: doubles(arena, rows, () => random.uniform()),
    dirty: fill(arena.uint8(rows), rows, () => random.below(2)),
    density: doubles(arena, rows, () => random.uniform()),
  };
}

function drawColumns(arena: Arena, random: Random, columns: number): ColumnState {
  const perhaps = (size: number) => (random.below(3) === 0 ? 0 : size * random.uniform());
  return {
    weights: doubles(arena, columns, () => (random.below(2) === 0 ? 0 : random.normal())),
    gradients: doubles(arena, columns, () => number(random)),
    hessians: doubles(arena, columns, () => perhaps(3)),
    l1: doubles(arena, columns, () => perhaps(0.5)),
    l2: doubles(arena, columns, () => perhaps(0.5)),
    counts: fill(arena.int32(columns), columns, () => random.below(20)),
    level: fill(arena.uint8(columns), columns, () => random.below(4)),
    skip: fill(arena.uint8(columns), columns, () => random.below(8)),
  };
}

const drawStats = (arena: Arena, random: Random) =>
  doubles(arena, stat.length, () => random.below(100));

function saddleCase(adagrad: boolean, svrg: boolean): KernelCase {
  return (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const { labels, alpha } = drawRows(arena, random, loss, units);
    const low = doubles(arena, units, () => [-0, 0, -1, -2 * random.uniform()][random.below(4)]);
    const high = doubles(arena, units, () => [-0, 0, Infinity, random.uniform()][random.below(4)]);
    const rows = {
      labels,
      alpha,
      low,
      high,
      accumulators: doubles(arena, units, () => (random.below(2) === 0 ? 0 : random.uniform())),
      inverseCounts: doubles(arena, units, () => random.uniform()),
      snapshot: doubles(arena, units, () => random.uniform() - 0.5),
      snapshotGradient: doubles(arena, units, () => 0.1 * random.normal()),
    };
    // {w, accumulator, λf/|Ω̄|, w⁰, ∇⁰, box, unused, unused}
    const line = [
      () => [0, -0, random.normal(), random.normal()][random.below(4)],
      () => (random.below(2) === 0 ? 0 : random.uniform()),
      () => (random.below(4) === 0 ? 0 : random.uniform()),
      () => (random.below(3) === 0 ? 0 : random.normal()),
      () => 0.1 * random.normal(),
      () => [0, Infinity, random.uniform(), 2 * random.uniform()][random.below(4)],
      () => 0,
      () => 0,
    ];
    const columns = doubles(arena, saddleStride * others, (k) => line[k % saddleStride]());
    const step = {
      weightStep: random.uniform(),
      alphaStep: random.uniform(),
      adagrad,
      svrg,
      l1: random.below(2) === 0 ? 0 : random.uniform(),
      l2: random.below(3) === 0 ? 0 : random.uniform(),
      inverseRows: 1 / (1 + random.below(50)),
    };
    return (kernels) => {
      kernels.saddleRows(cell, order, begin, end, rows, columns, step);
      return undefined;
    };
  };
}

/** Two arrays of margins or α, some of whose entries agree. */
function drawSegment(arena: Arena, random: Random, loss: Loss) {
  const rows = random.below(15);
  const { labels, alpha } = drawRows(arena, random, loss, rows);
  const from = alpha;
  const to = doubles(arena, rows, (i) => (random.below(3) === 0 ? (from[i] ?? 0) : number(random)));
  const begin = random.below(rows + 1);
  const end = begin + random.below(rows - begin + 1);
  return { rows, labels, from, to, begin, end, number: number(random) };
}

/** By kernel; a name before a colon is the kernel's, what follows tells variants apart. */
export const kernelCases: Readonly<Record<string, KernelCase>> = {
  gather: (arena, random) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const source = doubles(arena, others, () => number(random));
    const result = doubles(arena, units, () => number(random));
    const fresh = random.below(2) === 0;
    return (kernels) => {
      kernels.gather(cell, order, begin, end, fresh, source, result);
      return undefined;
    };
  },
  scatter: (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const target = doubles(arena, shape.others, () => number(random));
    return (kernels) => {
      kernels.scatter(shape.cell, pending, count, target);
      return undefined;
    };
  },
  scatterMapped: (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const map = drawMap(arena, random, shape.others);
    const weights = doubles(arena, shape.others, () => number(random));
    return (kernels) => {
      kernels.scatterMapped(shape.cell, pending, count, map, weights);
      return undefined;
    };
  },
  rowNorms: (arena, random) => {
    const { units, others, cell } = drawCell(arena, random);
    const a = doubles(arena, others, () => random.uniform());
    const b = doubles(arena, others, () => random.uniform());
    const norms = doubles(arena, units, () => random.uniform());
    const collisions = doubles(arena, units, () => random.uniform());
    return (kernels) => {
      kernels.rowNorms(cell, units, a, b, norms, collisions);
      return undefined;
    };
  },
  stepRows: (arena, random, loss) => {
    const shape = drawCell(arena, random);
    const { pending } = drawPending(arena, random, shape);
    const margins = doubles(arena, shape.units, () => number(random));
    const rows = drawRowState(arena, random, loss, shape.units);
    const step = drawStep(random);
    const stats = drawStats(arena, random);
    const { order, begin, end } = shape;
    return (kernels) => kernels.stepRows(order, begin, end, margins, rows, step, pending, stats);
  },
  sweepRows: (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawRowState(arena, random, loss, units);
    const step = drawStep(random);
    const weights = doubles(arena, others, () => number(random));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepRows(cell, order, begin, end, rows, step, weights, stats);
      return undefined;
    };
  },
  sweepRowsMapped: (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawRowState(arena, random, loss, units);
    const step = drawStep(random);
    const map = drawMap(arena, random, others);
    const weights = doubles(arena, others, () => number(random));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepRowsMapped(cell, order, begin, end, rows, step, map, weights, stats);
      return undefined;
    };
  },
  scatterColumns: (arena, random, loss) => {
    const shape = drawCell(arena, random);
    const { pending, count } = drawPending(arena, random, shape);
    const rows = drawMargins(arena, random, loss, shape.others);
    return (kernels) => {
      kernels.scatterColumns(shape.cell, pending, count, rows);
      return undefined;
    };
  },
  gatherColumns: (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawMargins(arena, random, loss, others);
    const columns = drawColumns(arena, random, units);
    const fresh = random.below(2) === 0;
    const damping = 3 * random.uniform();
    return (kernels) => {
      kernels.gatherColumns(cell, order, begin, end, fresh, rows, columns, damping);
      return undefined;
    };
  },
  stepColumns: (arena, random) => {
    const shape = drawCell(arena, random);
    const { pending } = drawPending(arena, random, shape);
    const columns = drawColumns(arena, random, shape.units);
    const inverseRows = 1 / (1 + random.below(50));
    const stats = drawStats(arena, random);
    const { order, begin, end } = shape;
    return (kernels) =>
      kernels.stepColumns(order, begin, end, columns, inverseRows, pending, stats);
  },
  sweepColumns: (arena, random, loss) => {
    const { units, others, cell, order, begin, end } = drawCell(arena, random);
    const rows = drawMargins(arena, random, loss, others);
    const columns = drawColumns(arena, random, units);
    const damping = 3 * random.uniform();
    const inverse = 1 / (1 + random.below(50));
    const stats = drawStats(arena, random);
    return (kernels) => {
      kernels.sweepColumns(cell, order, begin, end, rows, columns, damping, inverse, stats);
      return undefined;
    };
  },
  'saddleRows: η₀/√t': saddleCase(false, false),
  'saddleRows: AdaGrad': saddleCase(true, false),
  'saddleRows: SVRG': saddleCase(false, true),
  'saddleRows: AdaGrad and SVRG': saddleCase(true, true),
  lossSum: (arena, random, loss) => {
    const { labels, to, begin, end } = drawSegment(arena, random, loss);
    return (kernels) => kernels.lossSum(to, labels, begin, end);
  },
  conjugateSum: (arena, random, loss) => {
    const { labels, from, begin, end } = drawSegment(arena, random, loss);
    const scale = random.below(2) === 0 ? 1 : random.uniform();
    return (kernels) => kernels.conjugateSum(from, labels, begin, end, scale);
  },
  conjugateSlope: (arena, random, loss) => {
    const { labels, from, to, begin, end } = drawSegment(arena, random, loss);
    const eta = 2 * random.uniform();
    return (kernels) => kernels.conjugateSlope(from, to, labels, begin, end, eta);
  },
  lossSlope: (arena, random, loss) => {
    const { labels, from, to, begin, end } = drawSegment(arena, random, loss);
    const eta = 2 * random.uniform();
    return (kernels) => kernels.lossSlope(from, to, labels, begin, end, eta);
  },
  dualPoint: (arena, random, loss) => {
    const { labels, from, to, begin, end } = drawSegment(arena, random, loss);
    return (kernels) => {
      kernels.dualPoint(to, labels, begin, end, from);
      return undefined;
    };
  },
  dualSlopes: (arena, random, loss) => {
    const { labels, from, to, begin, end } = drawSegment(arena, random, loss);
    return (kernels) => {
      kernels.dualSlopes(from, labels, begin, end, to);
      return undefined;
    };
  },
  shiftAlpha: (arena, random, loss) => {
    const { labels, from, to, begin, end, number: shift } = drawSegment(arena, random, loss);
    return (kernels) => kernels.shiftAlpha(from, labels, begin, end, shift, to);
  },
};

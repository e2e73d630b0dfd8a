/** Random arrays for the kernels. Memory is counted first, so every draw happens twice alike. */

import type { Arena } from '../../../../src/engine/arena.ts';
import type { Random } from '../../../../src/math/random.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import {
  type Box,
  type Cell,
  type ColumnState,
  type MarginState,
  type Pending,
  type RowState,
  stat,
  type WeightMap,
  type WholeRows,
} from '../../../../src/solvers/kernels/kernels.ts';

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

export const doubles = (arena: Arena, length: number, draw: Draw) =>
  fill(arena.float64(length), length, draw);

export const integers = (arena: Arena, length: number, draw: Draw) =>
  fill(arena.int32(length), length, draw);

export const floats = (arena: Arena, length: number, draw: Draw) =>
  fill(arena.float32(length), length, draw);

export const bytes = (arena: Arena, length: number, draw: Draw) =>
  fill(arena.uint8(length), length, draw);

/** Mostly ordinary numbers; zeros of both signs, ones and large ones now and then. */
export function number(random: Random): number {
  const kind = random.below(12);
  if (kind === 0) return [0, -0, 1, -1, 30, -30, 700, -700][random.below(8)];
  return random.normal() * 10 ** (random.below(3) - 1);
}

function label(random: Random, loss: Loss): number {
  if (loss.task === 'classification') return random.below(2) === 0 ? -1 : 1;
  const drawn = random.below(8) === 0 ? 0 : 3 * random.normal();
  return loss.labels ? Math.abs(drawn) : drawn;
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

/** What rows count: mostly a fraction, but also 0, 1 and whole numbers. */
function rowWeightOf(random: Random): number {
  return [0, 1, 1 + random.below(5), 3 * random.uniform(), 0.01 + random.uniform()][
    random.below(5)
  ];
}

/** Labels, what rows count and the α that belong to them. */
export function drawRows(arena: Arena, random: Random, loss: Loss, rows: number) {
  const drawn = Array.from({ length: rows }, () => label(random, loss));
  const labels = doubles(arena, rows, (i) => drawn[i]);
  const counted = Array.from({ length: rows }, () => rowWeightOf(random));
  const rowWeights = doubles(arena, rows, (i) => counted[i]);
  const alpha = doubles(arena, rows, (i) => counted[i] * dualValue(random, loss, drawn[i]));
  return { labels, rowWeights, alpha };
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
export function drawCell(arena: Arena, random: Random): CellShape {
  const units = random.below(12);
  const others = 1 + random.below(9);
  const lines = Array.from({ length: units }, () => {
    const expected = [0, 1, 2, others][random.below(4)];
    const chosen = Int32Array.from({ length: others }, (_, j) => j);
    random.shuffle(chosen, others);
    return chosen.slice(0, Math.min(expected, others)).sort();
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
      offsets: integers(arena, units + 1, (k) => starts[k]),
      indices: integers(arena, total, (k) => (k < first ? 0 : flat[k - first])),
      values: fill(arena.float32(total), total, () => number(random)),
    },
    order: integers(arena, units, (k) => shuffled[k]),
    begin,
    end,
  };
}

/** Rows over one to four blocks of columns, some of them empty, and a stretch of a random order. */
export function drawWholeRows(arena: Arena, random: Random) {
  const rows = random.below(10);
  const blocks = 1 + random.below(4);
  const widths = Array.from({ length: blocks }, () => random.below(5));
  const starts = [0];
  for (const width of widths) starts.push(starts[starts.length - 1] + width);
  const offsets: number[] = [];
  const indices: number[] = [];
  const counts = new Array<number>(rows).fill(0);
  for (const width of widths) {
    offsets.push(indices.length);
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < width; j++) if (random.below(3) > 0) indices.push(j);
      counts[i] += indices.length - offsets[offsets.length - 1];
      offsets.push(indices.length);
    }
  }
  const shuffled = Int32Array.from({ length: rows }, (_, i) => i);
  random.shuffle(shuffled, rows);
  const begin = random.below(rows + 1);
  const whole: WholeRows = {
    rows,
    blocks,
    offsets: integers(arena, offsets.length, (k) => offsets[k]),
    indices: integers(arena, indices.length, (k) => indices[k]),
    values: fill(arena.float32(indices.length), indices.length, () => number(random)),
    starts: integers(arena, blocks + 1, (k) => starts[k]),
  };
  return {
    whole,
    bounds: starts,
    columns: starts[blocks],
    counts: integers(arena, rows, (i) => counts[i]),
    order: integers(arena, rows, (k) => shuffled[k]),
    begin,
    end: begin + random.below(rows - begin + 1),
  };
}

/** Changes of some distinct units, as a batch leaves them. */
export function drawPending(
  arena: Arena,
  random: Random,
  { units, order }: CellShape,
): { pending: Pending; count: number } {
  const count = random.below(units + 1);
  return {
    pending: {
      units: integers(arena, units, (k) => order[k] ?? 0),
      deltas: doubles(arena, units, () => number(random)),
    },
    count,
  };
}

/** Boxes that hold 0: at an end, between two, without an end. */
export function drawBox(arena: Arena, random: Random, columns: number): Box {
  const end = () => [0, Infinity, random.uniform(), 3 * random.uniform()][random.below(4)];
  return {
    low: doubles(arena, columns, () => -end()),
    high: doubles(arena, columns, end),
  };
}

export function drawMap(
  arena: Arena,
  random: Random,
  columns: number,
  bounded: boolean,
): WeightMap {
  return {
    ...(bounded && { box: drawBox(arena, random, columns) }),
    image: doubles(arena, columns, () => number(random)),
    threshold: doubles(arena, columns, () => (random.below(3) === 0 ? 0 : random.uniform())),
    inverse: doubles(arena, columns, () => 100 * random.uniform()),
    shift: doubles(arena, columns, () => (random.below(2) === 0 ? 0 : random.normal())),
  };
}

export function drawRowState(arena: Arena, random: Random, loss: Loss, rows: number): RowState {
  return {
    ...drawRows(arena, random, loss, rows),
    norms: doubles(arena, rows, () => (random.below(6) === 0 ? 0 : 50 * random.uniform())),
    collisions: doubles(arena, rows, () => (random.below(3) === 0 ? 0 : 5 * random.uniform())),
    counts: integers(arena, rows, () => random.below(20)),
    level: bytes(arena, rows, () => random.below(4)),
    skip: bytes(arena, rows, () => random.below(8)),
  };
}

export function drawStep(random: Random) {
  return {
    damping: random.below(3) === 0 ? 0 : 4 * random.uniform(),
    inverseTotalWeight: 1 / (1 + random.below(100)),
    deltaScale: 10 * random.uniform(),
    shrink: random.below(2),
  };
}

export function drawMargins(arena: Arena, random: Random, loss: Loss, rows: number): MarginState {
  return {
    labels: doubles(arena, rows, () => label(random, loss)),
    rowWeights: doubles(arena, rows, () => rowWeightOf(random)),
    margins: doubles(arena, rows, () => number(random)),
    slopes: doubles(arena, rows, () => number(random)),
    curvatures: doubles(arena, rows, () => random.uniform()),
    dirty: bytes(arena, rows, () => random.below(2)),
    density: doubles(arena, rows, () => random.uniform()),
  };
}

export function drawColumns(
  arena: Arena,
  random: Random,
  columns: number,
  bounded = false,
): ColumnState {
  const perhaps = (size: number) => (random.below(3) === 0 ? 0 : size * random.uniform());
  const box = bounded ? drawBox(arena, random, columns) : undefined;
  // Inside its box, outside, where momentum can put it, and at its ends.
  const weight = (j: number) =>
    [0, random.normal(), box?.low[j] ?? 0, box?.high[j] ?? 0][random.below(box ? 4 : 2)];
  return {
    ...(box && { box }),
    weights: doubles(arena, columns, (j) => finite(weight(j))),
    gradients: doubles(arena, columns, () => number(random)),
    hessians: doubles(arena, columns, () => perhaps(3)),
    l1: doubles(arena, columns, () => perhaps(0.5)),
    l2: doubles(arena, columns, () => perhaps(0.5)),
    counts: integers(arena, columns, () => random.below(20)),
    level: bytes(arena, columns, () => random.below(4)),
    skip: bytes(arena, columns, () => random.below(8)),
  };
}

const finite = (value: number) => (Number.isFinite(value) ? value : 1);

export const drawStats = (arena: Arena, random: Random) =>
  doubles(arena, stat.length, () => random.below(100));

/** Two arrays of margins or α, some of whose entries agree. */
export function drawSegment(arena: Arena, random: Random, loss: Loss) {
  const rows = random.below(15);
  const { labels, rowWeights, alpha } = drawRows(arena, random, loss, rows);
  const from = alpha;
  const to = doubles(arena, rows, (i) => (random.below(3) === 0 ? (from[i] ?? 0) : number(random)));
  const begin = random.below(rows + 1);
  const end = begin + random.below(rows - begin + 1);
  const part = (array: Float64Array) => array.subarray(begin, end);
  return {
    labels: part(labels),
    rowWeights: part(rowWeights),
    from: part(from),
    to: part(to),
    shift: number(random),
  };
}

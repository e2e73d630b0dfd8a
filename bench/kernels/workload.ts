import { type Arena, Budget, createArena } from '../../src/engine/arena.ts';
import { exp, log } from '../../src/math/elementary.ts';
import { type Random, stream } from '../../src/math/random.ts';
import {
  type Cell,
  type ColumnState,
  type MarginState,
  type Pending,
  type RowState,
  type RowStep,
  type SaddleRows,
  type SaddleStep,
  saddleStride,
  saddleSlot as slot,
  stat,
} from '../../src/solvers/kernels/kernels.ts';

/** How large the data of a measurement is. */
export interface WorkloadShape {
  readonly rows: number;
  readonly columns: number;
  readonly perRow: number;
}

/** The most frequent columns share the top of the frequency curve. */
const flatTop = 20;

type Arrays = ReturnType<typeof allocate>;

/** Arrays that kernels only read come first, so that what they write to is one piece of memory. */
function allocate(arena: Arena, { rows, columns, perRow }: WorkloadShape) {
  const entries = rows * perRow;
  const fixed = {
    rowOffsets: arena.int32(rows + 1),
    rowIndices: arena.int32(entries),
    rowValues: arena.float32(entries),
    rowOrder: arena.int32(rows),
    columnOffsets: arena.int32(columns + 1),
    columnIndices: arena.int32(entries),
    columnValues: arena.float32(entries),
    columnOrder: arena.int32(columns),
    rowDeltas: arena.float64(rows),
    columnDeltas: arena.float64(columns),
    labels: arena.float64(rows),
    rowWeights: arena.float64(rows),
    norms: arena.float64(rows),
    collisions: arena.float64(rows),
    counts: arena.int32(rows),
    inverseCounts: arena.float64(rows),
    low: arena.float64(rows),
    high: arena.float64(rows),
    snapshot: arena.float64(rows),
    snapshotGradient: arena.float64(rows),
    density: arena.float64(rows),
  };
  const state = {
    alpha: arena.float64(rows),
    accumulators: arena.float64(rows),
    level: arena.uint8(rows),
    skip: arena.uint8(rows),
    stats: arena.float64(stat.length),
    margins: arena.float64(rows),
    slopes: arena.float64(rows),
    curvatures: arena.float64(rows),
    dirty: arena.uint8(rows),
    weights: arena.float64(columns),
    lines: arena.float64(saddleStride * columns),
    gradients: arena.float64(columns),
    hessians: arena.float64(columns),
  };
  return { ...fixed, ...state };
}

/**
 * Data and solver state in one WebAssembly memory, as a training run has them: Zipf columns by
 * falling frequency, rows of unit length in random order, a state somewhere in the middle of a
 * run. The same shape and seed give the same bytes.
 */
export class Workload {
  readonly entries: number;
  readonly memory: WebAssembly.Memory;
  readonly arrays: Arrays;
  readonly numbers: Readonly<Record<string, number>>;
  readonly #initial: Uint8Array;

  constructor(shape: WorkloadShape, seed: number) {
    const budget = new Budget();
    allocate(budget, shape);
    const arena = createArena(budget.bytes);
    if (!arena.memory) throw new Error('this workload does not fit into one WebAssembly memory');
    this.memory = arena.memory;
    this.arrays = allocate(arena, shape);
    this.entries = shape.rows * shape.perRow;
    const { rows, columns } = shape;
    this.numbers = {
      rows,
      columns,
      inverseTotalWeight: 1 / rows,
      damping: 0.1,
      // λ = 1/m: 1/(λm) = 1.
      deltaScale: 1,
      shrink: 1,
      weightStep: 0.3,
      alphaStep: 0.5,
      weightRate: 0.05 * rows,
      alphaRate: 0.05 * rows,
      l1: 0,
      l2: 1,
    };
    const random = stream(seed, 1);
    fillRows(this.arrays, shape, random);
    transpose(this.arrays, shape);
    fillRowState(this.arrays, shape, random);
    fillColumnState(this.arrays, shape, random);
    this.#initial = this.state.slice();
  }

  /** The part of the memory that kernels write to. */
  get state(): Uint8Array {
    return new Uint8Array(this.memory.buffer, this.arrays.alpha.byteOffset);
  }

  restore(): void {
    this.state.set(this.#initial);
  }

  get rowCell(): Cell {
    const { rowOffsets: offsets, rowIndices: indices, rowValues: values } = this.arrays;
    return { offsets, indices, values };
  }

  get columnCell(): Cell {
    const { columnOffsets: offsets, columnIndices: indices, columnValues: values } = this.arrays;
    return { offsets, indices, values };
  }

  get rowState(): RowState {
    return this.arrays;
  }

  get rowStep(): RowStep {
    const { damping, inverseTotalWeight, deltaScale, shrink } = this.numbers;
    return { damping, inverseTotalWeight, deltaScale, shrink };
  }

  get saddleRows(): SaddleRows {
    return this.arrays;
  }

  saddleStep(adagrad: boolean, svrg: boolean): SaddleStep {
    const { weightStep, alphaStep, weightRate, alphaRate, l1, l2, inverseTotalWeight } =
      this.numbers;
    return {
      weightStep: adagrad ? weightStep : weightRate,
      alphaStep: adagrad ? alphaStep : alphaRate,
      adagrad,
      svrg,
      l1,
      l2,
      inverseTotalWeight,
    };
  }

  get marginState(): MarginState {
    return this.arrays;
  }

  /** What gatherColumns uses of it. */
  get columnState(): ColumnState {
    const { weights, gradients, hessians, counts, level, skip } = this.arrays;
    return { weights, gradients, hessians, l1: weights, l2: weights, counts, level, skip };
  }

  get rowChanges(): Pending {
    return { units: this.arrays.rowOrder, deltas: this.arrays.rowDeltas };
  }

  get columnChanges(): Pending {
    return { units: this.arrays.columnOrder, deltas: this.arrays.columnDeltas };
  }
}

function fillRows(arrays: Arrays, { rows, columns, perRow }: WorkloadShape, random: Random): void {
  const { rowOffsets, rowIndices, rowValues } = arrays;
  const range = log((columns + flatTop) / flatTop);
  const lastRow = new Int32Array(columns).fill(-1);
  for (let i = 0; i < rows; i++) {
    const first = i * perRow;
    let square = 0;
    for (let filled = 0; filled < perRow; ) {
      const column = Math.floor(flatTop * exp(random.uniform() * range)) - flatTop;
      if (column >= columns || lastRow[column] === i) continue;
      lastRow[column] = i;
      rowIndices[first + filled] = column;
      rowValues[first + filled] = 0.5 + random.uniform();
      square += rowValues[first + filled] ** 2;
      filled++;
    }
    const scale = 1 / Math.sqrt(square);
    for (let k = first; k < first + perRow; k++) rowValues[k] *= scale;
    rowOffsets[i + 1] = first + perRow;
  }
}

function transpose(arrays: Arrays, { rows, columns }: WorkloadShape): void {
  const { rowOffsets, rowIndices, rowValues, columnOffsets, columnIndices, columnValues } = arrays;
  for (let k = 0; k < rowIndices.length; k++) columnOffsets[rowIndices[k] + 1]++;
  for (let j = 0; j < columns; j++) columnOffsets[j + 1] += columnOffsets[j];
  const next = columnOffsets.slice();
  for (let i = 0; i < rows; i++) {
    for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) {
      const at = next[rowIndices[k]]++;
      columnIndices[at] = i;
      columnValues[at] = rowValues[k];
    }
  }
}

function fillOrder(order: Int32Array, random: Random): void {
  for (let k = 0; k < order.length; k++) order[k] = k;
  random.shuffle(order, order.length);
}

function fillRowState(
  arrays: Arrays,
  { rows, columns, perRow }: WorkloadShape,
  random: Random,
): void {
  fillOrder(arrays.rowOrder, random);
  for (let i = 0; i < rows; i++) {
    const y = random.uniform() < 0.5 ? -1 : 1;
    arrays.labels[i] = y;
    arrays.rowWeights[i] = 1;
    arrays.norms[i] = rows;
    arrays.collisions[i] = 0.1 * rows;
    arrays.counts[i] = perRow;
    arrays.inverseCounts[i] = 1 / (rows * perRow);
    arrays.low[i] = y > 0 ? 1e-14 : -1 + 1e-14;
    arrays.high[i] = y > 0 ? 1 - 1e-14 : -1e-14;
    arrays.alpha[i] = y * (0.1 + 0.8 * random.uniform());
    arrays.snapshot[i] = y * (0.1 + 0.8 * random.uniform());
    arrays.snapshotGradient[i] = (random.uniform() - 0.5) / (rows * perRow);
    arrays.accumulators[i] = perRow * random.uniform() * (rows * perRow) ** -2;
    arrays.density[i] = perRow / columns;
    arrays.margins[i] = 4 * random.uniform() - 2;
    arrays.dirty[i] = 1;
    arrays.rowDeltas[i] = random.uniform() - 0.5;
  }
}

function fillColumnState(arrays: Arrays, { rows, columns }: WorkloadShape, random: Random): void {
  const { lines, weights, columnOffsets, columnOrder, columnDeltas } = arrays;
  fillOrder(columnOrder, random);
  for (let j = 0; j < columns; j++) {
    const count = Math.max(1, columnOffsets[j + 1] - columnOffsets[j]);
    const at = saddleStride * j;
    weights[j] = 0.2 * (random.uniform() - 0.5);
    columnDeltas[j] = 0.2 * (random.uniform() - 0.5);
    lines[at + slot.weight] = weights[j];
    lines[at + slot.squares] = (count * random.uniform() * 0.01) / rows ** 2;
    lines[at + slot.share] = 1 / (rows * count);
    lines[at + slot.snapshot] = weights[j] + 0.02 * (random.uniform() - 0.5);
    lines[at + slot.gradient] = (0.01 * (random.uniform() - 0.5)) / rows;
    lines[at + slot.low] = -Math.sqrt(rows);
    lines[at + slot.high] = Math.sqrt(rows);
  }
}

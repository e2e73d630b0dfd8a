import type { Arena } from '../../engine/arena.ts';
import { layOutBlocks } from '../../engine/block-layout.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import type { Cell, WholeRows } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns } from '../whole.ts';

/** The least capacity for which the products of a set travel. */
const leastCapacity = 256;

/** A set of at most `most` columns in parts, one for each worker, that travel as blocks do. */
function layOutSet({ size, first, end }: Partition, most: number) {
  const parts = Int32Array.from({ length: size + 1 }, (_, k) => k);
  const { blockOffsets, bufferLength } = layOutBlocks(parts, first, end);
  return { offsets: blockOffsets, slots: bufferLength, capacity: most };
}

/** Columns of a part of a set, at most. */
const partLength = (capacity: number, size: number) => Math.ceil(capacity / size);

export type ColumnSetMemory = ReturnType<typeof allocateColumnSet>;

export function allocateColumnSet(arena: Arena, partition: Partition, most: number) {
  const { size, first, end, rowStarts, workerNonzeros } = partition;
  const workers = Array.from({ length: end - first }, (_, k) => first + k);
  const { slots } = layOutSet(partition, most);
  const length = partLength(most, size);
  return {
    /** The positions of the set's columns among all, in order, and how many there are. */
    list: arena.int32(most),
    count: arena.int32(1),
    /** Where each column is in the set, −1 if it is not. */
    places: arena.int32(allColumns(partition)),
    starts: arena.int32(size + 1),
    /** Of each worker that runs here the rows, with the columns of the set alone. */
    rows: workers.map((worker) => ({
      offsets: arena.int32(size * (rowStarts[worker + 1] - rowStarts[worker] + 1)),
      indices: arena.int32(workerNonzeros[worker]),
      values: arena.float32(workerNonzeros[worker]),
    })),
    identity: arena.int32(Math.max(...workers.map((w) => rowStarts[w + 1] - rowStarts[w]))),
    /** XᵀTX of the set, row by row; rows belong to the parts of their columns and travel with them. */
    gram: arena.float64(slots * length * most),
    image: arena.float64(slots * length),
  };
}

/** A set of columns: its part of the data, and products with it. */
export class ColumnSet {
  readonly #context: SolverContext;
  readonly #memory: ColumnSetMemory;
  readonly #layout: ReturnType<typeof layOutSet>;
  readonly #imageFields: BlockFields;
  /** Of XᵀTX, for sets of up to so many columns. */
  readonly #gramFields: { readonly capacity: number; readonly fields: BlockFields }[] = [];
  /** The share of the non-zeros that are in columns of the set. */
  share = 0;

  constructor(context: SolverContext, memory: ColumnSetMemory) {
    const { problem, ring } = context;
    this.#context = context;
    this.#memory = memory;
    this.#layout = layOutSet(problem.grid.partition, memory.list.length);
    const { identity } = memory;
    for (let i = 0; i < identity.length; i++) identity[i] = i;
    this.#imageFields = ring.fields((part) => [this.#part(memory.image, part)]);
    for (let { capacity } = this.#layout; ; capacity = Math.ceil(capacity / 2)) {
      const fields = ring.fields((part) => [this.#gramPart(part, capacity)]);
      this.#gramFields.unshift({ capacity, fields });
      if (capacity <= leastCapacity) break;
    }
  }

  get count(): number {
    return this.#memory.count[0];
  }

  get capacity(): number {
    return this.#layout.capacity;
  }

  /** The positions of the columns among all. */
  get list(): Int32Array {
    return this.#memory.list.subarray(0, this.count);
  }

  /** Where each of all columns is in the set, −1 if it is not. */
  get places(): Int32Array {
    return this.#memory.places;
  }

  /** The columns of a part among those of the set. */
  range(part: number): readonly [begin: number, end: number] {
    const { starts } = this.#memory;
    return [starts[part], starts[part + 1]];
  }

  #part(array: Float64Array, part: number): Float64Array {
    const { capacity, offsets } = this.#layout;
    const length = partLength(capacity, offsets.length);
    return array.subarray(offsets[part] * length, (offsets[part] + 1) * length);
  }

  #gramPart(part: number, capacity: number): Float64Array {
    const { offsets } = this.#layout;
    const length = partLength(capacity, offsets.length) * capacity;
    return this.#memory.gram.subarray(offsets[part] * length, (offsets[part] + 1) * length);
  }

  /** Takes the columns whose places are set, and the rows' entries in them. Every thread calls it. */
  take(isMember: (position: number) => boolean): void {
    const { team, problem } = this.#context;
    if (team.index === 0) this.#number(isMember);
    team.barrier();
    const [touched] = team.reduce(1, (worker, values) => {
      values[0] = this.#cut(worker);
    });
    this.share = touched / Math.max(1, problem.nonzeros);
  }

  #number(isMember: (position: number) => boolean): void {
    const { list, count, places, starts } = this.#memory;
    let taken = 0;
    for (let position = 0; position < places.length; position++) {
      const joins = isMember(position);
      places[position] = joins ? taken : -1;
      if (joins) list[taken++] = position;
    }
    count[0] = taken;
    const size = starts.length - 1;
    for (let part = 0; part <= size; part++) starts[part] = Math.floor((part * taken) / size);
  }

  /** Copies a worker's entries in columns of the set, ordered by part and row; returns their number. */
  #cut(worker: number): number {
    const { grid } = this.#context.problem;
    const { columnBounds } = grid.partition;
    const { places, starts } = this.#memory;
    const { offsets, indices, values } = this.#rowsOf(worker);
    const size = grid.size;
    const rows = offsets.length / size - 1;
    const partOf = new Int32Array(this.count);
    for (let part = 0; part < size; part++) partOf.fill(part, starts[part], starts[part + 1]);
    const visit = (take: (part: number, row: number, place: number, value: number) => void) => {
      for (let block = 0; block < size; block++) {
        const cell = grid.cells[worker * size + block];
        for (let i = 0; i < rows; i++) {
          for (let k = cell.offsets[i]; k < cell.offsets[i + 1]; k++) {
            const place = places[columnBounds[block] + cell.indices[k]];
            if (place >= 0) take(partOf[place], i, place, cell.values[k]);
          }
        }
      }
    };
    const next = new Int32Array(offsets.length);
    visit((part, row) => {
      next[part * (rows + 1) + row + 1]++;
    });
    for (let k = 1; k < next.length; k++) next[k] += next[k - 1];
    offsets.set(next);
    visit((part, row, place, value) => {
      const at = next[part * (rows + 1) + row]++;
      indices[at] = place - starts[part];
      values[at] = value;
    });
    return offsets[offsets.length - 1];
  }

  #rowsOf(worker: number) {
    return this.#memory.rows[worker - this.#context.problem.grid.partition.first];
  }

  #cell(worker: number, part: number): Cell {
    const { offsets, indices, values } = this.#rowsOf(worker);
    const stride = offsets.length / this.#context.problem.grid.size;
    return { offsets: offsets.subarray(part * stride, (part + 1) * stride), indices, values };
  }

  /** u ← X w, for w by places and u by rows. */
  margins(weights: Float64Array, margins: Float64Array): void {
    const { team, kernels, objective, problem } = this.#context;
    for (let worker = team.first; worker < team.end; worker++) {
      const own = objective.rowsOf(margins, worker).fill(0);
      for (let part = 0; part < problem.grid.size; part++) {
        const w = weights.subarray(...this.range(part));
        const cell = this.#cell(worker, part);
        kernels.gather(cell, this.#memory.identity, 0, own.length, false, w, own);
      }
    }
    team.barrier();
  }

  /** image ← Xᵀ s by places, in every process. */
  image(slopes: Float64Array, image: Float64Array): void {
    const { team, ring, kernels, objective } = this.#context;
    const { identity } = this.#memory;
    for (let part = team.first; part < team.end; part++) this.#imagePart(part).fill(0);
    ring.rotate(this.#imageFields, (worker, part) => {
      const deltas = objective.rowsOf(slopes, worker);
      const pending = { units: identity, deltas };
      kernels.scatter(this.#cell(worker, part), pending, deltas.length, this.#imagePart(part));
    });
    ring.rotate(this.#imageFields, (worker, part) => {
      if (worker === team.shared.first) this.#copyPart(part, image, this.#imagePart(part), 1);
    });
    team.barrier();
  }

  #imagePart(part: number): Float64Array {
    return this.#part(this.#memory.image, part);
  }

  #copyPart(part: number, target: Float64Array, source: Float64Array, stride: number): void {
    const [begin, end] = this.range(part);
    target.set(source.subarray(0, (end - begin) * stride), begin * stride);
  }

  /** matrix ← XᵀTX, its lower triangle, in every process. */
  products(rowScales: Float64Array, matrix: Float64Array): void {
    const { team, ring, kernels, objective, problem } = this.#context;
    const { starts } = this.#memory;
    const { count } = this;
    const { capacity, fields } =
      this.#gramFields.find((found) => found.capacity >= count) ?? this.#gramFields.at(-1)!;
    for (let part = team.first; part < team.end; part++) {
      const [begin, end] = this.range(part);
      this.#gramPart(part, capacity).fill(0, 0, (end - begin) * count);
    }
    ring.rotate(fields, (worker, part) => {
      const { offsets, indices, values } = this.#rowsOf(worker);
      const blocks = problem.grid.size;
      const rows = offsets.length / blocks - 1;
      const whole: WholeRows = { rows, blocks, offsets, indices, values, starts };
      const scales = objective.rowsOf(rowScales, worker);
      kernels.addRowProducts(whole, part, scales, this.#gramPart(part, capacity), count);
    });
    ring.rotate(fields, (worker, part) => {
      if (worker !== team.shared.first) return;
      this.#copyPart(part, matrix, this.#gramPart(part, capacity), count);
    });
    team.barrier();
  }
}

import type { Arena } from '../../engine/arena.ts';
import { layOutBlocks } from '../../engine/block-layout.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import type { Cell, ColumnEntries } from '../kernels/kernels.ts';
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
    /** Of each worker that runs here the entries in columns of the set, by rows and by columns. */
    entries: workers.map((worker) => ({
      rows: allocateCell(arena, rowStarts[worker + 1] - rowStarts[worker], workerNonzeros[worker]),
      columns: {
        ...allocateCell(arena, most, workerNonzeros[worker]),
        places: arena.int32(workerNonzeros[worker]),
      },
    })),
    identity: arena.int32(Math.max(most, ...workers.map((w) => rowStarts[w + 1] - rowStarts[w]))),
    /** XᵀTX of the set, row by row; rows belong to the parts of their columns and travel with them. */
    gram: arena.float64(slots * length * most),
    image: arena.float64(slots * length),
  };
}

function allocateCell(arena: Arena, units: number, entries: number) {
  return {
    offsets: arena.int32(units + 1),
    indices: arena.int32(entries),
    values: arena.float32(entries),
  };
}

/** A set of columns: its part of the data, and products with it. */
export class ColumnSet {
  readonly #context: SolverContext;
  readonly #memory: ColumnSetMemory;
  readonly #layout: ReturnType<typeof layOutSet>;
  /** To be added to, and to be read. */
  readonly #imageFields: BlockFields;
  readonly #imageCopies: BlockFields;
  /** Of XᵀTX, for sets of up to `capacity` columns. */
  readonly #gramFields: {
    readonly capacity: number;
    readonly fields: BlockFields;
    readonly copies: BlockFields;
  }[] = [];
  /** The share of the non-zeros that are in columns of the set. */
  share = 0;

  constructor(context: SolverContext, memory: ColumnSetMemory) {
    const { problem, ring } = context;
    this.#context = context;
    this.#memory = memory;
    this.#layout = layOutSet(problem.grid.partition, memory.list.length);
    const { identity } = memory;
    for (let i = 0; i < identity.length; i++) identity[i] = i;
    const imageViews = (part: number) => [this.#part(memory.image, part)];
    this.#imageFields = ring.fields(imageViews);
    this.#imageCopies = ring.readFields(imageViews);
    for (let { capacity } = this.#layout; ; capacity = Math.ceil(capacity / 2)) {
      const views = (part: number) => [this.#gramPart(part, capacity)];
      const [fields, copies] = [ring.fields(views), ring.readFields(views)];
      this.#gramFields.unshift({ capacity, fields, copies });
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

  /** Copies a worker's entries in columns of the set; returns their number. */
  #cut(worker: number): number {
    const { grid } = this.#context.problem;
    const { columnBounds } = grid.partition;
    const { rows, columns } = this.#entriesOf(worker);
    const next = new Int32Array(this.count);
    const visit = (take: (row: number, place: number, value: number) => void) => {
      for (let block = 0; block < grid.size; block++) {
        const { offsets, indices, values } = grid.cells[worker * grid.size + block];
        const { places } = this;
        for (let i = 0; i + 1 < offsets.length; i++) {
          for (let k = offsets[i]; k < offsets[i + 1]; k++) {
            const place = places[columnBounds[block] + indices[k]];
            if (place >= 0) take(i, place, values[k]);
          }
        }
      }
    };
    // By columns, each with its rows in order; then by rows, each with its columns in order.
    columns.offsets.fill(0);
    visit((_, place) => {
      columns.offsets[place + 1]++;
    });
    accumulate(columns.offsets, next);
    visit((row, place, value) => {
      const at = next[place]++;
      columns.indices[at] = row;
      columns.values[at] = value;
    });
    return transpose(columns, rows, this.count);
  }

  #entriesOf(worker: number) {
    return this.#memory.entries[worker - this.#context.problem.grid.partition.first];
  }

  /** u ← X w, for w by places and u by rows. */
  margins(weights: Float64Array, margins: Float64Array): void {
    const { team, kernels, objective } = this.#context;
    for (let worker = team.first; worker < team.end; worker++) {
      const { rows } = this.#entriesOf(worker);
      const own = objective.rowsOf(margins, worker);
      kernels.gather(rows, this.#memory.identity, 0, own.length, true, weights, own);
    }
    team.barrier();
  }

  /** image ← Xᵀ s by places, in every process. */
  image(slopes: Float64Array, image: Float64Array): void {
    const { team, ring, kernels, objective } = this.#context;
    const { identity } = this.#memory;
    for (let part = team.first; part < team.end; part++) this.#imagePart(part).fill(0);
    ring.rotate(this.#imageFields, (worker, part) => {
      const [begin, end] = this.range(part);
      const { columns } = this.#entriesOf(worker);
      const cell = { ...columns, offsets: columns.offsets.subarray(begin) };
      const source = objective.rowsOf(slopes, worker);
      kernels.gather(cell, identity, 0, end - begin, false, source, this.#imagePart(part));
    });
    ring.rotate(this.#imageCopies, (worker, part) => {
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
    const { team, ring, kernels, objective } = this.#context;
    const { count } = this;
    const { capacity, fields, copies } =
      this.#gramFields.find((found) => found.capacity >= count) ?? this.#gramFields.at(-1)!;
    for (let part = team.first; part < team.end; part++) {
      const [begin, end] = this.range(part);
      this.#gramPart(part, capacity).fill(0, 0, (end - begin) * count);
    }
    ring.rotate(fields, (worker, part) => {
      const { rows, columns } = this.#entriesOf(worker);
      const scales = objective.rowsOf(rowScales, worker);
      const gram = this.#gramPart(part, capacity);
      kernels.addColumnProducts(rows, columns, scales, ...this.range(part), gram, count);
    });
    ring.rotate(copies, (worker, part) => {
      if (worker !== team.shared.first) return;
      this.#copyPart(part, matrix, this.#gramPart(part, capacity), count);
    });
    team.barrier();
  }
}

/** Counts, each after the place of its item, become where the items begin; `next`: the same. */
function accumulate(offsets: Int32Array, next: Int32Array): void {
  for (let k = 1; k < offsets.length; k++) offsets[k] += offsets[k - 1];
  next.set(offsets.subarray(0, next.length));
}

/** From entries by columns to entries by rows, and where each is among them; returns their number. */
function transpose(columns: ColumnEntries, rows: Cell, count: number): number {
  const next = new Int32Array(rows.offsets.length - 1);
  const filled = columns.offsets[count];
  rows.offsets.fill(0);
  for (let k = 0; k < filled; k++) rows.offsets[columns.indices[k] + 1]++;
  accumulate(rows.offsets, next);
  for (let place = 0; place < count; place++) {
    for (let k = columns.offsets[place]; k < columns.offsets[place + 1]; k++) {
      const at = next[columns.indices[k]]++;
      rows.indices[at] = place;
      rows.values[at] = columns.values[k];
      columns.places[k] = at;
    }
  }
  return filled;
}

import { readWhole } from '../engine/disk/disk-cells.ts';
import {
  bytesOfWords,
  type Group,
  offsetSlot,
  type SegmentList,
  type ShuffleTask,
  segmentAt,
  wordsOf,
} from '../engine/disk/segments.ts';
import { entryBytes } from '../parallel/stored-cells.ts';
import { writeWhole } from './scratch.ts';

const wordsPerEntry = entryBytes / 4;

/**
 * The second pass of laying out on disk: a group of segments is read, its rows as they came, and
 * written back in its place as chunks. The counts of the first pass become offsets.
 */
export class GroupOrderer {
  readonly #task: ShuffleTask;
  readonly #list: SegmentList;
  readonly #input: Int32Array;
  readonly #output: Int32Array;
  /** Rows of a group in the order they came. */
  readonly #keys: Float64Array;
  /** Of a row, by block: where its next entry goes, and how far behind the index its value. */
  readonly #next: Int32Array;
  readonly #stride: Int32Array;

  constructor(task: ShuffleTask, list: SegmentList, groups: readonly Group[]) {
    this.#task = task;
    this.#list = list;
    const half = Math.floor(task.memory.length / 8);
    this.#input = wordsOf(task.memory, 0, half);
    this.#output = wordsOf(task.memory, half, 2 * half);
    const rows = groups.map(({ begin, end }) => list.place[end] - list.place[begin]);
    this.#keys = new Float64Array(rows.reduce((most, count) => Math.max(most, count), 0));
    this.#next = new Int32Array(task.partition.size);
    this.#stride = new Int32Array(task.partition.size);
  }

  order(group: Group): void {
    const { position } = this.#list;
    const { file } = this.#task.stored;
    const from = position[group.begin];
    const words = (position[group.end] - from) / 4;
    readWhole(file, bytesOfWords(this.#input, words), 0, 4 * words, from);
    for (let segment = group.begin; segment < group.end; segment++) this.#finish(segment);
    this.#placeRows(group);
    writeWhole(file, bytesOfWords(this.#output, words), from);
  }

  /** Offsets of a segment's rows from their counts, and the positions of its chunks. */
  #finish(segment: number): void {
    const { partition, stored } = this.#task;
    const { size } = partition;
    const { worker, within, place, position } = this.#list;
    const positions = stored.positions[worker[segment]];
    const begin = offsetSlot(partition, this.#list, segment, place[segment]);
    const end = begin + place[segment + 1] - place[segment];
    let next = position[segment];
    for (let block = 0; block < size; block++) {
      const offsets = stored.offsets[worker[segment] * size + block];
      for (let slot = begin; slot < end; slot++) offsets[slot + 1] += offsets[slot];
      positions[within[segment] * size + block] = next;
      next += entryBytes * offsets[end];
    }
    positions[(within[segment] + 1) * size] = next;
  }

  #placeRows(group: Group): void {
    const { rowCounts } = this.#task.partition;
    const { place, position } = this.#list;
    const first = place[group.begin];
    const keys = this.#sortRows(first, place[group.end]);
    for (let k = 0, at = 0; k < keys.length; k++) {
      const row = first + (keys[k] % keys.length);
      const segment = segmentAt(this.#list, row, group.begin, group.end);
      this.#aim(segment, row, position[group.begin]);
      this.#placeEntries(at, rowCounts[row]);
      at += wordsPerEntry * rowCounts[row];
    }
  }

  /** Original row · rows + place, ascending: as the rows came. */
  #sortRows(first: number, end: number): Float64Array {
    const { rowOrder } = this.#task.partition;
    const rows = end - first;
    const keys = this.#keys.subarray(0, rows);
    for (let k = 0; k < rows; k++) keys[k] = rowOrder[first + k] * rows + k;
    return keys.sort();
  }

  /** Looks up where a row's entries go in the output, which begins at `base` of the file. */
  #aim(segment: number, row: number, base: number): void {
    const { partition, stored } = this.#task;
    const { size } = partition;
    const worker = this.#list.worker[segment];
    const positions = stored.positions[worker];
    const slot = offsetSlot(partition, this.#list, segment, row);
    for (let block = 0; block < size; block++) {
      const chunk = this.#list.within[segment] * size + block;
      const begin = positions[chunk];
      this.#next[block] = (begin - base) / 4 + stored.offsets[worker * size + block][slot];
      this.#stride[block] = (positions[chunk + 1] - begin) / entryBytes;
    }
  }

  #placeEntries(at: number, count: number): void {
    const { columnBlock, columnPlace, columnBounds } = this.#task.partition;
    const input = this.#input;
    const output = this.#output;
    for (let k = at; k < at + count; k++) {
      const column = input[k];
      const block = columnBlock[column];
      const next = this.#next[block]++;
      output[next] = columnPlace[column] - columnBounds[block];
      output[next + this.#stride[block]] = input[k + count];
    }
  }
}

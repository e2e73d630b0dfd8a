import type { DatasetPart } from '../data/dataset.ts';
import {
  bytesOfWords,
  type Group,
  offsetSlot,
  type SegmentList,
  type ShuffleTask,
  segmentAt,
  wordsOf,
} from '../engine/disk/segments.ts';
import { writeWhole } from './scratch.ts';

/** A group's stretch of the file, written through a buffer. */
interface Appender {
  readonly words: Int32Array;
  filled: number;
  position: number;
}

/**
 * The first pass of laying out on disk: every row goes to its group of segments, behind those that
 * came before it, its columns first and then the bits of its values.
 */
export class RowSorter {
  readonly #task: ShuffleTask;
  readonly #list: SegmentList;
  readonly #appenders: readonly Appender[];
  readonly #groupOf: Int32Array;
  readonly #placeOf: Int32Array;
  /** What an intercept adds to a row: a column, and the bits of 1. */
  readonly #onesColumn: Int32Array;
  readonly #one = new Int32Array(Float32Array.of(1).buffer);
  #row = 0;

  constructor(task: ShuffleTask, list: SegmentList, groups: readonly Group[]) {
    this.#task = task;
    this.#list = list;
    this.#onesColumn = Int32Array.of(task.ones);
    const words = Math.floor(task.memory.length / 4 / groups.length);
    this.#appenders = groups.map(({ begin }, number) => ({
      words: wordsOf(task.memory, number * words, (number + 1) * words),
      filled: 0,
      position: list.position[begin],
    }));
    this.#groupOf = new Int32Array(list.worker.length);
    for (const [number, { begin, end }] of groups.entries()) {
      this.#groupOf.fill(number, begin, end);
    }
    const { rowOrder } = task.partition;
    this.#placeOf = new Int32Array(rowOrder.length);
    for (let place = 0; place < rowOrder.length; place++) this.#placeOf[rowOrder[place]] = place;
  }

  /** Takes the next rows of the data. */
  take({ labels, rowOffsets, indices, values }: DatasetPart): void {
    const intercept = this.#task.ones >= 0;
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    for (let k = 0; k < labels.length; k++) {
      const place = this.#placeOf[this.#row++];
      const segment = segmentAt(this.#list, place, 0, this.#list.worker.length);
      const from = rowOffsets[k];
      const to = rowOffsets[k + 1];
      this.#count(segment, place, indices, from, to);
      const appender = this.#appenders[this.#groupOf[segment]];
      this.#append(appender, indices, from, to);
      if (intercept) this.#append(appender, this.#onesColumn, 0, 1);
      this.#append(appender, bits, from, to);
      if (intercept) this.#append(appender, this.#one, 0, 1);
    }
  }

  finish(): void {
    for (const appender of this.#appenders) this.#flush(appender);
  }

  /** Counts a row's entries in each block, where the offset behind the row will be. */
  #count(segment: number, place: number, indices: Int32Array, from: number, to: number): void {
    const { partition, stored, ones } = this.#task;
    const { size, columnBlock } = partition;
    const slot = offsetSlot(partition, this.#list, segment, place) + 1;
    const first = this.#list.worker[segment] * size;
    if (size === 1) {
      stored.offsets[first][slot] = to - from + (ones >= 0 ? 1 : 0);
      return;
    }
    for (let k = from; k < to; k++) stored.offsets[first + columnBlock[indices[k]]][slot]++;
    if (ones >= 0) stored.offsets[first + columnBlock[ones]][slot]++;
  }

  #append(appender: Appender, source: Int32Array, from: number, to: number): void {
    const { words } = appender;
    for (let at = from; at < to; ) {
      const { filled } = appender;
      const count = Math.min(to - at, words.length - filled);
      for (let k = 0; k < count; k++) words[filled + k] = source[at + k];
      appender.filled += count;
      at += count;
      if (appender.filled === words.length) this.#flush(appender);
    }
  }

  #flush(appender: Appender): void {
    const { words, filled, position } = appender;
    writeWhole(this.#task.stored.file, bytesOfWords(words, filled), position);
    appender.position += 4 * filled;
    appender.filled = 0;
  }
}

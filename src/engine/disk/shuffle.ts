import { writeSync } from 'node:fs';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DatasetPart } from '../../data/dataset.ts';
import { DsoError } from '../../errors.ts';
import { reasonOf } from '../../files.ts';
import { intervalOf } from '../../math/vectors.ts';
import type { Partition, Segments } from '../partition.ts';
import { type DiskCells, nonzeroBytes, readWhole, segmentBytes } from './disk-cells.ts';

/** Rows of a group at most: their numbers are sorted in memory. */
const rowsPerGroup = 2 ** 19;

export interface ShuffleTask {
  readonly partition: Partition;
  readonly segments: Segments;
  readonly stored: DiskCells;
  /** The column of ones behind all others, −1 without an intercept. */
  readonly ones: number;
  /** Memory to work in: that of the windows of training. */
  readonly memory: Uint8Array;
}

/** All segments in the order of the file; `row` and `position` also have where the last one ends. */
type SegmentList = Readonly<ReturnType<typeof listSegments>>;

/** Segments that are brought into order together: begin … end-1 of the list. */
interface Group {
  readonly begin: number;
  readonly end: number;
}

function listSegments({ partition, segments }: ShuffleTask) {
  const count = segments.reduce((sum, starts) => sum + starts.length - 1, 0);
  const list = {
    worker: new Int32Array(count),
    /** Which one it is of its worker. */
    within: new Int32Array(count),
    /** Position of its first row in the partition. */
    row: new Int32Array(count + 1),
    /** Where it begins in the file. */
    position: new Float64Array(count + 1),
  };
  let at = 0;
  for (const [worker, starts] of segments.entries()) {
    for (const [segment, bytes] of segmentBytes(partition, segments, worker).entries()) {
      list.worker[at] = worker;
      list.within[at] = segment;
      list.row[at] = partition.rowStarts[worker] + starts[segment];
      list.position[at + 1] = list.position[at] + bytes;
      at++;
    }
  }
  list.row[count] = partition.rowOrder.length;
  return list;
}

/** Groups of at most `most` bytes, or of one segment. */
function groupSegments({ row, position }: SegmentList, most: number): Group[] {
  const groups: Group[] = [];
  const count = row.length - 1;
  for (let begin = 0; begin < count; ) {
    let end = begin + 1;
    while (
      end < count &&
      position[end + 1] - position[begin] <= most &&
      row[end + 1] - row[begin] <= rowsPerGroup
    ) {
      end++;
    }
    groups.push({ begin, end });
    begin = end;
  }
  return groups;
}

/** Where a row of a segment has its offset; see DiskCells. */
function offsetSlot(
  { rowStarts }: Partition,
  { worker, within }: SegmentList,
  segment: number,
  row: number,
): number {
  return row - rowStarts[worker[segment]] + within[segment];
}

function wordsOf(memory: Uint8Array, from: number, to: number): Int32Array {
  return new Int32Array(memory.buffer, memory.byteOffset + 4 * from, to - from);
}

function bytesOfWords({ buffer, byteOffset }: Int32Array, words: number): Uint8Array {
  return new Uint8Array(buffer, byteOffset, 4 * words);
}

function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(file, bytes, done, bytes.length - done, position + done);
    }
  } catch (cause) {
    const message = `the scratch file cannot be written: ${reasonOf(cause)} (--scratch names another folder)`;
    throw new DsoError('failure', message, { cause });
  }
}

/** Writes a group's stretch of the file through a buffer. */
interface Appender {
  readonly words: Int32Array;
  filled: number;
  position: number;
}

/** The first pass: appends every row to its group of segments, columns first, then value bits. */
class RowSorter {
  readonly #task: ShuffleTask;
  readonly #list: SegmentList;
  readonly #appenders: readonly Appender[];
  readonly #groupOf: Int32Array;
  /** Position in the partition of each row of the data. */
  readonly #positionOf: Int32Array;
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
    this.#positionOf = new Int32Array(rowOrder.length);
    for (let k = 0; k < rowOrder.length; k++) this.#positionOf[rowOrder[k]] = k;
  }

  take({ labels, rowOffsets, indices, values }: DatasetPart): void {
    const intercept = this.#task.ones >= 0;
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    for (let k = 0; k < labels.length; k++) {
      const row = this.#positionOf[this.#row++];
      const segment = intervalOf(this.#list.row, row);
      const from = rowOffsets[k];
      const to = rowOffsets[k + 1];
      this.#count(segment, row, indices, from, to);
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
  #count(segment: number, row: number, indices: Int32Array, from: number, to: number): void {
    const { partition, stored, ones } = this.#task;
    const { size, columnBlock } = partition;
    const slot = offsetSlot(partition, this.#list, segment, row) + 1;
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

/** The second pass: reads a group, orders its rows into chunks, and turns counts into offsets. */
class GroupOrderer {
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
    const rows = groups.map(({ begin, end }) => list.row[end] - list.row[begin]);
    this.#keys = new Float64Array(rows.reduce((most, count) => Math.max(most, count), 0));
    this.#next = new Int32Array(task.partition.size);
    this.#stride = new Int32Array(task.partition.size);
  }

  order(group: Group): void {
    const { position } = this.#list;
    const { file } = this.#task.stored;
    const from = position[group.begin];
    const words = (position[group.end] - from) / 4;
    readWhole(file, bytesOfWords(this.#input, words), from);
    for (let segment = group.begin; segment < group.end; segment++) this.#finish(segment);
    this.#insertRows(group);
    writeWhole(file, bytesOfWords(this.#output, words), from);
  }

  /** Offsets of a segment's rows from their counts, and the positions of its chunks. */
  #finish(segment: number): void {
    const { partition, stored } = this.#task;
    const { size } = partition;
    const { worker, within, row, position } = this.#list;
    const positions = stored.positions[worker[segment]];
    const begin = offsetSlot(partition, this.#list, segment, row[segment]);
    const end = begin + row[segment + 1] - row[segment];
    let next = position[segment];
    for (let block = 0; block < size; block++) {
      const offsets = stored.offsets[worker[segment] * size + block];
      for (let slot = begin; slot < end; slot++) offsets[slot + 1] += offsets[slot];
      positions[within[segment] * size + block] = next;
      next += nonzeroBytes * offsets[end];
    }
    positions[(within[segment] + 1) * size] = next;
  }

  #insertRows(group: Group): void {
    const { rowCounts } = this.#task.partition;
    const { row: rows, position } = this.#list;
    const first = rows[group.begin];
    const keys = this.#sortRows(first, rows[group.end]);
    for (let k = 0, at = 0; k < keys.length; k++) {
      const row = first + (keys[k] % keys.length);
      const segment = intervalOf(rows, row, group.begin, group.end);
      this.#locate(segment, row, position[group.begin]);
      this.#insertEntries(at, rowCounts[row]);
      at += (nonzeroBytes / 4) * rowCounts[row];
    }
  }

  /** Original row · rows + position, ascending: as the rows came. */
  #sortRows(first: number, end: number): Float64Array {
    const { rowOrder } = this.#task.partition;
    const rows = end - first;
    const keys = this.#keys.subarray(0, rows);
    for (let k = 0; k < rows; k++) keys[k] = rowOrder[first + k] * rows + k;
    return keys.sort();
  }

  /** Looks up where a row's entries go in the output, which begins at `base` of the file. */
  #locate(segment: number, row: number, base: number): void {
    const { partition, stored } = this.#task;
    const { size } = partition;
    const worker = this.#list.worker[segment];
    const positions = stored.positions[worker];
    const slot = offsetSlot(partition, this.#list, segment, row);
    for (let block = 0; block < size; block++) {
      const chunk = this.#list.within[segment] * size + block;
      const begin = positions[chunk];
      this.#next[block] = (begin - base) / 4 + stored.offsets[worker * size + block][slot];
      this.#stride[block] = (positions[chunk + 1] - begin) / nonzeroBytes;
    }
  }

  #insertEntries(at: number, count: number): void {
    const { columnBlock, columnPosition, columnBounds } = this.#task.partition;
    const input = this.#input;
    const output = this.#output;
    for (let k = at; k < at + count; k++) {
      const column = input[k];
      const block = columnBlock[column];
      const next = this.#next[block]++;
      output[next] = columnPosition[column] - columnBounds[block];
      output[next + this.#stride[block]] = input[k + count];
    }
  }
}

/**
 * Brings rows from the order of the data into that of a grid on disk. First every row is appended
 * to its group of segments, in the group's stretch of the file; then each group is read, brought
 * into order and written back. This also fills in the offsets of the cells and the positions of the
 * chunks.
 */
export async function layOutOnDisk(task: ShuffleTask, rows: Iterable<DatasetPart>): Promise<void> {
  const list = listSegments(task);
  const groups = groupSegments(list, Math.floor(task.memory.length / 8) * 4);
  const sorter = new RowSorter(task, list, groups);
  for (const part of rows) {
    sorter.take(part);
    await yieldToEventLoop();
  }
  sorter.finish();
  const orderer = new GroupOrderer(task, list, groups);
  for (const group of groups) {
    orderer.order(group);
    await yieldToEventLoop();
  }
}

import { DataError } from '../../errors.ts';
import type { OutputFile } from '../../files.ts';
import type { DatasetPart } from '../dataset.ts';
import { largestIndex } from '../read/line-error.ts';
import { numberBytes, writeFloat32, writeFloat64, writeWhole } from '../text/number-text.ts';

const blockBytes = 1 << 20;
/** Bytes for what may follow once a block is full: a label or a pair, and a line end. */
const margin = 2 * numberBytes;
const newline = 10;
const blank = 32;
const colon = 58;

/** Writes rows as LIBSVM text that reads back as the same numbers. */
export class TextWriter {
  readonly #file: OutputFile;
  readonly #base: number;
  readonly #bytes = new Uint8Array(blockBytes + margin);
  #length = 0;
  #written = 0;
  #rows = 0;
  #largest = -1;
  #leavesWeights = false;

  constructor(file: OutputFile, { zeroBased = false }: { readonly zeroBased?: boolean } = {}) {
    this.#file = file;
    this.#base = zeroBased ? 0 : 1;
  }

  /** Whether rows had weights, which LIBSVM text cannot hold. */
  get leavesWeights(): boolean {
    return this.#leavesWeights;
  }

  async add(part: DatasetPart, wide?: Float64Array): Promise<void> {
    const { labels, rowOffsets } = part;
    this.#leavesWeights ||= part.weights?.some((weight) => weight !== 1) ?? false;
    for (let row = 0; row < labels.length; row += 1) {
      if (this.#rows > 0) this.#bytes[this.#length++] = newline;
      this.#rows += 1;
      if (this.#length >= blockBytes) await this.#flush();
      this.#length = writeFloat64(this.#bytes, this.#length, labels[row]);
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; ) {
        if (this.#length >= blockBytes) await this.#flush();
        entry = this.#pairs(part, wide, entry, rowOffsets[row + 1]);
      }
      const end = rowOffsets[row + 1];
      if (end > rowOffsets[row]) this.#largest = Math.max(this.#largest, part.indices[end - 1]);
    }
  }

  /** Ends the last row. Returns the size of the text. */
  async finish(columns: number): Promise<number> {
    if (columns - 1 + this.#base > largestIndex) {
      throw new DataError(
        `column ${columns} cannot be written as a feature from 1 on; use --zero-based`,
      );
    }
    // A zero in the last column, which readers leave out, preserves the number of columns.
    if (columns > this.#largest + 1) {
      this.#bytes[this.#length++] = blank;
      this.#length = writeWhole(this.#bytes, this.#length, columns - 1 + this.#base, 1);
      this.#bytes[this.#length++] = colon;
      this.#bytes[this.#length++] = 48;
    }
    this.#bytes[this.#length++] = newline;
    await this.#flush();
    return this.#written;
  }

  /** Pairs from `entry` on, as many as the block takes; returns the next one. */
  #pairs(part: DatasetPart, wide: Float64Array | undefined, entry: number, end: number): number {
    const { indices, values } = part;
    const bytes = this.#bytes;
    const base = this.#base;
    let length = this.#length;
    let next = entry;
    while (next < end && length < blockBytes) {
      bytes[length++] = blank;
      length = writeWhole(bytes, length, indices[next] + base, 1);
      bytes[length++] = colon;
      length = wide
        ? writeFloat64(bytes, length, wide[next])
        : writeFloat32(bytes, length, values[next]);
      next += 1;
    }
    this.#length = length;
    return next;
  }

  async #flush(): Promise<void> {
    const text = this.#bytes.subarray(0, this.#length);
    this.#written += text.length;
    this.#length = 0;
    await this.#file.write(text);
  }
}

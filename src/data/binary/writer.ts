import { once } from 'node:events';
import type { Transform } from 'node:stream';
// As a whole: an import of createZstdCompress by name could not be linked on Node 22.12.
import zlib from 'node:zlib';
import { DataError, UsageError } from '../../errors.ts';
import { type OutputFile, writeAtomically } from '../../files.ts';
import type { DatasetPart } from '../dataset.ts';
import { survives } from '../text/write.ts';
import { ColumnCounter, encodeNames } from './columns.ts';
import {
  type EncodedSection,
  encodeFileHeader,
  encodeTrailer,
  fileHeaderBytes,
  type SectionLocation,
  trailerBytes,
} from './layout.ts';
import { encodeRows, largestEntries } from './rows.ts';
import { encodeIndex } from './sections.ts';

export type ValueType = 'float32' | 'float64' | 'auto';

export interface BinaryOptions {
  /**
   * How values are stored: as the float32 that training uses, as float64, or (`auto`) as float64
   * in those sections where float32 would change the decimals that were read. Default: float32,
   * and what binary data has as float64 like `auto`.
   */
  readonly values?: ValueType;
  /** Store indices as packed distances; default: as int32. */
  readonly pack?: boolean;
}

/** A section ends in front of the row that would exceed one of these. */
const rowsPerSection = 1 << 16;
const entriesPerSection = 1 << 18;
const largestCount = 2 ** 32 - 1;

/** Writes data in memory for one section; how rows are split into parts does not change a byte. */
export class BinaryWriter {
  readonly #file: OutputFile;
  readonly #values: ValueType;
  readonly #pack: boolean;
  readonly #counter = new ColumnCounter();
  readonly #sections: SectionLocation[] = [];
  readonly #labels = new Float64Array(rowsPerSection);
  readonly #weights = new Float64Array(rowsPerSection);
  readonly #offsets = new Int32Array(rowsPerSection + 1);
  #indices = new Int32Array(entriesPerSection);
  #float32 = new Float32Array(entriesPerSection);
  #float64 = new Float64Array(0);
  #buffer = new Uint8Array(0);
  #count = 0;
  /** Whether there are values in the section that came as float64. */
  #hasFloat64 = false;
  #position = 0;
  #rows = 0;
  #nonzeros = 0;
  names = 0;

  constructor(file: OutputFile, { values = 'auto', pack = false }: BinaryOptions = {}) {
    this.#file = file;
    this.#values = values;
    this.#pack = pack;
  }

  /** Appends rows; `float64` are the values as float64, where they are known so. */
  async add(part: DatasetPart, float64?: Float64Array): Promise<void> {
    const { rowOffsets, labels } = part;
    for (let row = 0; row < labels.length; ) {
      const end = this.#lastFitting(rowOffsets, row, labels.length);
      if (end > row) this.#take(part, float64, row, end);
      else await this.#flush();
      row = end;
    }
  }

  /** Appends names of features: whole lines. Rows come first. */
  async addNames(lines: Uint8Array): Promise<void> {
    await this.#flush();
    const section = encodeNames(this.names, lines);
    this.names += section.header.count;
    await this.#write(section);
  }

  /** Writes what is left, the column counts and the index. Returns the size of the file. */
  async finish(columns: number): Promise<number> {
    await this.#flush();
    for (const section of this.#counter.sections()) await this.#write(section);
    await this.#start();
    const totals = { rows: this.#rows, columns, nonzeros: this.#nonzeros, names: this.names };
    const indexOffset = this.#position;
    const { bytes } = encodeIndex({ totals, sections: this.#sections });
    const size = indexOffset + bytes.length + trailerBytes;
    await this.#file.write(bytes);
    await this.#file.write(encodeTrailer({ indexOffset, size }));
    return size;
  }

  /** The end of the rows from `row` on that still go into the section. */
  #lastFitting(rowOffsets: Int32Array, row: number, rows: number): number {
    const room = entriesPerSection - this.#offsets[this.#count];
    const limit = Math.min(rows, row + rowsPerSection - this.#count);
    let end = row;
    while (end < limit && rowOffsets[end + 1] - rowOffsets[row] <= room) end += 1;
    // A row that is longer than a section gets one of its own.
    return end === row && this.#count === 0 ? row + 1 : end;
  }

  #take(part: DatasetPart, float64: Float64Array | undefined, row: number, end: number): void {
    const from = part.rowOffsets[row];
    const to = part.rowOffsets[end];
    const filled = this.#offsets[this.#count];
    if (to - from > largestEntries) {
      throw new DataError(
        `row ${this.#rows + this.#count + 1} has ${to - from} entries; ` +
          `the format holds at most ${largestEntries} in a row`,
      );
    }
    this.#reserve(filled + to - from);
    this.#labels.set(part.labels.subarray(row, end), this.#count);
    if (part.weights) this.#weights.set(part.weights.subarray(row, end), this.#count);
    else this.#weights.fill(1, this.#count, this.#count + end - row);
    this.#indices.set(part.indices.subarray(from, to), filled);
    this.#float32.set(part.values.subarray(from, to), filled);
    this.#hasFloat64 ||= float64 !== undefined;
    if (this.#values !== 'float32') {
      this.#float64.set((float64 ?? part.values).subarray(from, to), filled);
    }
    for (let next = row; next < end; next += 1) {
      this.#offsets[this.#count + 1] = filled + part.rowOffsets[next + 1] - from;
      this.#count += 1;
    }
  }

  #reserve(entries: number): void {
    if (this.#indices.length < entries) {
      // Only for a row that has the section to itself: nothing to keep.
      this.#indices = new Int32Array(entries);
      this.#float32 = new Float32Array(entries);
    }
    if (this.#values !== 'float32' && this.#float64.length < this.#indices.length) {
      this.#float64 = new Float64Array(this.#indices.length);
    }
  }

  async #flush(): Promise<void> {
    const count = this.#count;
    if (count === 0) return;
    const entries = this.#offsets[count];
    if (this.#rows + count > largestCount) {
      throw new DataError(`more than ${largestCount} rows; the format holds no more`);
    }
    const section = encodeRows(
      {
        first: this.#rows,
        count,
        labels: this.#labels,
        ...(this.#hasWeights() && { weights: this.#weights }),
        rowOffsets: this.#offsets,
        indices: this.#indices,
        values: this.#float32,
        float64: this.#needsFloat64(entries) ? this.#float64 : undefined,
        pack: this.#pack,
      },
      (bytes) => this.#reserveBytes(bytes),
    );
    this.#counter.add(this.#indices, entries);
    this.#rows += count;
    this.#nonzeros += entries;
    this.#count = 0;
    this.#hasFloat64 = false;
    await this.#write(section);
  }

  /** Whether a row of the section has a weight other than 1. */
  #hasWeights(): boolean {
    for (let row = 0; row < this.#count; row += 1) if (this.#weights[row] !== 1) return true;
    return false;
  }

  #needsFloat64(entries: number): boolean {
    if (this.#values !== 'auto') return this.#values === 'float64';
    if (!this.#hasFloat64) return false;
    for (let entry = 0; entry < entries; entry += 1) {
      if (!survives(this.#float64[entry], this.#float32[entry])) return true;
    }
    return false;
  }

  /** A file has taken all of the buffer when `write` returns. */
  #reserveBytes(bytes: number): Uint8Array {
    if (this.#buffer.length < bytes) this.#buffer = new Uint8Array(bytes);
    return this.#buffer;
  }

  async #write({ header, bytes }: EncodedSection): Promise<void> {
    await this.#start();
    this.#sections.push({ offset: this.#position, header });
    this.#position += bytes.length;
    await this.#file.write(bytes);
  }

  async #start(): Promise<void> {
    if (this.#position > 0) return;
    this.#position = fileHeaderBytes;
    await this.#file.write(encodeFileHeader());
  }
}

/**
 * Writes a file as a whole or not at all, compressed if its name ends in `.gz` or `.zst`; for `-`,
 * standard output. A chunk may be used again once `write` has returned.
 */
export async function writeOutput<Result>(
  path: string,
  write: (file: OutputFile) => Promise<Result>,
): Promise<Result> {
  if (path === '-') return write({ write: writeStandardOutput });
  const encoder = encoderFor(path);
  return writeAtomically(path, (file) =>
    encoder ? writeEncoded(encoder, file, write) : write(file),
  );
}

function encoderFor(path: string): Transform | undefined {
  if (path.endsWith('.gz')) return zlib.createGzip();
  if (!path.endsWith('.zst')) return undefined;
  if (zlib.createZstdCompress === undefined) {
    throw new UsageError(`${path}: zstd needs Node 22.15 or newer, this is ${process.version}`);
  }
  return zlib.createZstdCompress();
}

async function writeEncoded<Result>(
  encoder: Transform,
  file: OutputFile,
  write: (file: OutputFile) => Promise<Result>,
): Promise<Result> {
  const drained = (async () => {
    for await (const chunk of encoder as AsyncIterable<Uint8Array>) await file.write(chunk);
  })();
  // Awaited below; until then a full disk must not count as unhandled.
  drained.catch(() => {});
  try {
    const result = await write({
      async write(data) {
        const copy = typeof data === 'string' ? data : data.slice();
        if (!encoder.write(copy)) await Promise.race([once(encoder, 'drain'), drained]);
      },
    });
    encoder.end();
    await drained;
    return result;
  } catch (error) {
    encoder.destroy();
    // The error that ended the output, if there was one, rather than that the encoder is closed.
    await drained.catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw cause;
    });
    throw error;
  }
}

function writeStandardOutput(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

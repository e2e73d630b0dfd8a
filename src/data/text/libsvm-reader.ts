import { readFileSync } from 'node:fs';
import { sharedPart } from '../dataset.ts';
import { Numbering } from '../fields/label-list.ts';
import { LineError, labelError, pairError } from '../read/line-error.ts';
import { malformed, powers, roundFloat32, scanFloat64 } from './decimal.ts';
import {
  normalizeRow,
  type ParsedChunk,
  type ParseOptions,
  parseLibsvm,
  type RowEntries,
  scanLabelText,
} from './libsvm.ts';
import { notUtf8 } from './records.ts';

/* Reads LIBSVM text with assembly/text.ts, which needs no time to get fast, unlike its plain twin. */

interface Module {
  parse(
    ...args: [
      start: number,
      end: number,
      powers: number,
      indices: number,
      values: number,
      labels: number,
      offsets: number,
      base: number,
      texts: number,
    ]
  ): void;
  readonly entries: WebAssembly.Global;
  readonly rows: WebAssembly.Global;
  readonly line: WebAssembly.Global;
  readonly qidLines: WebAssembly.Global;
  readonly largest: WebAssembly.Global;
}

const file = new URL(
  import.meta.url.endsWith('.ts') ? '../../../wasm/text.wasm' : '../wasm/text.wasm',
  import.meta.url,
);

const pageBytes = 65536;
const powersAt = 64;
const textAt = powersAt + 8 * 1024;
/** What the reader may look at behind the text. */
const lookAhead = 64;
/** Longer texts, which have a line of megabytes, are left to the plain twin: arrays for them would be too large. */
const longestText = 32 << 20;

/** The text being read. */
interface Reading {
  readonly memory: Uint8Array;
  readonly labels: Float64Array;
  readonly rows: Pick<RowEntries, 'indices' | 'values'>;
  readonly texts: Numbering | undefined;
  readonly base: number;
  readonly sumDuplicates: boolean;
  /** Of the rows that had to be ordered. */
  largest: number;
}

/** A memory with the text and arrays that are large enough for any text of its size. */
class TextReader {
  readonly #memory = new WebAssembly.Memory({ initial: 1 });
  readonly #module: Module;
  #capacity = 0;
  #reading: Reading | undefined;

  constructor() {
    const text = {
      label: (start: number, row: number) => this.#label(start, row),
      order: (from: number, end: number) => this.#order(from, end),
      round: (start: number, end: number) => roundFloat32(this.#reading!.memory, start, end),
      fault: (token: number) => {
        throw new LineError(this.#line, pairError(this.#reading!.memory, token));
      },
    };
    const imports = { env: { memory: this.#memory }, text };
    const module = new WebAssembly.Module(readFileSync(file));
    this.#module = new WebAssembly.Instance(module, imports).exports as unknown as Module;
    new Float64Array(this.#memory.buffer, powersAt, powers.length).set(powers);
  }

  /** Where text goes that is to be read without a copy; a longer one has the same bytes. */
  buffer(length: number): Uint8Array<ArrayBuffer> {
    if (length > this.#capacity) {
      this.#capacity = Math.min(Math.max(length, 2 * this.#capacity), longestText);
      const missing = this.#places().end - this.#memory.buffer.byteLength;
      if (missing > 0) this.#memory.grow(Math.ceil(missing / pageBytes));
    }
    return new Uint8Array(this.#memory.buffer as ArrayBuffer, textAt, this.#capacity);
  }

  parse(text: Uint8Array, options: ParseOptions): ParsedChunk {
    const bytes = this.#inPlace(text);
    const { buffer } = this.#memory;
    const { entries, rows, indices, values, labels, offsets } = this.#places();
    const reading: Reading = {
      memory: new Uint8Array(buffer),
      labels: new Float64Array(buffer, labels, rows),
      rows: {
        indices: new Int32Array(buffer, indices, entries),
        values: new Float32Array(buffer, values, entries),
      },
      texts: options.textLabels ? new Numbering() : undefined,
      base: options.zeroBased ? 0 : 1,
      sumDuplicates: options.sumDuplicates ?? false,
      largest: -1,
    };
    this.#reading = reading;
    const { base, texts } = reading;
    const start = bytes.byteOffset;
    const arrays = [powersAt, indices, values, labels, offsets] as const;
    this.#module.parse(start, start + bytes.length, ...arrays, base, texts ? 1 : 0);
    const rowOffsets = new Int32Array(buffer, offsets, rows + 1);
    const part = { ...reading.rows, labels: reading.labels, rowOffsets };
    return {
      ...sharedPart(part, this.#module.rows.value),
      maxIndex: Math.max(reading.largest, this.#module.largest.value),
      lines: this.#line,
      qidLines: this.#module.qidLines.value,
      ...(texts && { labelTexts: texts.texts }),
    };
  }

  get #line(): number {
    return this.#module.line.value;
  }

  /** A pair and its blank take at least four bytes, a row and its line end two. */
  #places() {
    const entries = (this.#capacity >>> 2) + 1;
    const rows = (this.#capacity >>> 1) + 1;
    const labels = textAt + this.#capacity + lookAhead - (this.#capacity % 8);
    const indices = labels + 8 * rows;
    const values = indices + 4 * entries;
    const offsets = values + 4 * entries;
    return { entries, rows, labels, indices, values, offsets, end: offsets + 4 * (rows + 1) };
  }

  /** The text in this memory and with a last line end. */
  #inPlace(text: Uint8Array): Uint8Array {
    const whole = text.length === 0 || text[text.length - 1] === newline;
    if (whole && text.buffer === this.#memory.buffer) return text;
    const bytes = this.buffer(text.length + 1).subarray(0, text.length + (whole ? 0 : 1));
    bytes.set(text);
    if (!whole) bytes[text.length] = newline;
    return bytes;
  }

  #label(start: number, row: number): number {
    const { memory, labels, texts } = this.#reading!;
    const behind = texts
      ? scanLabelText(memory, start, texts, labels, row)
      : scanFloat64(memory, start, labels, row);
    if (behind !== malformed) return behind;
    throw new LineError(this.#line, texts ? notUtf8 : labelError(memory, start));
  }

  #order(from: number, end: number): number {
    const { rows, base, sumDuplicates } = this.#reading!;
    const row: RowEntries = { ...rows, entries: end, line: this.#line };
    const largest = normalizeRow(row, from, base, sumDuplicates);
    this.#reading!.largest = Math.max(this.#reading!.largest, largest);
    return row.entries;
  }
}

const newline = 10;

let reader: TextReader | undefined;

function textReader(): TextReader {
  reader ??= new TextReader();
  return reader;
}

/** Memory for text that `readLibsvm` then reads where it is; undefined if it is too long for that. */
export function textBuffer(length: number): Uint8Array<ArrayBuffer> | undefined {
  return length < longestText ? textReader().buffer(length) : undefined;
}

/** The same as `parseLibsvm`, in WebAssembly. */
export function readLibsvm(text: Uint8Array, options: ParseOptions = {}): ParsedChunk {
  if (options.float64 || text.length + 1 >= longestText) return parseLibsvm(text, options);
  return textReader().parse(text, options);
}

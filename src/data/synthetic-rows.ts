import { exp, log } from '../math/elementary.ts';
import { type Random, stream } from '../math/random.ts';
import { grown } from './dataset.ts';
import type { ScaledShape } from './shapes.ts';
import { writeWhole } from './text/write.ts';

/** The r of p_k ∝ 1/(k + r): how many columns share the top of the frequency curve. */
const flatTop = 20;

/** Streams of the seed. */
const columnStream = 0x6e01;
const partStreams = { train: 0x6e02, test: 0x6e03 };

export type PartName = keyof typeof partStreams;

/**
 * Makes the rows of a data set one after the other, in memory O(d).
 *
 * Columns have Zipf–Mandelbrot frequencies p_k ∝ log(1 + 1/(k + r)) and planted weights
 * w_k ~ N(0, s²). A row takes its class y first, then n distinct columns, drawn with
 * probability p_k and accepted with probability min(1, exp(y w_k)), so that w_k is what the column
 * adds to the log odds of the class. The values are larger for rarer columns and scaled to a unit
 * row. Last, some labels are flipped.
 */
export class SyntheticRows {
  /** The columns and values of the current row, in ascending order of column. */
  readonly indices: Int32Array;
  readonly #shape: ScaledShape;
  readonly #random: Random;
  /** By frequency rank: the column, and the probabilities of accepting it in a row of a class. */
  readonly #columns: Int32Array;
  readonly #acceptNegative: Float32Array;
  readonly #acceptPositive: Float32Array;
  /** By column: the last row that has it, and its value there. */
  readonly #lastRow: Int32Array;
  readonly #values: Float32Array;
  readonly #logRange: number;
  #row = 0;
  length = 0;
  label = 0;

  constructor(shape: ScaledShape, seed: number, part: PartName) {
    const { columns } = shape;
    this.#shape = shape;
    this.#random = stream(seed, partStreams[part]);
    this.#logRange = log((columns + flatTop) / flatTop);
    this.indices = new Int32Array(columns >> 1);
    this.#lastRow = new Int32Array(columns);
    this.#values = new Float32Array(columns);
    this.#acceptNegative = new Float32Array(columns);
    this.#acceptPositive = new Float32Array(columns);
    this.#columns = Int32Array.from({ length: columns }, (_, rank) => rank);
    this.#plant(stream(seed, columnStream));
  }

  #plant(random: Random): void {
    const { columns, perRow, separation } = this.#shape;
    random.shuffle(this.#columns, columns);
    // Each class moves the mean of Σ w over n columns by about n s²/2, in units of √n s.
    const deviation = (2 * separation) / Math.sqrt(perRow);
    for (let rank = 0; rank < columns; rank += 1) {
      const weight = deviation * random.normal();
      this.#acceptPositive[rank] = exp(Math.min(0, weight));
      this.#acceptNegative[rank] = exp(Math.min(0, -weight));
    }
  }

  /** Value of a column in the current row. */
  value(column: number): number {
    return this.#values[column];
  }

  next(): void {
    const random = this.#random;
    this.#row += 1;
    // Even the smallest part has both classes, and its last column is there to be counted.
    const certain = this.#row <= 2;
    const positive = certain ? this.#row === 1 : random.uniform() < this.#shape.positive;
    this.length = this.#rowLength();
    this.#drawColumns(positive ? this.#acceptPositive : this.#acceptNegative, certain);
    this.#normalise();
    this.indices.subarray(0, this.length).sort();
    const flipped = !certain && random.uniform() < this.#shape.noise;
    this.label = positive !== flipped ? 1 : -1;
  }

  #rowLength(): number {
    const { perRow, spread } = this.#shape;
    const factor = spread === 0 ? 1 : exp(spread * this.#random.normal() - (spread * spread) / 2);
    // The fraction decides by chance, so that the mean comes out right.
    const length = Math.floor(perRow * factor + this.#random.uniform());
    return Math.min(Math.max(length, 1), this.indices.length);
  }

  #drawColumns(acceptance: Float32Array, withLast: boolean): void {
    const random = this.#random;
    const { columns, binary } = this.#shape;
    const last = columns - 1;
    let filled = 0;
    if (withLast) filled = this.#take(last, 1, filled);
    while (filled < this.length) {
      // The inverse of the distribution function log((k + r)/r) / log((d + r)/r).
      const depth = random.uniform() * this.#logRange;
      const rank = Math.min(Math.floor(flatTop * exp(depth) - flatTop), last);
      const column = this.#columns[rank];
      if (this.#lastRow[column] === this.#row) continue;
      if (random.uniform() >= acceptance[rank]) continue;
      const rarity = binary ? 1 : (4 + depth) * (0.5 + random.uniform());
      filled = this.#take(column, rarity, filled);
    }
  }

  #take(column: number, value: number, filled: number): number {
    this.#lastRow[column] = this.#row;
    this.#values[column] = value;
    this.indices[filled] = column;
    return filled + 1;
  }

  #normalise(): void {
    let square = 0;
    for (let entry = 0; entry < this.length; entry += 1) {
      square += this.#values[this.indices[entry]] ** 2;
    }
    const factor = 1 / Math.sqrt(square);
    for (let entry = 0; entry < this.length; entry += 1) {
      this.#values[this.indices[entry]] *= factor;
    }
  }
}

/** Bytes of a label, and of one pair at most: a blank, ten digits, a colon and a value. */
const labelBytes = 3;
const pairBytes = 32;

const significantDigits = 6;
const powers = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/** Builds LIBSVM text in a buffer: a string per number would take most of the time. */
export class RowText {
  #bytes: Uint8Array<ArrayBuffer>;
  length = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  /** The text so far, valid until the next row, which reuses the memory. */
  take(): Uint8Array<ArrayBuffer> {
    const text = this.#bytes.subarray(0, this.length);
    this.length = 0;
    return text;
  }

  startRow(label: number, pairs: number): void {
    const needed = this.length + labelBytes + pairs * pairBytes;
    if (needed > this.#bytes.length) this.#bytes = grown(this.#bytes, 2 * needed);
    this.#byte(label > 0 ? 43 : 45);
    this.#byte(49);
  }

  /** A 1-based index and a value in (0, 1], with at most six significant digits. */
  pair(index: number, value: number): void {
    this.#byte(32);
    this.length = writeWhole(this.#bytes, this.length, index, 1);
    this.#byte(58);
    let decimals = significantDigits;
    while (decimals < 20 && value * powers[decimals - significantDigits + 1] < 1) decimals += 1;
    let mantissa = Math.round(value * powers[decimals]);
    if (mantissa === 0 || mantissa >= powers[decimals]) {
      this.#byte(mantissa === 0 ? 48 : 49);
      return;
    }
    while (mantissa % 10 === 0) {
      mantissa /= 10;
      decimals -= 1;
    }
    this.#byte(48);
    this.#byte(46);
    this.length = writeWhole(this.#bytes, this.length, mantissa, decimals);
  }

  endRow(): void {
    this.#byte(10);
  }

  #byte(byte: number): void {
    this.#bytes[this.length++] = byte;
  }
}

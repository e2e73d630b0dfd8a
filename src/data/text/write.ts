import { DataError } from '../../errors.ts';
import type { OutputFile } from '../../files.ts';
import type { DatasetPart } from '../dataset.ts';
import { largestIndex } from '../read/line-error.ts';

/*
 * Floats to the shortest decimals that read back as the same float, straight into bytes.
 *
 * A decimal of up to six digits survives float32, and no two of them share one (for numbers that
 * are not subnormal); nine digits distinguish any two float32. So it is enough to round to six,
 * seven, eight and nine digits and to look which comes back first.
 */

/** Bytes that any number written here may take. */
export const numberBytes = 160;

const powers = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
const fewestDigits = 6;
const mostDigits = 9;
/** Between these a float32 is written without an exponent, computed with whole numbers. */
const smallestPlain = 1e-6;
const largestPlain = 1e6;

/** What `findDecimal` found: digits / 10^decimals. */
const found = { digits: 0, decimals: 0 };

/**
 * The shortest decimal of a float32 in [1e-6, 1e6); false for others and, hardly ever, where nine
 * digits computed in float64 do not come back. digits < 10^10 and 10^decimals, decimals ≤ 15, are
 * exact, so their float64 quotient is the one nearest to the decimal, and it rounds to the float32
 * nearest to the decimal unless it is exactly in the middle of two.
 */
function findDecimal(magnitude: number): boolean {
  if (!(magnitude >= smallestPlain && magnitude < largestPlain)) return false;
  let decimals = 0;
  while (magnitude * powers[decimals] < 1e5) decimals += 1;
  for (let extra = 0; extra <= mostDigits - fewestDigits; extra += 1) {
    const digits = Math.round(magnitude * powers[decimals + extra]);
    const quotient = digits / powers[decimals + extra];
    if (Math.fround(quotient) !== magnitude || isMiddle(quotient)) continue;
    found.digits = digits;
    found.decimals = decimals + extra;
    while (found.decimals > 0 && found.digits % 10 === 0) {
      found.digits /= 10;
      found.decimals -= 1;
    }
    return true;
  }
  return false;
}

/** Any float32, as the float64 nearest to its shortest decimal. */
function roundedFloat32(value: number): number {
  for (let digits = 1; digits < mostDigits; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value && !isMiddle(rounded)) return rounded;
  }
  return Number(value.toPrecision(mostDigits));
}

/** Whether a float64 is in the middle of two float32: further digits decide between them. */
export function isMiddle(value: number): boolean {
  const nearest = Math.fround(value);
  const mirrored = 2 * value - nearest;
  return nearest !== value && Math.fround(mirrored) === mirrored;
}

/**
 * Whether a decimal survives as the float32 nearest to it: `float64` is the float64 nearest to the
 * decimal, `value` the float32, and the shortest decimal of `value` has to be the same number.
 */
export function survives(float64: number, value: number): boolean {
  if (float64 === value) return true;
  const magnitude = Math.abs(value);
  if (!findDecimal(magnitude)) return roundedFloat32(value) === float64;
  return found.digits / powers[found.decimals] === Math.abs(float64);
}

/** Writes the number at `start` and returns the position behind it. */
export function writeFloat32(bytes: Uint8Array, start: number, value: number): number {
  if (!findDecimal(Math.abs(value))) return writeText(bytes, start, String(roundedFloat32(value)));
  let position = start;
  if (value < 0) bytes[position++] = 45;
  const { digits, decimals } = found;
  if (decimals === 0) return writeWhole(bytes, position, digits, 1);
  const whole = Math.floor(digits / powers[decimals]);
  position = writeWhole(bytes, position, whole, 1);
  bytes[position++] = 46;
  return writeWhole(bytes, position, digits - whole * powers[decimals], decimals);
}

/**
 * A float64 whose decimal also rounds to the same float32. A number in the middle of two float32 is
 * written with all of its digits: the shortest decimal may be on either side of it.
 */
export function writeFloat64(bytes: Uint8Array, start: number, value: number): number {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) {
    const position = value < 0 ? start + 1 : start;
    if (value < 0) bytes[start] = 45;
    return writeWhole(bytes, position, Math.abs(value), 1);
  }
  return writeText(bytes, start, isMiddle(value) ? exactText(value) : String(value));
}

function exactText(value: number): string {
  let whole = value;
  let halvings = 0;
  while (!Number.isInteger(whole)) {
    whole *= 2;
    halvings += 1;
  }
  return `${BigInt(whole) * 5n ** BigInt(halvings)}e-${halvings}`;
}

/** A whole number, padded with zeros on the left to at least `width` digits. */
export function writeWhole(bytes: Uint8Array, start: number, value: number, width: number): number {
  let count = width;
  while (value >= powers[count]) count += 1;
  let rest = value;
  for (let position = start + count - 1; position >= start; position -= 1) {
    const tens = Math.floor(rest / 10);
    bytes[position] = 48 + rest - 10 * tens;
    rest = tens;
  }
  return start + count;
}

function writeText(bytes: Uint8Array, start: number, text: string): number {
  for (let letter = 0; letter < text.length; letter += 1) {
    bytes[start + letter] = text.charCodeAt(letter);
  }
  return start + text.length;
}

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
  /** Whether rows had weights, which LIBSVM text cannot hold. */
  leavesWeights = false;

  constructor(file: OutputFile, { zeroBased = false }: { readonly zeroBased?: boolean } = {}) {
    this.#file = file;
    this.#base = zeroBased ? 0 : 1;
  }

  async add(part: DatasetPart, float64?: Float64Array): Promise<void> {
    const { labels, rowOffsets } = part;
    this.leavesWeights ||= part.weights?.some((weight) => weight !== 1) ?? false;
    for (let row = 0; row < labels.length; row += 1) {
      if (this.#rows > 0) this.#bytes[this.#length++] = newline;
      this.#rows += 1;
      if (this.#length >= blockBytes) await this.#flush();
      this.#length = writeFloat64(this.#bytes, this.#length, labels[row]);
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; ) {
        if (this.#length >= blockBytes) await this.#flush();
        entry = this.#pairs(part, float64, entry, rowOffsets[row + 1]);
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
  #pairs(part: DatasetPart, float64: Float64Array | undefined, entry: number, end: number): number {
    const { indices, values } = part;
    const bytes = this.#bytes;
    const base = this.#base;
    let length = this.#length;
    let next = entry;
    while (next < end && length < blockBytes) {
      bytes[length++] = blank;
      length = writeWhole(bytes, length, indices[next] + base, 1);
      bytes[length++] = colon;
      length = float64
        ? writeFloat64(bytes, length, float64[next])
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

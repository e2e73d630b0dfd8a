/** Room for a label, or for one pair: a blank, ten digits, a colon and a value. */
const labelBytes = 3;
const pairBytes = 32;

const significantDigits = 6;
const powers = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/**
 * Builds LIBSVM text in a buffer of its own, without a string per number: at tens of millions of
 * numbers those would take most of the time.
 */
export class RowText {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(size);
  }

  get length(): number {
    return this.#length;
  }

  /** The text so far, valid until the next row starts an empty one in the same place. */
  take(): Uint8Array<ArrayBuffer> {
    const text = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return text;
  }

  startRow(label: number, pairs: number): void {
    const needed = this.#length + labelBytes + pairs * pairBytes;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(2 * needed);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#byte(label > 0 ? 43 : 45);
    this.#byte(49);
  }

  /** A 1-based index and a value in (0, 1], with at most six significant digits. */
  pair(index: number, value: number): void {
    this.#byte(32);
    this.#digits(index, 1);
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
    this.#digits(mantissa, decimals);
  }

  endRow(): void {
    this.#byte(10);
  }

  #byte(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  /** A whole number, padded with zeros on the left to at least `width` digits. */
  #digits(number: number, width: number): void {
    let count = width;
    while (count < 10 && number >= powers[count]) count += 1;
    let rest = number;
    for (let place = this.#length + count - 1; place >= this.#length; place -= 1) {
      const tens = (rest / 10) | 0;
      this.#bytes[place] = 48 + rest - 10 * tens;
      rest = tens;
    }
    this.#length += count;
  }
}

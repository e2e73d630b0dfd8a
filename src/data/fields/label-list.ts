import { DataError } from '../../errors.ts';
import { hashName } from '../../math/murmur.ts';
import { quote } from '../read/line-error.ts';
import { labelText } from './row-builder.ts';

/** The labels of all rows: numbers until the first text, from then on positions in a list of texts. */
export class LabelList {
  readonly #places = new Map<string, number>();
  /** Labels that were handed on as numbers. */
  #numbers: Float64Array[] = [];
  #areTexts: boolean;
  readonly #numbersOnly: boolean;

  /** With names, labels are texts from the start, the names first. `numbersOnly` refuses texts. */
  constructor(names?: readonly string[], textLabels = false, numbersOnly = false) {
    this.#areTexts = !numbersOnly && (names !== undefined || textLabels);
    this.#numbersOnly = numbersOnly;
    for (const name of names ?? []) this.#placeOf(name);
  }

  get areTexts(): boolean {
    return this.#areTexts;
  }

  get names(): readonly string[] | undefined {
    return this.#areTexts ? [...this.#places.keys()] : undefined;
  }

  /** Rewrites the labels of the next rows, and with the first text those of all rows before. */
  add(labels: Float64Array, texts?: readonly string[]): void {
    if (texts) {
      this.#turn(texts);
      const places = texts.map((text) => this.#placeOf(text));
      for (let row = 0; row < labels.length; row += 1) labels[row] = places[labels[row]];
    } else if (this.#areTexts) this.#retell(labels);
    else if (!this.#numbersOnly) this.#numbers.push(labels);
  }

  #turn(texts: readonly string[]): void {
    const text = texts.find((one) => Number.isNaN(Number(one)) || one === '') ?? texts[0];
    if (this.#numbersOnly && text !== undefined) {
      throw new DataError(
        `label ${quote(text)} is not a number; .dsob and LIBSVM files are written with numbers alone`,
      );
    }
    this.#areTexts = true;
    for (const labels of this.#numbers) this.#retell(labels);
    this.#numbers = [];
  }

  #retell(labels: Float64Array): void {
    for (let row = 0; row < labels.length; row += 1) {
      labels[row] = this.#placeOf(labelText(labels[row]));
    }
  }

  #placeOf(text: string): number {
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.#places.size);
    return this.#places.size - 1;
  }
}

/** Up to this many names are counted exactly. */
const mostKept = 1 << 16;

/** Counts distinct names in bounded memory: stores those with a fingerprint divisible by `#step`. */
export class DistinctCount {
  readonly #kept = new Set<number>();
  #step = 1;

  add(name: string): void {
    const low = hashName(name, 1);
    if (low % this.#step !== 0) return;
    // 52 bits suffice to distinguish them.
    this.#kept.add(low + (hashName(name, 2) >>> 12) * 2 ** 32);
    while (this.#kept.size > mostKept) this.#thin();
  }

  #thin(): void {
    this.#step *= 2;
    for (const fingerprint of this.#kept) {
      if (fingerprint % this.#step !== 0) this.#kept.delete(fingerprint);
    }
  }

  get exact(): boolean {
    return this.#step === 1;
  }

  /** To within about one percent, where it is not exact. */
  get count(): number {
    return this.#kept.size * this.#step;
  }
}

import { DataError } from '../../errors.ts';
import { hashName } from '../../math/murmur.ts';
import { quote } from '../read/line-error.ts';

/** Numbers texts from 0, in the order in which they appear. */
export class Numbering {
  readonly #numbers = new Map<string, number>();

  get texts(): string[] {
    return [...this.#numbers.keys()];
  }

  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** How a label that is a number is written where others are texts. */
export function labelText(label: number): string {
  return Number.isNaN(label) ? '' : `${label}`;
}

/** The labels of all rows: numbers until the first text, from then on positions in a list of texts. */
export class LabelList {
  readonly #texts = new Numbering();
  /** Labels that were passed on as numbers. */
  #numbers: Float64Array[] = [];
  #areTexts: boolean;
  readonly #numbersOnly: boolean;

  /** With names, labels are texts from the start, the names first. `numbersOnly` rejects texts. */
  constructor(names?: readonly string[], textLabels = false, numbersOnly = false) {
    this.#areTexts = !numbersOnly && (names !== undefined || textLabels);
    this.#numbersOnly = numbersOnly;
    for (const name of names ?? []) this.#texts.of(name);
  }

  get names(): readonly string[] | undefined {
    return this.#areTexts ? this.#texts.texts : undefined;
  }

  /** Rewrites the labels of the next rows, and with the first text those of all rows before. */
  add(labels: Float64Array, texts?: readonly string[]): void {
    if (texts) {
      this.#switchToTexts(texts);
      const numbers = texts.map((text) => this.#texts.of(text));
      for (let row = 0; row < labels.length; row += 1) labels[row] = numbers[labels[row]];
    } else if (this.#areTexts) this.#numberTexts(labels);
    else if (!this.#numbersOnly) this.#numbers.push(labels);
  }

  #switchToTexts(texts: readonly string[]): void {
    const text = texts.find((one) => Number.isNaN(Number(one)) || one === '') ?? texts[0];
    if (this.#numbersOnly && text !== undefined) {
      throw new DataError(
        `label ${quote(text)} is not a number; .dsob and LIBSVM files are written with numbers alone`,
      );
    }
    this.#areTexts = true;
    for (const labels of this.#numbers) this.#numberTexts(labels);
    this.#numbers = [];
  }

  #numberTexts(labels: Float64Array): void {
    for (let row = 0; row < labels.length; row += 1) {
      labels[row] = this.#texts.of(labelText(labels[row]));
    }
  }
}

/** Up to this many names are counted exactly. */
const mostStored = 1 << 16;

/** Counts distinct names in bounded memory: stores those with a fingerprint divisible by `#step`. */
export class DistinctCount {
  readonly #stored = new Set<number>();
  #step = 1;

  add(name: string): void {
    const low = hashName(name, 1);
    if (low % this.#step !== 0) return;
    // 52 bits suffice to distinguish them.
    this.#stored.add(low + (hashName(name, 2) >>> 12) * 2 ** 32);
    while (this.#stored.size > mostStored) this.#thin();
  }

  #thin(): void {
    this.#step *= 2;
    for (const fingerprint of this.#stored) {
      if (fingerprint % this.#step !== 0) this.#stored.delete(fingerprint);
    }
  }

  get exact(): boolean {
    return this.#step === 1;
  }

  /** To within about one percent, where it is not exact. */
  get count(): number {
    return this.#stored.size * this.#step;
  }
}

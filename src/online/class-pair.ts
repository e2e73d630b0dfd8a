import type { Label } from '../data/labels.ts';
import { DataError } from '../errors.ts';

/** The two classes of a stream, found on the way. */
export class ClassPair {
  /** In the order they were met, which is also +1 and −1. */
  readonly #labels: Label[] = [];
  #isReversed = false;

  /** +1 for the label that came first, −1 for the other one; `row` counts from 1. */
  targetOf(label: Label, row: number): 1 | -1 {
    const place = this.#labels.findIndex((known) => String(known) === String(label));
    if (place >= 0) {
      // A number that is met as a text too is a text.
      if (typeof label === 'string') this.#set(place, label);
      return place === 0 ? 1 : -1;
    }
    if (this.#labels.length === 2) {
      const [first, second] = this.#labels.map(shown);
      throw new DataError(
        `row ${row} has label ${shown(label)}, the third after ${first} and ${second}; a stream is told into two classes (a regression loss, as --loss square, takes any number)`,
      );
    }
    this.#set(this.#labels.length, label);
    return this.#labels.length === 1 ? 1 : -1;
  }

  #set(place: number, label: Label): void {
    this.#labels[place] = label;
    this.#isReversed = this.count === 2 && String(this.classes[0]) === String(this.#labels[0]);
  }

  /** How many have been met. */
  get count(): number {
    return this.#labels.length;
  }

  /** As a model has them: numbers ascend, texts are in the order of code units. */
  get classes(): readonly [Label, Label] {
    const [first, second] = this.#labels;
    if (typeof first === 'number' && typeof second === 'number') {
      return first < second ? [first, second] : [second, first];
    }
    const [left, right] = [String(first), String(second)];
    return left < right ? [left, right] : [right, left];
  }

  /** Whether the label that came first is the model's negative class. */
  get isReversed(): boolean {
    return this.#isReversed;
  }

  /** What there is to say of a stream that ended with fewer than two. */
  get complaint(): string {
    const found = this.count === 0 ? 'no labels' : `all labels are ${this.#labels[0]}`;
    return `${found}; classification wants two classes`;
  }
}

/** A text in quotes: it may hold commas and line ends. */
function shown(label: Label): string {
  return typeof label === 'string' ? JSON.stringify(label) : String(label);
}

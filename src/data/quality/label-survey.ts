import { CompensatedSum } from '../../math/sum.ts';

export interface LabelShare {
  /** As the input wrote it. */
  readonly label: number | string;
  readonly count: number;
  readonly share: number;
}

export interface LabelQuality {
  /** Different labels; null if there are more than a thousand numbers. */
  readonly distinct: number | null;
  /** The most frequent ones, at most 20, of equally frequent ones the smaller first. */
  readonly top: readonly LabelShare[];
  /** Of labels that are numbers. */
  readonly range?: { readonly smallest: number; readonly largest: number; readonly mean: number };
}

export interface WeightQuality {
  readonly sum: number;
  readonly smallest: number;
  readonly largest: number;
  /** Rows of weight 0, which count for nothing. */
  readonly zeros: number;
}

const mostNumbers = 1000;
const mostShown = 20;

/** Counts the labels of rows. */
export class LabelSurvey {
  readonly #names: readonly string[] | undefined;
  readonly #counts = new Map<number, number>();
  readonly #sum = new CompensatedSum();
  #tooMany = false;
  #rows = 0;
  #smallest = Number.POSITIVE_INFINITY;
  #largest = Number.NEGATIVE_INFINITY;

  constructor(names?: readonly string[]) {
    this.#names = names;
  }

  add(labels: Float64Array): void {
    this.#rows += labels.length;
    for (const label of labels) {
      this.#sum.add(label);
      if (label < this.#smallest) this.#smallest = label;
      if (label > this.#largest) this.#largest = label;
      if (!this.#tooMany) this.#count(label);
    }
  }

  #count(label: number): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
    // Names are kept anyway; measured numbers may be as many as there are rows.
    this.#tooMany = this.#names === undefined && this.#counts.size > mostNumbers;
  }

  quality(): LabelQuality {
    const counted = this.#tooMany ? [] : [...this.#counts];
    counted.sort(([left, ours], [right, theirs]) => theirs - ours || left - right);
    const top = counted.slice(0, mostShown).map(([label, count]) => ({
      label: this.#names?.[label] ?? label,
      count,
      share: count / this.#rows,
    }));
    const distinct = this.#tooMany ? null : counted.length;
    if (this.#names || this.#rows === 0) return { distinct, top };
    const mean = this.#sum.total / this.#rows;
    return { distinct, top, range: { smallest: this.#smallest, largest: this.#largest, mean } };
  }
}

/** Adds up the weights of rows; a row without one has weight 1. */
export class WeightSurvey {
  readonly #sum = new CompensatedSum();
  #given = false;
  #smallest = Number.POSITIVE_INFINITY;
  #largest = Number.NEGATIVE_INFINITY;
  #zeros = 0;

  add(weights: Float64Array | undefined, rows: number): void {
    if (weights) this.#given = true;
    for (let row = 0; row < rows; row += 1) {
      const weight = weights ? weights[row] : 1;
      this.#sum.add(weight);
      if (weight < this.#smallest) this.#smallest = weight;
      if (weight > this.#largest) this.#largest = weight;
      if (weight === 0) this.#zeros += 1;
    }
  }

  /** Undefined if no row has a weight. */
  quality(): WeightQuality | undefined {
    if (!this.#given) return undefined;
    const { total: sum } = this.#sum;
    return { sum, smallest: this.#smallest, largest: this.#largest, zeros: this.#zeros };
  }
}

import { gibibytes, machineMemory } from '../../engine/memory.ts';
import { DataError } from '../../errors.ts';
import { decayed } from '../../math/decay.ts';
import type { Loss } from '../../problem/losses/loss.ts';

/** The numbers of a column, one behind the other. */
const slot = {
  /** v_j: the weight in units of the largest value of the column. */
  weight: 0,
  /** G_j: the sum of squared gradients. */
  squares: 1,
  /** The length of its last step, in units of its gradient. */
  rate: 2,
  /** When the penalty was last applied. */
  seen: 3,
  /** N_j: the largest |x_ij| so far. */
  largest: 4,
} as const;
const stride = 5;

/** How far a step may change a score, roughly, in units of the labels. */
const defaultStep = 0.5;

export interface LearnerSettings {
  readonly loss: Loss;
  readonly penalty: { readonly l1: number; readonly l2: number };
  readonly lambda: number;
  /** η; default 0.5. */
  readonly stepSize?: number;
  /** Default: false. */
  readonly intercept?: boolean;
}

/** One row: the entries `from` … `to` − 1 of its part, columns ascending. */
export interface OnlineRow {
  readonly indices: Int32Array;
  readonly values: Float32Array;
  readonly from: number;
  readonly to: number;
  /** −1 or +1, or in regression the label. */
  readonly target: number;
  /** c_i, how much it counts. */
  readonly weight: number;
}

/**
 * Stochastic gradient descent on rows that come once and are not stored, towards the minimum of
 *
 *   λ Σ_j φ(w_j) + (1/Σ c_i) Σ c_i ℓ(⟨w, x_i⟩, y_i).
 *
 * Nothing is known of rows to come, so steps fit the scale of what has been seen: weights are stored
 * as v_j = w_j N_j with N_j the largest |x_ij| so far, and a larger value shrinks the weight. With
 * z = x_ij / N_j and the slope s = c_i ℓ' a row makes the AdaGrad step
 *
 *   G_j += (s z)²,   v_j −= η Y / √n · (s z) / √G_j,
 *
 * n being the non-zeros per row and Y the root mean square of the labels, both so far; Y is 1 in
 * classification and where the score is a logarithm. The penalty works lazily: a weight has followed
 * its flow for the rows it has missed, at the rate of its last step.
 */
export class OnlineLearner {
  readonly #settings: Required<LearnerSettings>;
  readonly #scaled: boolean;
  /** The intercept, then the columns. */
  #lines = new Float64Array(stride * 1024);
  /** The largest column with a non-zero, + 1. */
  columns = 0;
  /** Rows learned from so far. */
  rows = 0;
  #nonzeros = 0;
  #totalWeight = 0;
  #labelSquares = 0;

  constructor(settings: LearnerSettings) {
    const { loss } = settings;
    this.#settings = { stepSize: defaultStep, intercept: false, ...settings };
    this.#scaled = loss.task === 'regression' && loss.link === 'identity';
    this.#lines[slot.largest] = 1;
  }

  get intercept(): number {
    return this.#lines[slot.weight];
  }

  /** Learns from a row, and returns the score that it had before. */
  learn(row: OnlineRow): number {
    const { loss } = this.#settings;
    const { indices, from, to, target, weight } = row;
    if (to > from) this.#reserve(indices[to - 1] + 1);
    const score = this.#score(row);
    const slope = weight === 0 ? 0 : weight * loss.derivative(score, target, loss.parameter);
    // The sums of their squares must stay finite.
    if (!Number.isFinite(score) || !Number.isFinite(slope * slope + weight * target * target)) {
      throw new DataError(
        `row ${this.rows + 1} has label ${target} and score ${score}: too large to learn from (a smaller --step-size may help)`,
      );
    }
    this.rows += 1;
    this.#nonzeros += to - from + (this.#settings.intercept ? 1 : 0);
    this.#totalWeight += weight;
    this.#labelSquares += weight * target * target;
    if (slope !== 0) this.#step(row, slope);
    return score;
  }

  /** w_j of the first `columns` columns as they are now. The learner does not change. */
  weights(columns: number): Float64Array {
    const weights = new Float64Array(columns);
    for (let column = 0; column < Math.min(columns, this.columns); column += 1) {
      const at = stride * (column + 1);
      const largest = this.#lines[at + slot.largest];
      if (largest > 0) weights[column] = this.#current(at) / largest;
    }
    return weights;
  }

  /** v_j after the penalty of the rows that the column has missed. */
  #current(at: number): number {
    const lines = this.#lines;
    const weight = lines[at];
    if (weight === 0) return 0;
    const { penalty, lambda } = this.#settings;
    const missed = lines[at + slot.rate] * (this.#totalWeight - lines[at + slot.seen]);
    const largest = lines[at + slot.largest];
    const l1 = (lambda * penalty.l1) / largest;
    const l2 = (lambda * penalty.l2) / (largest * largest);
    return decayed(weight, missed, l1, l2);
  }

  /** Columns of the row are brought up to date on the way, weights and scales. */
  #score({ indices, values, from, to }: OnlineRow): number {
    const lines = this.#lines;
    let score = this.#settings.intercept ? lines[slot.weight] : 0;
    for (let entry = from; entry < to; entry += 1) {
      const at = stride * (indices[entry] + 1);
      const size = Math.abs(values[entry]);
      lines[at] = this.#current(at);
      lines[at + slot.seen] = this.#totalWeight;
      if (size > lines[at + slot.largest]) lines[at + slot.largest] = size;
      if (size > 0) score += lines[at] * (values[entry] / lines[at + slot.largest]);
    }
    return score;
  }

  #step({ indices, values, from, to }: OnlineRow, slope: number): void {
    const scale = this.#scaled ? Math.sqrt(this.#labelSquares / this.#totalWeight) : 1;
    const length = Math.max(1, this.#nonzeros / this.rows);
    const base = (this.#settings.stepSize * scale) / Math.sqrt(length);
    if (this.#settings.intercept) this.#move(0, slope, base);
    for (let entry = from; entry < to; entry += 1) {
      if (values[entry] === 0) continue;
      const at = stride * (indices[entry] + 1);
      this.#move(at, slope * (values[entry] / this.#lines[at + slot.largest]), base);
    }
  }

  #move(at: number, gradient: number, base: number): void {
    const lines = this.#lines;
    const squares = lines[at + slot.squares] + gradient * gradient;
    // If the squares underflow to 0, the weight stays as it is.
    if (!(squares > 0)) return;
    const rate = base / Math.sqrt(squares);
    lines[at + slot.squares] = squares;
    lines[at + slot.rate] = rate;
    lines[at] -= rate * gradient;
  }

  #reserve(columns: number): void {
    if (columns <= this.columns) return;
    this.columns = columns;
    const needed = stride * (columns + 1);
    if (needed <= this.#lines.length) return;
    const length = Math.max(needed, 2 * this.#lines.length);
    // Both arrays exist while it grows; a model takes some more.
    const bytes = 16 * length;
    if (bytes > machineMemory()) {
      throw new DataError(
        `row ${this.rows + 1} has column ${columns}: that needs ${gibibytes(bytes)}; this machine has ${gibibytes(machineMemory())} (--hash BITS limits the columns of named features)`,
      );
    }
    const grown = new Float64Array(length);
    grown.set(this.#lines);
    this.#lines = grown;
  }
}

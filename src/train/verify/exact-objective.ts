import type { DatasetPart } from '../../data/dataset.ts';
import {
  absolute,
  add,
  compare,
  type DoubleDouble,
  DoubleDoubleSums,
  divide,
  exact,
  greatest,
  infinity,
  least,
  multiply,
  negate,
  one,
  product,
  subtract,
  toNumber,
  zero,
} from '../../math/double-double.ts';
import { log } from '../../math/elementary.ts';
import { doubleLossOf, type ExactLoss, exactLossOf } from '../../problem/exact-losses.ts';
import { isOfResidual, type Loss } from '../../problem/losses/loss.ts';
import type { Penalty } from '../../problem/penalties/index.ts';

export interface ExactProblem {
  readonly columns: number;
  /** All rows in their order, as often as asked for. */
  readonly scan: () => Iterable<DatasetPart>;
  /** Of one vector: ±1 in classification. */
  readonly labels: Float64Array;
  /** c_i; 1 where absent. */
  readonly rowWeights?: Float64Array | undefined;
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly lambda: number;
  /** f_j; 1 where absent. */
  readonly factors?: Float64Array | undefined;
  readonly intercept: boolean;
}

/** A product less what it may have lost where it is not a normal number. */
function rounded(x: DoubleDouble): DoubleDouble {
  return x.hi < 1e-290 ? greatest(zero, subtract(x, exact(2 ** -1072))) : x;
}

/** w_j = weights[j] · divisors[j]: what the columns were divided by for training, if they were. */
export interface ExactWeights {
  readonly weights: Float64Array;
  readonly divisors?: Float64Array | undefined;
  readonly intercept: number;
}

/** P, and by how much the same sum in doubles may differ from it. */
export interface ExactPrimal {
  readonly value: DoubleDouble;
  readonly rounding: number;
  /** ⟨w, x_i⟩ + b, rounded. */
  readonly margins: Float64Array;
}

const roundingUnit = 2 ** -52;
/** What doubles may lose below the least of them. */
const underflow = 1e-305;
const half = exact(0.5);

/**
 * P(w) and D(α) in double-double arithmetic, straight from the formulas of docs/mathematics.md, row
 * after row. Shares no code with the objective that training uses: this one checks it.
 */
export class ExactObjective {
  readonly #problem: ExactProblem;
  readonly #loss: ExactLoss;
  readonly #totalWeight: DoubleDouble;

  constructor(problem: ExactProblem) {
    this.#problem = problem;
    this.#loss = exactLossOf(problem.loss) ?? doubleLossOf(problem.loss);
    let total = zero;
    for (let i = 0; i < problem.labels.length; i++) total = add(total, exact(this.#weightOf(i)));
    this.#totalWeight = total;
  }

  #weightOf(row: number): number {
    return this.#problem.rowWeights?.[row] ?? 1;
  }

  /** λ f_j l1 or λ f_j l2, as `part` says. */
  #strength(column: number, part: number): DoubleDouble {
    const { lambda, factors } = this.#problem;
    return multiply(product(lambda, factors?.[column] ?? 1), exact(part));
  }

  /** Calls `visit` with the number and the entries of each row. */
  #forRows(visit: (row: number, part: DatasetPart, from: number, end: number) => void): void {
    let row = 0;
    for (const part of this.#problem.scan()) {
      for (let local = 0; local < part.labels.length; local++) {
        visit(row++, part, part.rowOffsets[local], part.rowOffsets[local + 1]);
      }
    }
  }

  primal(point: ExactWeights): ExactPrimal {
    const { labels, loss } = this.#problem;
    const margins = new Float64Array(labels.length);
    const interceptSize = this.#sizeInTraining(point.intercept);
    let losses = zero;
    let rounding = 0;
    let sizes = 0;
    this.#forRows((row, { indices, values }, from, end) => {
      let margin = exact(point.intercept);
      let size = interceptSize;
      for (let k = from; k < end; k++) {
        const term = multiply(this.#weightAt(point, indices[k]), exact(values[k]));
        margin = add(margin, term);
        size += Math.abs(term.hi);
      }
      margins[row] = toNumber(margin);
      const weight = this.#weightOf(row);
      if (weight === 0) return;
      const value = this.#loss.value(margin, labels[row], loss.parameter);
      losses = add(losses, multiply(exact(weight), value));
      sizes += weight * Math.abs(value.hi);
      rounding += weight * this.#lossRounding(margin, labels[row], size * (end - from + 8), value);
    });
    const penalty = this.#penaltyOf(point);
    const value = add(divide(losses, this.#totalWeight), penalty);
    // A custom loss may be negative: terms may cancel.
    const all = sizes / this.#totalWeight.hi + penalty.hi;
    const summing = roundingUnit * (labels.length + point.weights.length + 32) * all;
    const most = rounding / this.#totalWeight.hi + summing + underflow;
    return { value, rounding: most, margins };
  }

  /** |b|, less what was subtracted from labels far from 0, and so from b, while training. */
  #sizeInTraining(intercept: number): number {
    const { labels, loss } = this.#problem;
    const [low, high] = labels.reduce(
      ([from, to], y) => [Math.min(from, y), Math.max(to, y)],
      [Infinity, -Infinity],
    );
    const middle = low + (high - low) / 2;
    const isCentred = isOfResidual(loss) && Math.abs(middle) > high - low;
    return Math.abs(isCentred ? intercept - middle : intercept);
  }

  #weightAt({ weights, divisors }: ExactWeights, column: number): DoubleDouble {
    return divisors ? product(weights[column], divisors[column]) : exact(weights[column]);
  }

  /** How far off a loss may be in doubles; `size`: of the terms of its margin, times their number. */
  #lossRounding(u: DoubleDouble, y: number, size: number, value: DoubleDouble): number {
    const { loss } = this.#problem;
    const residual = Math.abs(u.hi - y);
    const argument = isOfResidual(loss) ? residual : 1 + Math.abs(u.hi) + Math.abs(y);
    const delta = exact(roundingUnit * (size + 8 * (argument + Math.abs(loss.parameter))));
    const at = (margin: DoubleDouble) => this.#loss.value(margin, y, loss.parameter);
    const most = greatest(at(add(u, delta)), at(subtract(u, delta)));
    let terms = Math.max(Math.abs(most.hi), Math.abs(value.hi));
    if (loss.link === 'log') terms += y * (1 + Math.abs(u.hi) + Math.abs(log(y || 1)));
    return Math.max(0, subtract(most, value).hi) + 16 * roundingUnit * terms;
  }

  #penaltyOf(point: ExactWeights): DoubleDouble {
    const { l1, l2, low = -Infinity, high = Infinity } = this.#problem.penalty;
    let sum = zero;
    for (let j = 0; j < point.weights.length; j++) {
      if (point.weights[j] === 0) continue;
      const w = this.#weightAt(point, j);
      // Of columns that were divided, the bounds are those of the weights in training.
      const room = point.divisors ? 1 + 4 * roundingUnit : 1;
      if (w.hi < low * room || w.hi > high * room) return exact(Infinity);
      // A part of 0 has no terms: 0 · ∞ would be no number.
      if (l1 > 0) sum = add(sum, multiply(this.#strength(j, l1), absolute(w)));
      if (l2 > 0) {
        sum = add(sum, multiply(multiply(half, this.#strength(j, l2)), multiply(w, w)));
      }
    }
    return sum;
  }

  /** D(scale · α); α is cut to its domain, and shifted a little in sum where an intercept needs it. */
  dual(alpha: Float64Array, scale: number): DoubleDouble {
    const feasible = this.#withinDomain(alpha);
    if (!feasible || scale === 0) return this.dualAtZero();
    const image = new DoubleDoubleSums(this.#problem.columns);
    this.#forRows((row, { indices, values }, from, end) => {
      const a = feasible.at(row);
      if (a.hi === 0) return;
      for (let k = from; k < end; k++) image.add(indices[k], multiply(a, exact(values[k])));
    });
    const most = this.#problem.penalty.l2 > 0 ? 1 : this.#feasibleScale(image);
    const share = exact(Math.min(scale, most));
    const loss = this.#meanConjugate((row) => multiply(share, feasible.at(row)));
    return negate(add(loss, this.#penaltyConjugates(image, share)));
  }

  /** D(0), which needs no α that is feasible. */
  dualAtZero(): DoubleDouble {
    return negate(this.#meanConjugate(() => zero));
  }

  /** (1/W) Σ c_i ℓ*(−α_i/c_i) */
  #meanConjugate(alphaOf: (row: number) => DoubleDouble): DoubleDouble {
    const { labels, loss } = this.#problem;
    let sum = zero;
    for (let i = 0; i < labels.length; i++) {
      const weight = exact(this.#weightOf(i));
      if (weight.hi === 0) continue;
      const s = negate(divide(alphaOf(i), weight));
      const conjugate = this.#loss.conjugate(s, labels[i], loss.parameter);
      sum = add(sum, multiply(weight, conjugate));
    }
    return divide(sum, this.#totalWeight);
  }

  /** Σ_j (λ f_j φ)*(share · v_j) */
  #penaltyConjugates(image: DoubleDoubleSums, share: DoubleDouble): DoubleDouble {
    let sum = zero;
    for (let j = 0; j < this.#problem.columns; j++) {
      const v = divide(multiply(share, image.at(j)), this.#totalWeight);
      sum = add(sum, this.#penaltyConjugate(j, v));
    }
    return sum;
  }

  /** (λ f_j φ)*(v); without a quadratic part, of a v that is feasible. */
  #penaltyConjugate(column: number, v: DoubleDouble): DoubleDouble {
    const { l1, l2, low = -Infinity, high = Infinity } = this.#problem.penalty;
    // What has overflowed proves nothing.
    if (!Number.isFinite(v.hi)) return infinity;
    const excess = subtract(absolute(v), rounded(this.#strength(column, l1)));
    const end = v.hi > 0 ? high : -low;
    if (excess.hi <= 0 || end === 0) return zero;
    const bend = rounded(this.#strength(column, l2));
    // Without a quadratic part α was scaled so that nothing is left but rounding.
    if (l2 === 0 && end === Infinity) return zero;
    const free = bend.hi > 0 ? divide(excess, bend) : infinity;
    const w = least(free, exact(end));
    const value =
      bend.hi > 0
        ? multiply(w, subtract(excess, multiply(multiply(half, bend), w)))
        : multiply(w, excess);
    return value.hi >= 0 ? value : infinity;
  }

  /** The largest factor at which |v_j| ≤ λ f_j l1 holds on every side without an end; at most 1. */
  #feasibleScale(image: DoubleDoubleSums): number {
    const { l1, low = -Infinity, high = Infinity } = this.#problem.penalty;
    let most = one;
    for (let j = 0; j < this.#problem.columns; j++) {
      const v = image.at(j);
      if (v.hi === 0 || (v.hi > 0 ? high < Infinity : low > -Infinity)) continue;
      if (!Number.isFinite(v.hi)) return 0;
      const limit = multiply(rounded(this.#strength(j, l1)), this.#totalWeight);
      most = least(most, divide(limit, absolute(v)));
    }
    return compare(most, one) < 0 ? most.hi * (1 - roundingUnit) : 1;
  }

  /** α as it is where it is in its domain, whose sum is 0 with an intercept; else one like it. */
  #withinDomain(alpha: Float64Array): DoubleDoubleSums | undefined {
    const { labels, loss, intercept } = this.#problem;
    const { parameter } = loss;
    const result = new DoubleDoubleSums(labels.length);
    let sum = zero;
    const ends = (i: number) => {
      const c = this.#weightOf(i);
      if (c === 0) return [zero, zero] as const;
      const low = negate(product(c, loss.conjugateHigh(labels[i], parameter)));
      return [low, negate(product(c, loss.conjugateLow(labels[i], parameter)))] as const;
    };
    for (let i = 0; i < labels.length; i++) {
      const [low, high] = ends(i);
      result.add(i, greatest(low, least(high, exact(alpha[i]))));
      sum = add(sum, result.at(i));
    }
    if (!intercept) return result;
    for (let i = 0; i < labels.length && sum.hi !== 0; i++) {
      const before = result.at(i);
      const [low, high] = ends(i);
      const after = greatest(low, least(high, subtract(before, sum)));
      result.add(i, subtract(after, before));
      sum = add(sum, subtract(result.at(i), before));
    }
    return sum.hi === 0 ? result : undefined;
  }

  /** α_i = −c_i ℓ'(u_i), shifted to a sum of about 0 where an intercept needs it. */
  dualPointOf(margins: Float64Array): Float64Array {
    const { labels, loss, intercept } = this.#problem;
    const { parameter } = loss;
    const slopes = margins.map((u, i) => -loss.derivative(u, labels[i], parameter));
    const shifted = (shift: number) =>
      slopes.map((slope, i) => {
        const low = -loss.conjugateHigh(labels[i], parameter);
        const high = -loss.conjugateLow(labels[i], parameter);
        return this.#weightOf(i) * Math.max(low, Math.min(high, slope + shift));
      });
    if (!intercept) return shifted(0);
    let [low, high] = [-1, 1];
    const sumAt = (shift: number) => shifted(shift).reduce((total, a) => total + a, 0);
    for (let k = 0; k < 200 && sumAt(low) > 0; k++) low *= 2;
    for (let k = 0; k < 200 && sumAt(high) < 0; k++) high *= 2;
    for (let k = 0; k < 100; k++) {
      const middle = low + (high - low) / 2;
      if (sumAt(middle) > 0) high = middle;
      else low = middle;
    }
    return shifted(low);
  }
}

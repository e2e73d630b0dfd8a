import { findFlat } from '../../math/line-search.ts';
import type { ColumnSet } from './column-set.ts';

/** A search ends where the slope has fallen to this share. */
const flatness = 0.3;
/** The farthest it goes, in lengths of the step. */
const farthest = 16;
/** P may rise by rounding errors, relative to itself. */
const rounding = 1e-15;

/**
 * Looks along the step of a model for a point where P is lower and its slope has fallen. Where the
 * slope is not positive P has fallen all the way, since P is convex; where it is a little positive
 * P may yet be higher, because the slope jumps at each weight that reaches 0. A step of 1 keeps exact
 * zeros and is preferred.
 */
export class LineSearch {
  readonly #set: ColumnSet;
  /** The loss is quadratic: models are P itself. */
  readonly #isExact: boolean;
  /** Σ c_i ℓ after a whole step, where it was needed. */
  #lossAhead: number | undefined;

  constructor(set: ColumnSet, isExact: boolean) {
    this.#set = set;
    this.#isExact = isExact;
  }

  /** Takes the step, or as much of it as is good, to `start` and the margins; returns its length. */
  go(): number {
    const { context, parts, memory, size } = this.#set;
    for (const { rows, next } of parts) {
      next.set(rows.margins);
      context.kernels.addScaled(next, 1, rows.inverses, rows.moved);
    }
    this.#lossAhead = undefined;
    const share = this.#isExact ? 1 : this.#length();
    this.#set.moved();
    if (share === 1) {
      this.#set.isDifferentiated = !this.#isExact;
      this.#set.lossSum = this.#lossAhead;
    }
    const { start, now } = memory.set;
    for (const { rows, next } of parts) {
      if (share === 1) rows.margins.set(next);
      else context.kernels.interpolate(rows.margins, rows.margins, next, share);
    }
    if (share !== 1) {
      this.#set.onFirst(() => {
        for (let a = 0; a < size; a++) {
          if (now[a] !== start[a]) now[a] = start[a] + share * (now[a] - start[a]);
        }
      });
    }
    return share;
  }

  #length(): number {
    const atStart = this.#slope(0);
    if (!(atStart < 0)) return 0;
    const goal = flatness * -atStart;
    let [low, atLow] = [0, atStart];
    let [high, atHigh] = [1, this.#slope(1)];
    if (Math.abs(atHigh) <= goal && (atHigh <= 0 || this.#falls())) return 1;
    while (atHigh < -goal && high < farthest) {
      [low, atLow] = [high, atHigh];
      high *= 2;
      atHigh = this.#slope(high);
    }
    if (atHigh <= 0) return high;
    const descent = (share: number) => -this.#slope(share);
    return findFlat(descent, [low, -atLow], [high, -atHigh], [0, goal]);
  }

  /** The slope of P at start + share · step, at a kink from the left, at 0 from the right. */
  #slope(share: number): number {
    const { context, memory, scale } = this.#set;
    const { kernels, team } = context;
    const [loss, penalty] = team.reduce(2, (worker, values) => {
      const { rows, next, labels, rowWeights } = this.#set.partOf(worker);
      const { margins, moved, inverses, slopes, derivatives } = rows;
      const names = ['start', 'now', 'l1', 'l2'] as const;
      const [begin, end] = this.#columnsOf(worker);
      const [from, to, l1, l2] = names.map((name) => memory.set[name].subarray(begin, end));
      if (share === 0) {
        values[0] = kernels.productOfThree(moved, inverses, slopes);
        values[1] = kernels.penaltySlope(from, to, l1, l2, 0);
      } else {
        values[0] =
          share === 1
            ? kernels.searchSlope(next, labels, rowWeights, inverses, moved, derivatives)
            : kernels.lossSlope(margins, next, labels, rowWeights, share);
        values[1] = kernels.penaltySlopeBefore(from, to, l1, l2, share);
      }
    });
    return loss * scale + penalty;
  }

  /** Whether P is no higher after a step of 1. */
  #falls(): boolean {
    const { context, memory, scale } = this.#set;
    const { start, now, l1, l2 } = memory.set;
    const { kernels, team } = context;
    const known = this.#set.lossSum;
    const [sum, after, penalty] = team.reduce(3, (worker, values) => {
      const { rows, next, labels, rowWeights } = this.#set.partOf(worker);
      if (known === undefined) values[0] = kernels.lossSum(rows.margins, labels, rowWeights);
      values[1] = kernels.lossSum(next, labels, rowWeights);
      const [begin, end] = this.#columnsOf(worker);
      for (let a = begin; a < end; a++) {
        const [w, z] = [start[a], now[a]];
        values[2] += l1[a] * (Math.abs(z) - Math.abs(w)) + 0.5 * l2[a] * (z - w) * (z + w);
      }
    });
    const before = known ?? sum;
    this.#lossAhead = after;
    return (after - before) * scale + penalty <= rounding * before * scale;
  }

  /** A worker's share of W, for sums. */
  #columnsOf(worker: number): readonly [number, number] {
    const { size, context } = this.#set;
    const { workers } = context.team.shared;
    const bound = (k: number) => Math.floor((k * size) / workers);
    return [bound(worker), bound(worker + 1)];
  }
}

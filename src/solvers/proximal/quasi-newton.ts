import type { Arena } from '../../engine/arena.ts';
import type { Values } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { width as together } from '../../engine/processes/comm-channel.ts';
import { DataError } from '../../errors.ts';
import { reserve } from '../block-state.ts';
import type { Doubles } from '../kernels/kernels.ts';
import type { Vector, Vectors } from '../vectors/vectors.ts';

/** Pairs of one run of conjugate gradients that are kept: the last ones. */
const mostFresh = 10;

/** A direction s and y = H s. */
export type Pair = Readonly<Record<'step' | 'change', Vector>>;

export type PairMemory = ReturnType<typeof allocatePairs>;

export function allocatePairs(arena: Arena, { columnOrder }: Partition, history: number) {
  const length = columnOrder.length;
  const pair = (): Doubles<'step' | 'change'> =>
    reserve(arena, 'float64', length, ['step', 'change']);
  return {
    history,
    pairs: Array.from({ length: history + Math.min(history, mostFresh) }, pair),
    ...reserve(arena, 'float64', length, ['scaled', 'rest']),
  };
}

/**
 * An approximation of H⁻¹ from pairs (s, y = H s), also of earlier H, on top of a diagonal J⁻¹: that of
 * limited-memory BFGS, in the compact form of Byrd, Nocedal and Schnabel (1994),
 *
 *   z = J⁻¹ x + S R⁻ᵀ((D + YᵀJ⁻¹Y) e − YᵀJ⁻¹x) − J⁻¹ Y e,   e = R⁻¹ Sᵀx,
 *
 * with R the upper triangle of SᵀY and D its diagonal: few rounds of sums, however many pairs there are.
 */
export class QuasiNewton {
  readonly #vectors: Vectors;
  readonly #history: number;
  /** 1/J */
  readonly #inverse: Vector;
  readonly #scaled: Vector;
  readonly #rest: Vector;
  /** The oldest first: `#size` that are in use, then fresh ones. */
  readonly #pairs: Pair[];
  #size = 0;
  #fresh = 0;
  /** s_i·y_j and y_i·J⁻¹y_j for i ≤ j, by rows. */
  readonly #products: number[][] = [];
  readonly #changes: number[][] = [];

  constructor(vectors: Vectors, { history, pairs, scaled, rest }: PairMemory, inverse: Vector) {
    this.#vectors = vectors;
    this.#history = history;
    this.#inverse = inverse;
    this.#scaled = vectors.columns(scaled);
    this.#rest = vectors.columns(rest);
    this.#pairs = pairs.map(({ step, change }) => ({
      step: vectors.columns(step),
      change: vectors.columns(change),
    }));
  }

  /** The pair to fill next; it counts from the next take() on. */
  next(): Pair {
    const capacity = Math.min(this.#history, mostFresh);
    if (this.#fresh === capacity) {
      const [oldest] = this.#pairs.splice(this.#size, 1);
      this.#pairs.splice(this.#size + capacity - 1, 0, oldest);
      this.#fresh--;
    }
    this.#fresh++;
    return this.#pairs[this.#size + this.#fresh - 1];
  }

  /** Takes the fresh pairs in; the oldest ones make room. */
  take(): void {
    const total = this.#size + this.#fresh;
    const dropped = Math.max(0, total - this.#history);
    this.#pairs.push(...this.#pairs.splice(0, dropped));
    for (const table of [this.#products, this.#changes]) {
      table.splice(0, dropped);
      for (const row of table) row.splice(0, dropped);
    }
    const known = this.#size - dropped;
    this.#size = total - dropped;
    this.#fresh = 0;
    for (let j = known; j < this.#size; j++) this.#addPair(j);
  }

  /** After the diagonal has changed. */
  refresh(): void {
    this.#changes.length = 0;
    for (let j = 0; j < this.#size; j++) this.#addPair(j, false);
  }

  /** Products of pair j with those up to it; `all`: also those that the diagonal plays no part in. */
  #addPair(j: number, all = true): void {
    const { change } = this.#pairs[j];
    this.#vectors.multiply(change, this.#inverse, this.#scaled);
    const upTo = this.#pairs.slice(0, j + 1);
    const sums = this.#dots([
      ...upTo.map((pair) => [pair.change, this.#scaled] as const),
      ...(all ? upTo.map(({ step }) => [step, change] as const) : []),
    ]);
    addColumn(this.#changes, sums.slice(0, j + 1));
    if (all) addColumn(this.#products, sums.slice(j + 1));
  }

  /** target ← approximately H⁻¹ source; two different vectors. */
  apply(source: Vector, target: Vector): void {
    const vectors = this.#vectors;
    vectors.multiply(source, this.#inverse, target);
    if (this.#size === 0) return;
    const pairs = this.#pairs.slice(0, this.#size);
    const sums = this.#dots([
      ...pairs.map(({ step }) => [step, source] as const),
      ...pairs.map(({ change }) => [change, target] as const),
    ]);
    const [ofSteps, ofChanges] = this.#factors(sums);
    vectors.scale(pairs[0].change, -ofChanges[0], this.#rest);
    for (const [k, { step, change }] of pairs.entries()) {
      vectors.combine(target, target, ofSteps[k], step);
      if (k > 0) vectors.combine(this.#rest, this.#rest, -ofChanges[k], change);
    }
    vectors.multiply(this.#rest, this.#inverse, this.#rest);
    vectors.combine(target, target, 1, this.#rest);
  }

  /** What the steps and the changes are multiplied by, from Sᵀx and YᵀJ⁻¹x. */
  #factors(sums: readonly number[]): [steps: number[], changes: number[]] {
    const count = this.#size;
    const [products, changes] = [this.#products, this.#changes];
    const e = sums.slice(0, count);
    for (let i = count - 1; i >= 0; i--) {
      for (let j = i + 1; j < count; j++) e[i] -= products[i][j] * e[j];
      e[i] /= products[i][i];
    }
    const f = e.map((value, i) => {
      let sum = products[i][i] * value - sums[count + i];
      for (let j = 0; j < count; j++) sum += (i <= j ? changes[i][j] : changes[j][i]) * e[j];
      return sum;
    });
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < i; j++) f[i] -= products[j][i] * f[j];
      f[i] /= products[i][i];
    }
    return [f, e];
  }

  #dots(factors: readonly (readonly [Vector, Vector])[]): number[] {
    const found: number[] = [];
    for (let from = 0; from < factors.length; from += together) {
      found.push(...this.#vectors.dots(...factors.slice(from, from + together)));
    }
    return found;
  }

  get size(): number {
    return this.#size;
  }

  /** The number of pairs that are in use; their arrays come back later. */
  restore(size: number): void {
    if (size > this.#history) {
      throw new DataError(`${size} saved pairs; expected ${this.#history} at most`);
    }
    this.#size = size;
  }

  /** Once the arrays and the diagonal are back. */
  resume(): void {
    this.#products.length = 0;
    this.#changes.length = 0;
    for (let j = 0; j < this.#size; j++) this.#addPair(j);
  }

  /** Those in use, the oldest first; which memory a pair has means nothing. */
  arrays(): Record<string, Values> {
    const held = this.#pairs.slice(0, this.#size);
    return Object.fromEntries(
      held.flatMap(({ step, change }, k) => [
        [`step${k}`, step.all],
        [`change${k}`, change.all],
      ]),
    );
  }
}

/** The entries 0 … j of column j of a table that holds its rows. */
function addColumn(table: number[][], column: readonly number[]): void {
  table.push(new Array(column.length - 1).fill(0));
  for (const [i, value] of column.entries()) table[i].push(value);
}

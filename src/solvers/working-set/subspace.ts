import { GrowingCholesky } from '../../math/cholesky.ts';
import type { ColumnSet } from './column-set.ts';
import { type Kink, kinkedMinimum, type Minimum } from './kinks.ts';
import { remembered } from './memory.ts';
import type { Model } from './model.ts';

/** A direction of steps on the smooth part of the model: its slope, curvature and free minimum. */
interface Direction {
  readonly slope: number;
  readonly curve: number;
  readonly ideal: number;
}

/**
 * Steps in the span of the last displacements, which speed cycles up on correlated columns. The
 * displacements of t outlive a model, so they are kept without h.
 */
export class SubspaceStep {
  readonly #set: ColumnSet;
  readonly #model: Model;
  readonly #factor = new GrowingCholesky(remembered);
  /** Slots of the displacements, the oldest first. */
  #slots: number[] = [];
  /** Their products with h between them, by rows of the last slots. */
  #products: number[][] = [];

  constructor(model: Model) {
    this.#model = model;
    this.#set = model.set;
  }

  /** Forgets all displacements: those of another W. */
  clear(): void {
    this.#slots = [];
    this.refresh();
  }

  /** The curvatures have changed. */
  refresh(): void {
    this.#products = [];
  }

  /** Steps from where the last cycle ended; false if the model does not fall. */
  step(): boolean {
    if (!this.#remember()) return false;
    const right = this.#measure();
    const { memory, size } = this.#set;
    const { spans, set } = memory;
    const count = this.#slots.length;
    const wanted = Float64Array.from(right, (smooth, a) => {
      const { columns } = spans[this.#slots[a]];
      let kinked = 0;
      for (let e = 0; e < size; e++) {
        const z = set.now[e];
        if (z !== 0) kinked += columns[e] * (z > 0 ? set.l1[e] : -set.l1[e]);
      }
      return -(smooth + kinked);
    });
    this.#factor.clear();
    for (let a = 0; a < count; a++) {
      if (!(this.#products[a][a] > 0)) return false;
      this.#factor.append(this.#products[a]);
    }
    const shares = wanted.slice();
    this.#factor.solve(shares);
    let [slope, curve, ideal] = [0, 0, 0];
    for (let a = 0; a < count; a++) {
      slope += shares[a] * right[a];
      ideal += 0.5 * shares[a] * wanted[a];
      for (let b = 0; b < count; b++) {
        curve += shares[a] * shares[b] * this.#products[Math.max(a, b)][Math.min(a, b)];
      }
    }
    this.#combine(shares);
    return this.#move({ slope, curve, ideal });
  }

  /** Takes the displacement since mark() in; false if there is none. */
  #remember(): boolean {
    const { memory, parts, size, context } = this.#set;
    const { spans, set } = memory;
    let isMoved = false;
    for (let a = 0; a < size && !isMoved; a++) isMoved = set.now[a] !== set.before[a];
    if (!isMoved) return false;
    const isFull = this.#slots.length === remembered;
    const free = spans.findIndex((_, slot) => !this.#slots.includes(slot));
    if (isFull) {
      this.#slots.shift();
      this.#products.shift();
      for (const row of this.#products) row.shift();
    }
    this.#slots.push(free);
    for (const { worker, rows } of parts) {
      const target = context.objective.rowsOf(spans[free].rows, worker);
      context.kernels.scaledChange(rows.before, rows.moved, rows.inverses, target);
    }
    this.#set.onFirst(() => {
      const { columns } = spans[free];
      for (let a = 0; a < size; a++) columns[a] = set.now[a] - set.before[a];
    });
    return true;
  }

  /** Brings the products up to date; returns the slopes of the smooth part along the displacements. */
  #measure(): Float64Array {
    const { memory, context, scale, size } = this.#set;
    const { spans, set } = memory;
    const { kernels, objective } = context;
    const count = this.#slots.length;
    const known = this.#products.length;
    const pairs: [number, number][] = [];
    for (let a = known; a < count; a++) for (let b = 0; b <= a; b++) pairs.push([a, b]);
    const sums = this.#model.sums(count + pairs.length, ({ worker, rows }, values) => {
      const spanOf = (a: number) => objective.rowsOf(spans[this.#slots[a]].rows, worker);
      for (let a = 0; a < count; a++) {
        values[a] = kernels.productOfSum(spanOf(a), rows.slopes, rows.moved);
      }
      for (const [k, [a, b]] of pairs.entries()) {
        values[count + k] = kernels.productOfThree(rows.curvatures, spanOf(a), spanOf(b));
      }
    });
    const columnsOf = (a: number) => spans[this.#slots[a]].columns;
    for (let a = known; a < count; a++) this.#products.push([]);
    const isRidged = context.problem.penalty.l2 > 0;
    for (const [k, [a, b]] of pairs.entries()) {
      const [p, r] = [columnsOf(a), columnsOf(b)];
      let ridge = 0;
      if (isRidged) for (let e = 0; e < size; e++) ridge += set.l2[e] * p[e] * r[e];
      this.#products[a][b] = sums[count + k] * scale + ridge;
    }
    return sums.subarray(0, count).map((sum, a) => {
      const p = columnsOf(a);
      let ridge = 0;
      if (isRidged) for (let e = 0; e < size; e++) ridge += set.l2[e] * set.now[e] * p[e];
      return sum * scale + ridge;
    });
  }

  /** direction ← Σ share_a of the displacements, by columns of W and by rows. */
  #combine(shares: Float64Array): void {
    const { memory, parts, size, context } = this.#set;
    const { spans, set } = memory;
    const slots = this.#slots;
    for (const { worker, rows } of parts) {
      rows.direction.fill(0);
      for (const [a, slot] of slots.entries()) {
        const from = context.objective.rowsOf(spans[slot].rows, worker);
        context.kernels.addMultiple(rows.direction, shares[a], from);
      }
    }
    this.#set.onFirst(() => {
      for (let e = 0; e < size; e++) {
        let sum = 0;
        for (const [a, slot] of slots.entries()) sum += shares[a] * spans[slot].columns[e];
        set.direction[e] = sum;
      }
    });
  }

  /**
   * Moves along the direction. Two candidates: the exact search across the kinks, and, where that
   * gains little, the step in which weights at 0 stay there and those that would cross 0 end there.
   */
  #move({ slope: smooth, curve, ideal }: Direction): boolean {
    const { memory, size } = this.#set;
    const { now, direction, l1 } = memory.set;
    let slope = smooth;
    const kinks: Kink[] = [];
    for (let e = 0; e < size; e++) {
      const p = direction[e];
      if (p === 0) continue;
      const z = now[e];
      slope += l1[e] * (z > 0 ? p : z < 0 ? -p : Math.abs(p));
      if (z * p < 0 && l1[e] > 0) {
        kinks.push({ at: -z / p, jump: 2 * l1[e] * Math.abs(p), who: e });
      }
    }
    const straight = kinkedMinimum(slope, curve, kinks);
    if (straight.fall < 0.5 * ideal) {
      const bent = this.#bend();
      if (bent.fall > straight.fall) return this.#apply(bent, 'bent');
    }
    return this.#apply(straight, 'direction');
  }

  /** The direction without changes of sign, as `bent`, and the best step along it, up to 1. */
  #bend(): Minimum {
    const { memory, parts, size, context, scale } = this.#set;
    const { set, units, stats } = memory;
    const { now, direction, bent, deltas, l1, l2 } = set;
    const { kernels } = context;
    this.#set.onFirst(() => {
      let count = 0;
      for (let e = 0; e < size; e++) {
        const [z, p] = [now[e], direction[e]];
        const isCut = p !== 0 && l1[e] > 0 && (z === 0 || (z + p) * z < 0);
        bent[e] = isCut ? -z : p;
        if (!isCut) continue;
        units[count] = e;
        deltas[count++] = bent[e] - p;
      }
      stats[0] = count;
    });
    const pending = { units, deltas };
    for (const { rows, packed } of parts) {
      rows.bent.set(rows.direction);
      kernels.scatter(packed.columns, pending, stats[0], rows.bent);
    }
    const [along, square] = this.#model.sums(2, ({ rows }, values) => {
      values[0] = kernels.productOfSum(rows.bent, rows.slopes, rows.moved);
      values[1] = kernels.productOfThree(rows.curvatures, rows.bent, rows.bent);
    });
    let [slope, curve] = [along * scale, square * scale];
    for (let e = 0; e < size; e++) {
      const [z, p] = [now[e], bent[e]];
      if (p === 0) continue;
      slope += p * (l2[e] * z + (z > 0 ? l1[e] : -l1[e]));
      curve += l2[e] * p * p;
    }
    const share = slope < 0 && curve > 0 ? Math.min(1, -slope / curve) : 0;
    return { share, fall: -(slope + 0.5 * curve * share) * share, hit: -1 };
  }

  #apply({ share, fall, hit }: Minimum, name: 'direction' | 'bent'): boolean {
    if (!(share > 0)) return false;
    const { memory, parts, size, context } = this.#set;
    const { now } = memory.set;
    const p = memory.set[name];
    this.#set.onFirst(() => {
      for (let e = 0; e < size; e++) {
        if (p[e] === 0) continue;
        const isZero = e === hit || (share === 1 && p[e] === -now[e]);
        now[e] = isZero ? 0 : now[e] + share * p[e];
      }
    });
    for (const { rows } of parts) {
      context.kernels.addScaled(rows.moved, share, rows.curvatures, rows[name]);
    }
    this.#model.gain += fall;
    return true;
  }
}

import { GrowingCholesky } from '../../math/cholesky.ts';
import type { ColumnSet } from './column-set.ts';
import { type Kink, kinkedMinimum, type Minimum } from './kinks.ts';
import { remembered } from './memory.ts';
import type { Model } from './model.ts';

/** Added to the diagonal of the products, as a share of it. */
const regularity = 1e-11;

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
    const { memory, size, context } = this.#set;
    const { spans, set } = memory;
    const count = this.#slots.length;
    const [z, l1] = [set.now.subarray(0, size), set.l1.subarray(0, size)];
    const wanted = right.map((smooth, a) => {
      const p = spans[this.#slots[a]].columns.subarray(0, size);
      return -(smooth + context.kernels.cornerSum(p, z, l1, 0));
    });
    this.#factor.clear();
    for (let a = 0; a < count; a++) {
      if (!(this.#products[a][a] > 0)) return false;
      this.#factor.append([
        ...this.#products[a].slice(0, a),
        this.#products[a][a] * (1 + regularity),
      ]);
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
    const columnsOf = (a: number) => spans[this.#slots[a]].columns.subarray(0, size);
    for (let a = known; a < count; a++) this.#products.push([]);
    const isRidged = context.problem.penalty.l2 > 0;
    for (const [k, [a, b]] of pairs.entries()) {
      const [p, r] = [columnsOf(a), columnsOf(b)];
      const ridge = isRidged ? kernels.productOfThree(p, r, set.l2) : 0;
      this.#products[a][b] = sums[count + k] * scale + ridge;
    }
    return sums.subarray(0, count).map((sum, a) => {
      const p = columnsOf(a);
      const ridge = isRidged ? kernels.productOfThree(p, set.now, set.l2) : 0;
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
      const direction = set.direction.subarray(0, size).fill(0);
      for (const [a, slot] of slots.entries()) {
        context.kernels.addMultiple(direction, shares[a], spans[slot].columns.subarray(0, size));
      }
    });
  }

  /**
   * Moves along the direction. Two candidates: the exact search across the kinks, and, where that
   * gains little, the step in which weights at 0 stay there and those that would cross 0 end there.
   */
  #move({ slope: smooth, curve, ideal }: Direction): boolean {
    const { memory, size, context } = this.#set;
    const { now, direction, l1 } = memory.set;
    const [p, z, bounds] = [direction, now, l1].map((all) => all.subarray(0, size));
    const slope = smooth + context.kernels.cornerSum(p, z, bounds, 1);
    // Jumps only bring the minimum nearer: kinks beyond that of the first piece do not matter.
    const farthest = curve > 0 ? -slope / curve : Infinity;
    const kinks: Kink[] = [];
    if (slope < 0) {
      for (let e = 0; e < size; e++) {
        if (z[e] * p[e] < 0 && bounds[e] > 0 && -z[e] / p[e] <= farthest) {
          kinks.push({ at: -z[e] / p[e], jump: 2 * bounds[e] * Math.abs(p[e]), who: e });
        }
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
    const { deltas } = set;
    const { kernels } = context;
    const names = ['now', 'direction', 'bent', 'l1', 'l2'] as const;
    const [now, direction, bent, l1, l2] = names.map((name) => set[name].subarray(0, size));
    this.#set.onFirst(() => {
      stats[0] = kernels.bendDirection(now, direction, l1, bent, { units, deltas });
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
    let slope = along * scale + kernels.cornerSum(bent, now, l1, -1);
    let curve = square * scale;
    if (context.problem.penalty.l2 > 0) {
      slope += kernels.productOfThree(bent, now, l2);
      curve += kernels.productOfThree(bent, bent, l2);
    }
    const share = slope < 0 && curve > 0 ? Math.min(1, -slope / curve) : 0;
    return { share, fall: -(slope + 0.5 * curve * share) * share, hit: -1 };
  }

  #apply({ share, fall, hit }: Minimum, name: 'direction' | 'bent'): boolean {
    if (!(share > 0)) return false;
    const { memory, parts, size, context } = this.#set;
    const [now, p] = [memory.set.now, memory.set[name]].map((all) => all.subarray(0, size));
    this.#set.onFirst(() => context.kernels.moveWeights(now, p, share, hit));
    for (const { rows } of parts) {
      context.kernels.addScaled(rows.moved, share, rows.curvatures, rows[name]);
    }
    this.#model.gain += fall;
    return true;
  }
}

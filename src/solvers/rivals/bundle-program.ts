import { DataError } from '../../errors.ts';
import { GrowingCholesky } from '../../math/cholesky.ts';

/**
 * The dual of the bundle method's inner problem, over n cutting planes ⟨a_k, w⟩ + b_k:
 *
 *   max  f(β) = ⟨b, β⟩ − ½ βᵀGβ   over β ≥ 0, Σβ = 1,   G_kl = Σ_j a_kj a_lj / l2_j
 *
 * by an active set method (Wolfe 1976, with a linear term): β stays optimal on the planes in use;
 * the plane most violated enters, and where an optimum would need a negative share the step
 * ends at the boundary and the plane that has become zero leaves. f never falls. The result is
 * proved by its gap max_k r_k − ⟨β, r⟩ with r = b − Gβ, which bounds how far f is from its maximum.
 *
 * On the simplex βᵀ(c 1 1ᵀ)β is the constant c, so G may be replaced by G + c 1 1ᵀ: with it planes
 * need only be affinely independent for a Cholesky factor to exist.
 */
export class BundleProgram {
  readonly capacity: number;
  /** b_k and β_k of the planes 0 … size−1. */
  readonly offsets: Float64Array;
  readonly shares: Float64Array;
  #size = 0;
  readonly #gram: Float64Array;
  readonly #factor: GrowingCholesky;
  /** Planes with β > 0, in the order of the factor's rows. */
  #used: number[] = [];
  readonly #residuals: Float64Array;
  #shift = 1;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.offsets = new Float64Array(capacity);
    this.shares = new Float64Array(capacity);
    this.#gram = new Float64Array(capacity * capacity);
    this.#factor = new GrowingCholesky(capacity);
    this.#residuals = new Float64Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** A plane, by its products with those there are and with itself; it enters with β = 0. */
  add(products: ArrayLike<number>, offset: number): void {
    const at = this.#size++;
    for (let k = 0; k <= at; k++) this.#setProduct(at, k, products[k]);
    this.offsets[at] = offset;
    this.shares[at] = at === 0 ? 1 : 0;
  }

  /** Takes out a plane with β = 0; the last one gets its number. */
  remove(index: number): void {
    const last = this.#size - 1;
    for (let k = 0; k < last; k++) {
      const from = k === index ? last : k;
      this.#setProduct(index, k, this.#product(last, from));
    }
    this.offsets[index] = this.offsets[last];
    this.shares[index] = this.shares[last];
    this.#size = last;
  }

  /**
   * Replaces plane `index` by its combination with plane `other`, (1 − s) of the one and s of the
   * other in the proportion of their β, and takes `other` out. Σ β_k a_k and ⟨b, β⟩ stay, so f does.
   * Returns s.
   */
  merge(index: number, other: number): number {
    const total = this.shares[index] + this.shares[other];
    const s = this.shares[other] / total;
    const own = this.#product(index, index);
    const cross = this.#product(index, other);
    const square =
      (1 - s) * (1 - s) * own + 2 * s * (1 - s) * cross + s * s * this.#product(other, other);
    for (let k = 0; k < this.#size; k++) {
      const mixed = (1 - s) * this.#product(index, k) + s * this.#product(other, k);
      this.#setProduct(index, k, mixed);
    }
    this.#setProduct(index, index, square);
    this.offsets[index] += s * (this.offsets[other] - this.offsets[index]);
    this.shares[index] = total;
    this.remove(other);
    return s;
  }

  /** ⟨b, β⟩ */
  offset(): number {
    let sum = 0;
    for (let k = 0; k < this.#size; k++) sum += this.shares[k] * this.offsets[k];
    return sum;
  }

  /** Continues from β until the gap is `tolerance` or as small as rounding allows; returns it. */
  solve(tolerance: number): number {
    this.#factorize();
    this.#settle(-1);
    // Each round makes f larger, so no set of planes comes twice; the limit is for rounding errors.
    const mostRounds = 20 * (this.#size + 5);
    for (let round = 0; ; round++) {
      const { gap, most } = this.#violation();
      if (gap <= tolerance || round >= mostRounds || this.#used.includes(most)) return gap;
      this.#enter(most);
      if (!this.#settle(most)) return gap;
    }
  }

  /** Between two calls of solve() this is all it knows; G row by row up to its diagonal. */
  save() {
    const products: number[] = [];
    for (let k = 0; k < this.#size; k++) {
      for (let l = 0; l <= k; l++) products.push(this.#product(k, l));
    }
    const first = (values: Float64Array) => [...values.subarray(0, this.#size)];
    return { products, offsets: first(this.offsets), shares: first(this.shares) };
  }

  restore(saved: ReturnType<BundleProgram['save']>): void {
    const size = saved.offsets.length;
    const products = (size * (size + 1)) / 2;
    const fits = saved.shares.length === size && saved.products.length === products;
    if (size > this.capacity || !fits) {
      throw new DataError(
        `${size} saved planes with other numbers of shares or products, or too many`,
      );
    }
    this.#size = size;
    this.offsets.set(saved.offsets);
    this.shares.set(saved.shares);
    for (let k = 0, at = 0; k < this.#size; k++) {
      for (let l = 0; l <= k; l++) this.#setProduct(k, l, saved.products[at++]);
    }
  }

  #product(k: number, l: number): number {
    return this.#gram[k * this.capacity + l];
  }

  #setProduct(k: number, l: number, value: number): void {
    this.#gram[k * this.capacity + l] = value;
    this.#gram[l * this.capacity + k] = value;
  }

  /** Anew from G in every call: an old factor would gather rounding errors. */
  #factorize(): void {
    this.#shift = 0;
    const used: number[] = [];
    for (let k = 0; k < this.#size; k++) {
      this.#shift = Math.max(this.#shift, this.#product(k, k));
      if (this.shares[k] > 0) used.push(k);
    }
    if (this.#shift === 0) this.#shift = 1;
    this.#used = [];
    this.#factor.clear();
    for (const k of used) this.#enter(k);
  }

  #enter(plane: number): void {
    this.#used.push(plane);
    this.#factor.append(this.#used.map((k) => this.#product(plane, k) + this.#shift));
  }

  /** The gap, and the plane whose value at w(β) is largest. */
  #violation(): { gap: number; most: number } {
    const residuals = this.#residuals;
    let most = 0;
    let mean = 0;
    for (let k = 0; k < this.#size; k++) {
      const value = this.#residual(k);
      residuals[k] = value;
      mean += this.shares[k] * value;
      if (value > residuals[most]) most = k;
    }
    return { gap: Math.max(0, residuals[most] - mean), most };
  }

  /**
   * Moves β to its optimum on the planes in use, dropping those that become zero on the way.
   * False when the plane that `entered` is the first to go: only rounding errors called for it.
   */
  #settle(entered: number): boolean {
    for (let first = true; ; first = false) {
      const target = this.#optimum();
      const used = this.#used;
      let step = 1;
      let leaving = -1;
      for (let k = 0; k < used.length; k++) {
        if (target[k] > 0) continue;
        const share = this.shares[used[k]];
        const most = share > 0 ? share / (share - target[k]) : 0;
        if (leaving < 0 || most < step) {
          step = most;
          leaving = k;
        }
      }
      for (let k = 0; k < used.length; k++) {
        const share = this.shares[used[k]];
        this.shares[used[k]] = leaving < 0 ? target[k] : share + step * (target[k] - share);
      }
      if (leaving < 0) return true;
      const gone = used[leaving];
      this.shares[gone] = 0;
      used.splice(leaving, 1);
      this.#factor.remove(leaving);
      if (first && gone === entered) return false;
    }
  }

  /**
   * argmax f over the planes in use with Σβ = 1 alone. From where β is, with r = b − Gβ:
   * (G + c 1 1ᵀ) δ = r + ν 1, Σδ = 0. Only differences of r matter, and δ stays exact where the
   * planes' offsets are many orders of magnitude above G.
   */
  #optimum(): Float64Array {
    const used = this.#used;
    const sum = (values: Float64Array) => values.reduce((total, value) => total + value, 0);
    const target = Float64Array.from(used, (k) => this.#residual(k));
    const mean = sum(target) / used.length;
    for (let k = 0; k < used.length; k++) target[k] -= mean;
    const byOnes = new Float64Array(used.length).fill(1);
    this.#factor.solve(target);
    this.#factor.solve(byOnes);
    const multiplier = sum(target) / sum(byOnes);
    for (let k = 0; k < used.length; k++) {
      target[k] += this.shares[used[k]] - multiplier * byOnes[k];
    }
    return target;
  }

  /** r_k = b_k − (Gβ)_k, the value of plane k at w(β). */
  #residual(plane: number): number {
    const at = plane * this.capacity;
    let value = this.offsets[plane];
    for (const l of this.#used) value -= this.#gram[at + l] * this.shares[l];
    return value;
  }
}

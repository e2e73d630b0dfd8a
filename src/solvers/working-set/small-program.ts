import { GrowingCholesky } from '../../math/cholesky.ts';
import { softThreshold } from '../../math/scalars.ts';
import { type Kink, kinkedMinimum } from './kinks.ts';

/** Rounds of cycles and a Newton step, at most. */
const mostRounds = 60;
const cyclesPerRound = 3;
/** Added to the diagonal of G, as a share of it: with more columns than rows G is singular. */
const ridge = 1e-11;

/**
 * min over z of gᵀ(z − z₀) + ½ (z − z₀)ᵀ G (z − z₀) + Σ l1_a |z_a|, G dense and positive semidefinite.
 *
 * Coordinate cycles find the signs, and a Newton step on the weights that are not 0 ends far nearer
 * to the minimum than cycles on correlated columns would.
 */
export class SmallProgram {
  readonly #count: number;
  /** G by rows, all of it. */
  readonly #gram: Float64Array;
  readonly #l1: Float64Array;
  readonly z: Float64Array;
  /** The gradient of the smooth part at z. */
  readonly gradient: Float64Array;
  readonly #factor: GrowingCholesky;

  constructor(gram: Float64Array, l1: Float64Array, z: Float64Array, gradient: Float64Array) {
    this.#count = z.length;
    this.#gram = gram;
    this.#l1 = l1;
    this.z = z;
    this.gradient = gradient;
    this.#factor = new GrowingCholesky(z.length);
  }

  /** Ends when no step is longer than `small`, in units of the gradient. */
  solve(small: number): void {
    for (let round = 0; round < mostRounds; round++) {
      for (let k = 0; k < cyclesPerRound; k++) if (this.#cycle() <= small) return;
      this.#newton();
    }
  }

  #rowOf(a: number): Float64Array {
    return this.#gram.subarray(a * this.#count, (a + 1) * this.#count);
  }

  /** Steps on one weight after the other; returns the largest. */
  #cycle(): number {
    const { z, gradient } = this;
    const [gram, count] = [this.#gram, this.#count];
    let worst = 0;
    for (let a = 0; a < count; a++) {
      const row = a * count;
      const h = gram[row + a];
      if (!(h > 0)) continue;
      const next = softThreshold(h * z[a] - gradient[a], this.#l1[a]) / h;
      const delta = next - z[a];
      if (delta === 0) continue;
      worst = Math.max(worst, h * Math.abs(delta));
      z[a] = next;
      for (let b = 0; b < count; b++) gradient[b] += delta * gram[row + b];
    }
    return worst;
  }

  /** A Newton step on the weights that are not 0, across the kinks or cut off at them. */
  #newton(): void {
    const { z, gradient } = this;
    const face: number[] = [];
    for (let a = 0; a < this.#count; a++) if (z[a] !== 0) face.push(a);
    if (face.length === 0) return;
    const p = this.#direction(face);
    const cut = p.map((change, k) =>
      (z[face[k]] + change) * z[face[k]] < 0 ? -z[face[k]] : change,
    );
    const [alongP, alongCut] = [this.#product(face, p), this.#product(face, cut)];
    let [slope, curve, fallOfCut] = [0, 0, 0];
    const kinks: Kink[] = [];
    for (const [k, a] of face.entries()) {
      const side = gradient[a] + (z[a] > 0 ? this.#l1[a] : -this.#l1[a]);
      slope += p[k] * side;
      curve += p[k] * alongP[a];
      fallOfCut -= cut[k] * (side + 0.5 * alongCut[a]);
      if (z[a] * p[k] < 0) {
        kinks.push({ at: -z[a] / p[k], jump: 2 * this.#l1[a] * Math.abs(p[k]), who: k });
      }
    }
    const { share, fall, hit } = kinkedMinimum(slope, curve, kinks);
    const isCut = fallOfCut > fall;
    for (const [k, a] of face.entries()) {
      const next = z[a] + (isCut ? cut[k] : share * p[k]);
      z[a] = k === hit || (isCut && cut[k] === -z[a]) ? 0 : next;
    }
    if (isCut) for (let b = 0; b < this.#count; b++) gradient[b] += alongCut[b];
    else for (let b = 0; b < this.#count; b++) gradient[b] += share * alongP[b];
  }

  /** The Newton step on the face of the present signs. */
  #direction(face: readonly number[]): Float64Array {
    const { z, gradient } = this;
    const row = new Float64Array(face.length);
    this.#factor.clear();
    for (const [k, a] of face.entries()) {
      const from = this.#rowOf(a);
      for (let n = 0; n < k; n++) row[n] = from[face[n]];
      row[k] = from[a] * (1 + ridge);
      this.#factor.append(row);
    }
    const p = Float64Array.from(face, (a) =>
      z[a] > 0 ? -gradient[a] - this.#l1[a] : -gradient[a] + this.#l1[a],
    );
    this.#factor.solve(p);
    return p;
  }

  /** G p for a p that is 0 outside of the face. */
  #product(face: readonly number[], p: Float64Array): Float64Array {
    const result = new Float64Array(this.#count);
    for (const [k, a] of face.entries()) {
      const row = a * this.#count;
      for (let b = 0; b < result.length; b++) result[b] += p[k] * this.#gram[row + b];
    }
    return result;
  }
}

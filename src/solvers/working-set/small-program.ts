import { softThreshold } from '../../math/scalars.ts';
import { DenseFactor } from '../interior/factor.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { type Kink, kinkedMinimum } from './kinks.ts';

/** Rounds of cycles and a Newton step, at most. */
const mostRounds = 60;
const cyclesPerRound = 3;
/** Added to the diagonal of G, as a share of it: with more columns than rows G is singular. */
const ridge = 1e-11;
/** One thread solves the program. */
const alone = { index: 0, barrier: () => {}, shared: { threads: 1 } };

/** Where kernels reach them: l1, z and gradient one number per weight, and room for the work. */
interface SmallArrays {
  /** G by rows, all of it. */
  readonly gram: Float64Array;
  readonly l1: Float64Array;
  readonly z: Float64Array;
  /** The gradient of the smooth part at z. */
  readonly gradient: Float64Array;
  /** As long as `gram` and as `z`. */
  readonly factor: Float64Array;
  readonly step: Float64Array;
}

/**
 * min over z of gᵀ(z − z₀) + ½ (z − z₀)ᵀ G (z − z₀) + Σ l1_a |z_a|, G dense and positive semidefinite.
 *
 * Coordinate cycles find the signs, and a Newton step on the weights that are not 0 ends far nearer
 * to the minimum than cycles on correlated columns would.
 */
export class SmallProgram {
  readonly #arrays: SmallArrays;
  readonly #kernels: Kernels;
  /** The weights that are not 0, and of a Newton step: G times it, and cut off where signs change. */
  readonly #face: Int32Array;
  readonly #alongP: Float64Array;
  readonly #cut: Float64Array;
  readonly #alongCut: Float64Array;

  constructor(kernels: Kernels, arrays: SmallArrays) {
    const { length } = arrays.z;
    this.#arrays = arrays;
    this.#kernels = kernels;
    this.#face = new Int32Array(length);
    this.#alongP = new Float64Array(length);
    this.#cut = new Float64Array(length);
    this.#alongCut = new Float64Array(length);
  }

  /** Ends when no step is longer than `small`, in units of the gradient. */
  solve(small: number): void {
    for (let round = 0; round < mostRounds; round++) {
      for (let k = 0; k < cyclesPerRound; k++) if (this.#cycle() <= small) return;
      this.#newton();
    }
  }

  /** Steps on one weight after the other; returns the largest. */
  #cycle(): number {
    const { gram, l1, z, gradient } = this.#arrays;
    const count = z.length;
    let worst = 0;
    for (let a = 0; a < count; a++) {
      const row = a * count;
      const h = gram[row + a];
      if (!(h > 0)) continue;
      const next = softThreshold(h * z[a] - gradient[a], l1[a]) / h;
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
    const { l1, z, gradient } = this.#arrays;
    const [face, alongP, alongCut] = [this.#face, this.#alongP, this.#alongCut];
    let size = 0;
    for (let a = 0; a < z.length; a++) if (z[a] !== 0) face[size++] = a;
    if (size === 0) return;
    const p = this.#direction(size);
    const cut = this.#cut;
    for (let k = 0; k < size; k++) {
      const now = z[face[k]];
      cut[k] = (now + p[k]) * now < 0 ? -now : p[k];
    }
    this.#multiply(size, p, alongP);
    this.#multiply(size, cut, alongCut);
    let slope = 0;
    let curve = 0;
    let fallOfCut = 0;
    const kinks: Kink[] = [];
    for (let k = 0; k < size; k++) {
      const a = face[k];
      const side = gradient[a] + (z[a] > 0 ? l1[a] : -l1[a]);
      slope += p[k] * side;
      curve += p[k] * alongP[a];
      fallOfCut -= cut[k] * (side + 0.5 * alongCut[a]);
      if (z[a] * p[k] < 0) {
        kinks.push({ at: -z[a] / p[k], jump: 2 * l1[a] * Math.abs(p[k]), who: k });
      }
    }
    const { share, fall, hit } = kinkedMinimum(slope, curve, kinks);
    const isCut = fallOfCut > fall;
    for (let k = 0; k < size; k++) {
      const a = face[k];
      const next = z[a] + (isCut ? cut[k] : share * p[k]);
      z[a] = k === hit || (isCut && cut[k] === -z[a]) ? 0 : next;
    }
    const [along, length] = isCut ? [alongCut, 1] : [alongP, share];
    for (let b = 0; b < gradient.length; b++) gradient[b] += length * along[b];
  }

  /** The Newton step on the face of the present signs. */
  #direction(size: number): Float64Array {
    const { gram, l1, z, gradient, factor, step } = this.#arrays;
    const face = this.#face;
    const p = step.subarray(0, size);
    for (let k = 0; k < size; k++) {
      const a = face[k];
      const row = a * z.length;
      const target = k * size;
      for (let n = 0; n < k; n++) factor[target + n] = gram[row + face[n]];
      factor[target + k] = gram[row + a] * (1 + ridge);
      p[k] = z[a] > 0 ? -gradient[a] - l1[a] : -gradient[a] + l1[a];
    }
    const context = { team: alone, kernels: this.#kernels };
    const solver = new DenseFactor(factor.subarray(0, size * size), size, 0, context);
    solver.factor();
    solver.solve(p);
    return p;
  }

  /** result ← G p for a p that is 0 outside of the face. */
  #multiply(size: number, p: Float64Array, result: Float64Array): void {
    const { gram } = this.#arrays;
    const count = result.length;
    result.fill(0);
    for (let k = 0; k < size; k++) {
      const row = this.#face[k] * count;
      const share = p[k];
      for (let b = 0; b < count; b++) result[b] += share * gram[row + b];
    }
  }
}

import type { Vector, Vectors } from '../vectors/vectors.ts';

/** Steps of a solution, each with two products. */
const mostSteps = 500;

/** The vectors of (R + XᵀTX/W) dw = r and of its solution. */
export interface LinearSystem {
  /** T of the rows and R of the columns. */
  readonly curvatures: Vector;
  readonly ridge: Vector;
  /** r; afterwards what is left of it. */
  readonly residual: Vector;
  readonly step: Vector;
  /** X dw */
  readonly stepImage: Vector;
  /** Memory: of columns and their images that travel, of columns at home, and of rows. */
  readonly direction: Vector;
  readonly result: Vector;
  readonly inverse: Vector;
  readonly scaled: Vector;
  readonly image: Vector;
  readonly weighted: Vector;
}

/**
 * Conjugate gradients for the linear system of a Newton step, preconditioned by its diagonal
 * R + Σ_i T_i x_ij²/W. A column without curvature and without a penalty stands still.
 */
export class ConjugateGradients {
  readonly #vectors: Vectors;
  readonly #system: LinearSystem;
  readonly #share: number;
  /** ⟨r, z⟩ with the preconditioned residual z. */
  #size = 0;

  constructor(vectors: Vectors, system: LinearSystem, totalWeight: number) {
    this.#vectors = vectors;
    this.#system = system;
    this.#share = 1 / totalWeight;
  }

  /** Finds the diagonal of a new T; returns the size of r in the norm of its inverse. */
  prepare(): number {
    const { curvatures, ridge, result, inverse, step, stepImage } = this.#system;
    const vectors = this.#vectors;
    vectors.transposedSquares(curvatures, result);
    vectors.combine(inverse, ridge, this.#share, result);
    vectors.invert(inverse, inverse);
    step.own.fill(0);
    stepImage.own.fill(0);
    return Math.sqrt(this.#precondition());
  }

  /** z ← M⁻¹ r, and its product with r. */
  #precondition(): number {
    const { residual, inverse, scaled } = this.#system;
    this.#vectors.multiply(residual, inverse, scaled);
    [this.#size] = this.#vectors.dots([residual, scaled]);
    return this.#size;
  }

  /** After prepare(): solves until the residual is `accuracy` of what it was in that norm. */
  solve(accuracy: number): void {
    const { residual, step, stepImage, direction, result, scaled, image } = this.#system;
    const vectors = this.#vectors;
    const goal = accuracy * accuracy * this.#size;
    vectors.copy(scaled, direction);
    for (let k = 0; k < mostSteps && this.#size > goal; k++) {
      this.#multiply();
      const [bend] = vectors.dots([direction, result]);
      if (!(bend > 0)) return;
      const length = this.#size / bend;
      vectors.combine(step, step, length, direction);
      vectors.combine(stepImage, stepImage, length, image);
      vectors.combine(residual, residual, -length, result);
      const before = this.#size;
      vectors.combine(direction, scaled, this.#precondition() / before, direction);
    }
  }

  /** result ← (R + XᵀTX/W) direction */
  #multiply(): void {
    const { curvatures, ridge, direction, result, scaled, image, weighted } = this.#system;
    const vectors = this.#vectors;
    vectors.product(direction, image);
    vectors.multiply(curvatures, image, weighted);
    vectors.transposed(weighted, result);
    vectors.multiply(ridge, direction, scaled);
    vectors.combine(result, scaled, this.#share, result);
  }
}

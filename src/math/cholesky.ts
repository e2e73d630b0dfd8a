/** A pivot below this share of its diagonal entry is rounding error, and is raised to it. */
const leastPivot = 1e-14;

/**
 * The Cholesky factor A = L Lᵀ of a positive semidefinite matrix whose rows are appended and
 * removed, each in O(k²). Where A is singular, the pivot that should be zero is a tiny positive
 * number instead: solutions are those of a matrix nearby, finite and, in A's null space, very long.
 */
export class GrowingCholesky {
  readonly #capacity: number;
  /** Row by row, each row `capacity` long. */
  readonly #factor: Float64Array;
  #size = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#factor = new Float64Array(capacity * capacity);
  }

  get size(): number {
    return this.#size;
  }

  clear(): void {
    this.#size = 0;
  }

  /** Appends a row of A: its products with the rows there are, then its diagonal entry. */
  append(row: ArrayLike<number>): void {
    const size = this.#size;
    const at = size * this.#capacity;
    const factor = this.#factor;
    for (let k = 0; k < size; k++) factor[at + k] = row[k];
    this.#forward(factor.subarray(at, at + size));
    let pivot = row[size];
    for (let k = 0; k < size; k++) pivot -= factor[at + k] * factor[at + k];
    const floor = Math.max(leastPivot * row[size], Number.MIN_VALUE);
    factor[at + size] = Math.sqrt(Math.max(pivot, floor));
    this.#size++;
  }

  /** Removes row and column `index` of A; Givens rotations make the rest triangular again. */
  remove(index: number): void {
    const capacity = this.#capacity;
    const factor = this.#factor;
    const last = --this.#size;
    for (let row = index; row < last; row++) {
      const to = row * capacity;
      factor.copyWithin(to, to + capacity, to + capacity + row + 2);
    }
    for (let k = index; k < last; k++) {
      const diagonal = factor[k * capacity + k];
      const next = factor[k * capacity + k + 1];
      const length = Math.sqrt(diagonal * diagonal + next * next);
      const cosine = diagonal / length;
      const sine = next / length;
      for (let row = k; row < last; row++) {
        const at = row * capacity + k;
        const left = factor[at];
        const right = factor[at + 1];
        factor[at] = cosine * left + sine * right;
        factor[at + 1] = cosine * right - sine * left;
      }
    }
  }

  /** x ← A⁻¹ x */
  solve(x: Float64Array): void {
    this.#forward(x);
    const capacity = this.#capacity;
    const factor = this.#factor;
    for (let k = this.#size - 1; k >= 0; k--) {
      x[k] /= factor[k * capacity + k];
      for (let row = 0; row < k; row++) x[row] -= factor[k * capacity + row] * x[k];
    }
  }

  /** x ← L⁻¹ x */
  #forward(x: Float64Array): void {
    const factor = this.#factor;
    for (let k = 0; k < this.#size; k++) {
      const at = k * this.#capacity;
      let value = x[k];
      for (let j = 0; j < k; j++) value -= factor[at + j] * x[j];
      x[k] = value / factor[at + k];
    }
  }
}

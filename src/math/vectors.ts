/** Σ a_k b_k, in four parallel sums: quicker, and rounding errors grow a quarter as fast. */
export function dot(a: Float64Array, b: Float64Array): number {
  const length = a.length;
  const even = length - (length % 4);
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let k = 0; k < even; k += 4) {
    first += a[k] * b[k];
    second += a[k + 1] * b[k + 1];
    third += a[k + 2] * b[k + 2];
    fourth += a[k + 3] * b[k + 3];
  }
  for (let k = even; k < length; k++) first += a[k] * b[k];
  return first + second + (third + fourth);
}

/** target ← target + factor · source */
export function addScaled(target: Float64Array, factor: number, source: Float64Array): void {
  for (let k = 0; k < target.length; k++) target[k] += factor * source[k];
}

/**
 * Compensated summation (Neumaier 1974): a second number collects what each addition rounds away,
 * so the total is as good as if added in twice the precision and rounded once. The result depends
 * on the order of the terms, which callers keep fixed.
 */
export class CompensatedSum {
  #sum = 0;
  #lost = 0;

  add(term: number): void {
    const next = this.#sum + term;
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(term) ? this.#sum - next + term : term - next + this.#sum;
    this.#sum = next;
  }

  get total(): number {
    // After an overflow the compensation is NaN and the plain sum still has the sign.
    return Number.isFinite(this.#sum) ? this.#sum + this.#lost : this.#sum;
  }
}

/** Σ values, compensated, in index order. */
export function sum(values: Float64Array | Float32Array | Int32Array): number {
  const accumulator = new CompensatedSum();
  for (let i = 0; i < values.length; i += 1) accumulator.add(values[i]);
  return accumulator.total;
}

/** The last of the intervals first … end-1 of ascending bounds that begins at `position` or before. */
export function intervalOf(
  bounds: ArrayLike<number>,
  position: number,
  first = 0,
  end = bounds.length - 1,
): number {
  let low = first;
  let high = end - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (bounds[middle] <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

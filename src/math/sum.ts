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
    // After an overflow the compensation is NaN and the plain sum still tells the sign.
    return Number.isFinite(this.#sum) ? this.#sum + this.#lost : this.#sum;
  }
}

/** Σ values[start … end−1], compensated, in index order. */
export function sum(
  values: Float64Array | Float32Array | Int32Array,
  start = 0,
  end = values.length,
): number {
  const accumulator = new CompensatedSum();
  for (let i = start; i < end; i += 1) accumulator.add(values[i]);
  return accumulator.total;
}

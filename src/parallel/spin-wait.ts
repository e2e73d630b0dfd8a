/**
 * Waiting for a shared integer to change: a while of spinning (a hand-off between running threads
 * takes a fraction of a microsecond), then sleep. Whoever changes the value must notify.
 */
export class SpinWait {
  readonly #spins: number;

  constructor(spins: number) {
    this.#spins = spins;
  }

  /** Returns once cells[index] differs from `value`. */
  whileEqual(cells: Int32Array, index: number, value: number): void {
    for (let spin = 0; spin < this.#spins; spin++) {
      if (Atomics.load(cells, index) !== value) return;
    }
    while (Atomics.load(cells, index) === value) Atomics.wait(cells, index, value, 1000);
  }
}

/** The ranks of a job that do not answer any more, and whether it is this one that says so. */
export class Losses {
  /** Resolves when all ranks before this one are lost: nobody else is to speak first. */
  readonly turn: Promise<void>;
  readonly #rank: number;
  readonly #lost = new Set<number>();
  #takeTurn = (): void => {};

  constructor(rank: number) {
    this.#rank = rank;
    this.turn = new Promise((resolve) => {
      this.#takeTurn = resolve;
    });
  }

  get any(): boolean {
    return this.#lost.size > 0;
  }

  add(lost: number): void {
    this.#lost.add(lost);
    const before = Array.from({ length: this.#rank }, (_, rank) => rank);
    if (before.every((rank) => this.#lost.has(rank))) this.#takeTurn();
  }
}

/**
 * How fast the intercept may follow its pull, the image (1/m) Σα_i of its column, which is nought
 * at the optimum: it moves by pull/weight an epoch. Its right scale is that of labels and features
 * and not known beforehand, so that the weight is eased when the pull neither turns nor fades for a
 * while, and restored when it keeps turning. Both are done with restraint: a weight that is too
 * small makes all rows of a batch chase the same number.
 */
export class InterceptPace {
  readonly #heaviest: number;
  readonly #lightest: number;
  #weight: number;
  #epochs = 0;
  #turns = 0;
  #pull = 0;
  #pullAtStart = 0;
  /** Epochs for which the pull has pointed the same way. */
  #steady = 0;

  constructor(weight: number, lightest: number) {
    this.#weight = weight;
    this.#heaviest = weight;
    this.#lightest = Math.min(weight, lightest);
  }

  /** Whether `pull` turns after it has long pointed one way: momentum carried the intercept too far. */
  swings(pull: number): boolean {
    return pull * this.#pull < 0 && this.#steady >= longSteady;
  }

  /** Takes the pull after an epoch; returns the factor to multiply the weight with. */
  observe(pull: number): number {
    if (pull * this.#pull < 0) {
      this.#turns++;
      this.#steady = 0;
    } else this.#steady++;
    this.#pull = pull;
    if (this.#epochs++ === 0) this.#pullAtStart = Math.abs(pull);
    if (this.#epochs < patience) return 1;
    const before = this.#weight;
    if (this.#turns === 0 && Math.abs(pull) > 0.5 * this.#pullAtStart) {
      this.#weight = Math.max(this.#lightest, before / 4);
    } else if (this.#turns * 2 >= patience) {
      this.#weight = Math.min(this.#heaviest, before * 2);
    }
    this.#epochs = 0;
    this.#turns = 0;
    return this.#weight / before;
  }

  save() {
    return {
      weight: this.#weight,
      epochs: this.#epochs,
      turns: this.#turns,
      pull: this.#pull,
      pullAtStart: this.#pullAtStart,
      steady: this.#steady,
    };
  }

  restore(saved: ReturnType<InterceptPace['save']>): void {
    this.#weight = saved.weight;
    this.#epochs = saved.epochs;
    this.#turns = saved.turns;
    this.#pull = saved.pull;
    this.#pullAtStart = saved.pullAtStart;
    this.#steady = saved.steady;
  }
}

/** Epochs between two changes of the weight. */
const patience = 8;
/** A pull that turns sooner is noise. */
const longSteady = 4;

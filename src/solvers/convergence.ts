import type { EarlyStop } from './early-stop.ts';
import type { Method } from './method.ts';
import type { Mixture } from './objective/best-point.ts';
import { type Gap, relativeGap } from './objective/objective.ts';
import { Schedule } from './schedule.ts';
import type { Measured, TestMeasure } from './test-error.ts';

/** P and D after an epoch, and the cells in the order of their visits, worker · p + block. */
export interface VisitedEpoch {
  readonly primal: number;
  readonly dual: number;
  readonly visits: readonly number[];
}

/**
 * How far a run has come: the best primal point and the best lower bound, which are valid each on
 * its own since no solver improves both in every epoch, and when to look at the gap again.
 */
export class Standing {
  primal: number;
  dual = -Infinity;
  latest: Gap | undefined;
  measured: Measured | undefined;
  /** Milliseconds spent on measuring test rows. */
  measuring = 0;
  /** Epochs to go when the tolerance has been met, −1 before. */
  left = -1;
  /** Whether the last look was a whole one, so that another would add nothing. */
  whole = false;
  /** Every epoch so far of a solver that is free in its visits, in the thread that keeps the run. */
  visited: VisitedEpoch[] = [];
  readonly #method: Method;
  readonly #best: Mixture;
  readonly #test: TestMeasure | undefined;
  readonly #tolerance: number;
  readonly #atZero: number;
  readonly #schedule: Schedule;
  readonly #early: EarlyStop | undefined;
  /** D of the α that the run started from: no method needs to compute it again. */
  #startingDual = -Infinity;

  constructor(
    method: Method,
    best: Mixture,
    test: TestMeasure | undefined,
    tolerance: number,
    atZero: number,
    early?: EarlyStop,
  ) {
    this.#method = method;
    this.#best = best;
    this.#test = test;
    this.#tolerance = tolerance;
    this.#atZero = atZero;
    this.#schedule = new Schedule(tolerance);
    this.primal = atZero;
    this.#early = early;
  }

  /** Begins at a point that is known: its weights, and D of its α where it has one. */
  begin(weights: Float64Array, dual: number): void {
    this.#best.goTo(weights);
    this.primal = this.#best.primal();
    this.dual = dual;
    this.#startingDual = dual;
  }

  /** Whether the error on the test rows has not fallen for long enough. */
  get exhausted(): boolean {
    return this.#early?.exhausted ?? false;
  }

  get relativeGap(): number {
    return relativeGap(this, this.#atZero);
  }

  get met(): boolean {
    return this.relativeGap <= this.#tolerance;
  }

  /** After an epoch: looks at P and D as far as it is due. */
  look(epoch: number): void {
    this.whole = this.left < 0 && this.#schedule.isDue(epoch);
    this.#evaluate(epoch, this.whole);
    if (this.left > 0) this.left--;
    else if (this.met) this.left = this.#method.polish;
  }

  #evaluate(epoch: number, whole: boolean): void {
    const found = this.#method.evaluate(whole);
    if (Number.isNaN(found.primal) || (whole && found.primal === Infinity)) {
      throw new Error(
        `the objective is no longer finite after epoch ${epoch}: a smaller step size (dso, sgd, psgd) or features of a smaller scale may help`,
      );
    }
    this.dual = Math.max(this.dual, found.dual);
    const known = found.primal < Infinity;
    if (known) this.latest = found;
    const moved = known && this.#keep(found.primal);
    if (moved) this.primal = this.#best.primal();
    this.#measure(known, moved);
    if (whole) this.#schedule.note(epoch, this.relativeGap, this.#method.passes);
  }

  /** Only a gap that is recomputed from scratch may go into a certificate. */
  certify(epoch: number): void {
    // Where the point is to be an earlier one, nothing can be gained from the present one.
    if (!this.whole && !this.exhausted) this.#evaluate(epoch, true);
    this.primal = this.#best.primalAfresh();
    this.dual = Math.max(this.#startingDual, this.#method.certify(this.dual));
    this.left = -1;
  }

  /** Lets the best primal point profit from the current one; returns whether it has moved. */
  #keep(found: number): boolean {
    const { mixes, weights, margins } = this.#method;
    if (mixes) return this.#best.take(weights, margins) > 0;
    if (found >= this.primal) return false;
    this.#best.replace(weights, margins);
    return true;
  }

  #measure(known: boolean, moved: boolean): void {
    const test = this.#test;
    if (!test || !(test.latest ? known : moved || !this.measured)) return;
    const before = performance.now();
    const weights = test.latest ? this.#method.weights : this.#best.weights;
    this.measured = test.measure(weights);
    this.#early?.note(this.measured, weights);
    this.measuring += performance.now() - before;
  }

  /** Goes back to the point that did best on the test rows, where such points are kept. */
  goBack(): void {
    if (!this.#early?.best) return;
    this.#best.goTo(this.#early.weights);
    this.primal = this.#best.primal();
    this.measured = this.#early.best;
  }

  save() {
    return {
      primal: this.primal,
      dual: this.dual,
      latest: this.latest ?? null,
      measured: this.measured ?? null,
      left: this.left,
      whole: this.whole,
      visited: this.visited,
      schedule: this.#schedule.save(),
      startingDual: this.#startingDual,
      ...(this.#early && { early: this.#early.save() }),
    };
  }

  /** `sameTest`: the test rows are those of before, so that what was measured still counts. */
  restore(saved: SavedStanding, sameTolerance: boolean, sameTest: boolean): void {
    this.primal = saved.primal;
    this.dual = saved.dual;
    this.latest = saved.latest ?? undefined;
    this.measured = sameTest ? (saved.measured ?? undefined) : undefined;
    this.left = saved.left;
    this.whole = saved.whole;
    this.visited = saved.visited;
    this.#schedule.restore(saved.schedule);
    this.#startingDual = saved.startingDual;
    if (sameTest && saved.early) this.#early?.restore(saved.early);
    // A tolerance that was met may not be any more, and the other way round.
    if (!sameTolerance && !this.met) this.left = -1;
    else if (!sameTolerance && this.left < 0) this.left = this.#method.polish;
  }
}

export type SavedStanding = ReturnType<Standing['save']>;

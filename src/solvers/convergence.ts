import { log } from '../math/elementary.ts';
import type { BestPoint } from './objective/best-point.ts';
import { type Gap, type Objective, relativeGap } from './objective/objective.ts';
import type { Method } from './solver.ts';
import type { Measured, TestMeasure } from './test-error.ts';

/**
 * When to pay for a whole evaluation. The gap falls about geometrically, so the epochs that remain
 * can be foretold from two evaluations; the next one is due when a third of them have passed,
 * or when the epochs since have done as much work as it takes. A function of gaps and work alone, hence the same on any number of threads.
 */
export class EvaluationSchedule {
  readonly #tolerance: number;
  #due = 1;
  #epoch = 0;
  #gap = Infinity;
  #passes = 0;

  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  isDue(epoch: number): boolean {
    return epoch >= this.#due;
  }

  /** After an evaluation; `passes` is the work done so far. */
  note(epoch: number, gap: number, passes: number): void {
    const work = (passes - this.#passes) / (epoch - this.#epoch);
    // An evaluation is a pass: where an epoch is less, several of them cost no more.
    const least = work > 0 ? Math.round(1 / work) : 1;
    const wait = Math.max(least, Math.floor(this.#remaining(epoch, gap) / 3));
    this.#due = epoch + Math.max(1, Math.min(longestWait, wait, Math.floor(epoch / 2)));
    this.#passes = passes;
    this.#epoch = epoch;
    this.#gap = gap;
  }

  save() {
    return { due: this.#due, epoch: this.#epoch, gap: this.#gap, passes: this.#passes };
  }

  restore(saved: ReturnType<EvaluationSchedule['save']>): void {
    this.#due = saved.due;
    this.#epoch = saved.epoch;
    this.#gap = saved.gap;
    this.#passes = saved.passes;
  }

  /** Epochs until the gap meets the tolerance, at the rate since the last evaluation. */
  #remaining(epoch: number, gap: number): number {
    const ratio = gap / this.#gap;
    if (!(ratio > 0 && ratio < 1)) return 0;
    const rate = -log(ratio) / (epoch - this.#epoch);
    return gap > this.#tolerance ? log(gap / this.#tolerance) / rate : 0;
  }
}

const longestWait = 5;

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
export class Convergence {
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
  /** Every epoch so far of a solver that is free in its visits, in the thread that writes checkpoints. */
  visited: VisitedEpoch[] = [];
  readonly #method: Method;
  readonly #best: BestPoint;
  readonly #test: TestMeasure | undefined;
  readonly #tolerance: number;
  readonly #atZero: number;
  readonly #schedule: EvaluationSchedule;
  readonly #early: EarlyStop | undefined;
  /** D of the α that the run started from: no method needs to compute it again. */
  #startingDual = -Infinity;

  constructor(
    method: Method,
    best: BestPoint,
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
    this.#schedule = new EvaluationSchedule(tolerance);
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
  observe(epoch: number): void {
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
    const moved = known && this.#improve(found.primal);
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
  #improve(found: number): boolean {
    if (this.#method.combinesIterates) return this.#best.take(this.#method) > 0;
    if (found >= this.primal) return false;
    this.#best.replace(this.#method);
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

  /** Goes back to the point that did best on the test rows, where such points are saved. */
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
  restore(saved: SavedConvergence, sameTolerance: boolean, sameTest: boolean): void {
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

export type SavedConvergence = ReturnType<Convergence['save']>;

/**
 * Keeps the point that did best on the test rows, of equals the first, and counts measurements
 * since. A function of numbers alone, never of time: the same on any machine.
 */
export class EarlyStop {
  /** Where the best point is saved, laid out like all weights. */
  readonly weights: Float64Array;
  readonly #patience: number;
  readonly #objective: Objective;
  #best: Measured | undefined;
  #since = 0;

  constructor(patience: number, weights: Float64Array, objective: Objective) {
    this.#patience = patience;
    this.weights = weights;
    this.#objective = objective;
  }

  /** What was measured at the best point, once there is one. */
  get best(): Measured | undefined {
    return this.#best;
  }

  /** Whether the last N measurements were no better than the best one. */
  get exhausted(): boolean {
    return this.#since >= this.#patience;
  }

  /** Takes what was measured at a point that nobody measured before. */
  note(measured: Measured, weights: Float64Array): void {
    if (this.#best && !(measured.error < this.#best.error)) {
      this.#since++;
      return;
    }
    this.#best = measured;
    this.#since = 0;
    this.#objective.copyColumns(weights, this.weights);
  }

  save() {
    return { best: this.#best ?? null, since: this.#since };
  }

  restore(saved: ReturnType<EarlyStop['save']>): void {
    this.#best = saved.best ?? undefined;
    this.#since = saved.since;
  }
}

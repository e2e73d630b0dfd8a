import { log } from '../math/elementary.ts';
import type { BestPoint } from './objective/best-point.ts';
import { type Gap, type Objective, relativeGap } from './objective/objective.ts';
import type { Method } from './solver.ts';
import type { Measured, TestMeasure } from './test-error.ts';

/** Epochs from one evaluation to the next, at most. */
const longestWait = 5;

/**
 * When to pay for a whole evaluation. The gap falls about geometrically, so the epochs that remain
 * can be predicted from two evaluations; the next one is due when a third of them have passed, or
 * when the epochs since have done as much work as it takes. A function of gaps and work alone, hence
 * the same on any number of threads.
 */
export class EvaluationSchedule {
  readonly #tolerance: number;
  /** The next evaluation, and epoch, gap and work of the last one. */
  #now = { due: 1, epoch: 0, gap: Infinity, passes: 0 };

  constructor(tolerance: number) {
    this.#tolerance = tolerance;
  }

  isDue(epoch: number): boolean {
    return epoch >= this.#now.due;
  }

  /** After an evaluation; `passes` is the work done so far. */
  note(epoch: number, gap: number, passes: number): void {
    const work = (passes - this.#now.passes) / (epoch - this.#now.epoch);
    // An evaluation is a pass: where an epoch is less, several of them cost no more.
    const least = work > 0 ? Math.round(1 / work) : 1;
    const wait = Math.max(least, Math.floor(this.#remaining(epoch, gap) / 3));
    const due = epoch + Math.max(1, Math.min(longestWait, wait, Math.floor(epoch / 2)));
    this.#now = { due, epoch, gap, passes };
  }

  save() {
    return this.#now;
  }

  restore(saved: ReturnType<EvaluationSchedule['save']>): void {
    this.#now = saved;
  }

  /** Epochs until the gap meets the tolerance, at the rate since the last evaluation. */
  #remaining(epoch: number, gap: number): number {
    const ratio = gap / this.#now.gap;
    if (!(ratio > 0 && ratio < 1)) return 0;
    const rate = -log(ratio) / (epoch - this.#now.epoch);
    return gap > this.#tolerance ? log(gap / this.#tolerance) / rate : 0;
  }
}

/** P and D after an epoch, and the cells in the order of their visits, worker · p + block. */
export interface VisitedEpoch {
  readonly primal: number;
  readonly dual: number;
  readonly visits: readonly number[];
}

interface ConvergenceOptions {
  readonly method: Method;
  readonly best: BestPoint;
  readonly test: TestMeasure | undefined;
  readonly early: EarlyStop | undefined;
  readonly tolerance: number;
  /** P(0) */
  readonly atZero: number;
}

/**
 * How far a run has come: the best primal point and the best lower bound, each valid by itself since
 * no solver improves both in every epoch, and when to evaluate the gap again.
 */
export class Convergence {
  primal: number;
  dual = -Infinity;
  latest: Gap | undefined;
  measured: Measured | undefined;
  /** Milliseconds spent on measuring test rows. */
  measuring = 0;
  /** Epochs left when the tolerance has been met, −1 before. */
  left = -1;
  /** Whether the last evaluation was a whole one, so that another would add nothing. */
  whole = false;
  /** Every epoch so far of a solver that is free in its visits, in the thread that writes checkpoints. */
  visited: VisitedEpoch[] = [];
  readonly #options: ConvergenceOptions;
  readonly #schedule: EvaluationSchedule;
  /** D of the α that the run started from: no method needs to compute it again. */
  #startingDual = -Infinity;

  constructor(options: ConvergenceOptions) {
    this.#options = options;
    this.#schedule = new EvaluationSchedule(options.tolerance);
    this.primal = options.atZero;
  }

  /** Begins at a point that is known: its weights, and D of its α where it has one. */
  begin(weights: Float64Array, dual: number): void {
    this.#goTo(weights);
    this.dual = dual;
    this.#startingDual = dual;
  }

  /** Whether the error on the test rows has not fallen for long enough. */
  get exhausted(): boolean {
    return this.#options.early?.exhausted ?? false;
  }

  get relativeGap(): number {
    return relativeGap(this, this.#options.atZero);
  }

  get met(): boolean {
    return this.relativeGap <= this.#options.tolerance;
  }

  /** After an epoch: evaluates P and D as far as that is due. */
  observe(epoch: number): void {
    this.whole = this.left < 0 && this.#schedule.isDue(epoch);
    this.#evaluate(epoch, this.whole);
    if (this.left > 0) this.left--;
    else if (this.met) this.left = this.#options.method.polish;
  }

  #evaluate(epoch: number, whole: boolean): void {
    const found = this.#options.method.evaluate(whole);
    if (Number.isNaN(found.primal) || (whole && found.primal === Infinity)) {
      throw new Error(
        `the objective is no longer finite after epoch ${epoch}: a smaller step size (dso, sgd, psgd) or features of a smaller scale may help`,
      );
    }
    this.dual = Math.max(this.dual, found.dual);
    const known = found.primal < Infinity;
    if (known) this.latest = found;
    const moved = known && this.#improve(found.primal);
    if (moved) this.primal = this.#options.best.primal();
    this.#measure(known, moved);
    if (whole) this.#schedule.note(epoch, this.relativeGap, this.#options.method.passes);
  }

  /** Only a gap that is recomputed from scratch may go into a certificate. */
  certify(epoch: number): void {
    // Where the result will be an earlier point, nothing can be gained from the present one.
    if (!this.whole && !this.exhausted) this.#evaluate(epoch, true);
    this.primal = this.#options.best.primalAfresh();
    this.dual = Math.max(this.#startingDual, this.#options.method.certify(this.dual));
    this.left = -1;
  }

  /** Improves the best primal point by the current one; returns whether it has moved. */
  #improve(found: number): boolean {
    const { best, method } = this.#options;
    if (method.combinesIterates) return best.take(method) > 0;
    if (found >= this.primal) return false;
    best.replace(method);
    return true;
  }

  #measure(known: boolean, moved: boolean): void {
    const { best, early, method, test } = this.#options;
    if (!test || !(test.latest ? known : moved || !this.measured)) return;
    const before = performance.now();
    const { weights } = test.latest ? method : best;
    this.measured = test.measure(weights);
    early?.note(this.measured, weights);
    this.measuring += performance.now() - before;
  }

  /** Goes back to the point that did best on the test rows, where such points are saved. */
  goBack(): void {
    const { early } = this.#options;
    if (!early?.best) return;
    this.#goTo(early.weights);
    this.measured = early.best;
  }

  #goTo(weights: Float64Array): void {
    this.#options.best.goTo(weights);
    this.primal = this.#options.best.primal();
  }

  save() {
    const { early } = this.#options;
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
      ...(early && { early: early.save() }),
    };
  }

  /** `sameTest`: the test rows are those of before, so that the errors measured on them still count. */
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
    if (sameTest && saved.early) this.#options.early?.restore(saved.early);
    // A tolerance that was met may not be any more, and the other way round.
    if (!sameTolerance && !this.met) this.left = -1;
    else if (!sameTolerance && this.left < 0) this.left = this.#options.method.polish;
  }
}

export type SavedConvergence = ReturnType<Convergence['save']>;

/**
 * Saves the point that did best on the test rows, of equals the first, and counts measurements
 * since. A function of numbers alone, never of time: the same on any machine.
 */
export class EarlyStop {
  /** Where the best point is saved, laid out like all weights. */
  readonly weights: Float64Array;
  readonly #limit: number;
  readonly #objective: Objective;
  /** What was measured at the best point, once there is one. */
  best: Measured | undefined;
  #since = 0;

  /** `limit`: measurements in a row without progress after which the run ends. */
  constructor(limit: number, weights: Float64Array, objective: Objective) {
    this.#limit = limit;
    this.weights = weights;
    this.#objective = objective;
  }

  /** Whether the last N measurements were no better than the best one. */
  get exhausted(): boolean {
    return this.#since >= this.#limit;
  }

  /** Takes what was measured at a new point. */
  note(measured: Measured, weights: Float64Array): void {
    if (this.best && !(measured.error < this.best.error)) {
      this.#since++;
      return;
    }
    this.best = measured;
    this.#since = 0;
    this.#objective.copyColumns(weights, this.weights);
  }

  save() {
    return { best: this.best ?? null, since: this.#since };
  }

  restore(saved: ReturnType<EarlyStop['save']>): void {
    this.best = saved.best ?? undefined;
    this.#since = saved.since;
  }
}

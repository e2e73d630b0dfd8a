import { DsoError } from '../errors.ts';
import type { EarlyStop } from './early-stop.ts';
import { EvaluationSchedule } from './evaluation-schedule.ts';
import type { BestPoint } from './objective/best-point.ts';
import type { Certifier, ProvedBound } from './objective/certificate.ts';
import { type Gap, relativeGap } from './objective/objective.ts';
import type { ZeroWeights } from './objective/zero-weights.ts';
import { type Hindrance, ProgressWatch } from './progress-watch.ts';
import type { Method } from './solver.ts';
import type { Measured, TestMeasure } from './test-error.ts';

/**
 * From this share of P(0) on a gap may be all that double precision can do: a certificate tells, another
 * one when the gap is half as large.
 */
const suspicious = 1e-12;
/** From this share of P(0) on, the second number of evaluations without progress ends a run. */
const stallingFrom = 1e-8;
const stalledEvaluations = 1000;
/** A gap that is no larger than this many times what rounding may do is as small as it gets. */
const spoilt = 4;
/** An objective whose infimum is 0, and never reached, has nothing left when it is this share of P(0). */
const vanished = 1e-15;
/** What a gap has to fall by, as a share of itself, to count as progress. */
const progress = 1e-4;
const nothing: ProvedBound = { dual: -Infinity, allowance: 0 };

function diverged(epoch: number): DsoError {
  const message = `the objective is no longer finite after epoch ${epoch}`;
  const advice =
    'features or labels of a smaller scale may help, or a smaller step size (dso, sgd, psgd)';
  return new DsoError('failure', `${message}: ${advice}`);
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
  readonly certifier: Certifier;
  /** What was subtracted from the labels: the intercept of the model is larger by it. */
  readonly centre: number;
  /** Where the penalty has an L1 part, which makes weights 0. */
  readonly zeroWeights: ZeroWeights | undefined;
  /** See progress-watch.ts. */
  readonly scaleRatio: () => number;
  /** Whether an intercept alone makes the losses as small as one likes: see infimumIsZero. */
  readonly vanishes: boolean;
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
  /** Whether a certificate is due. */
  ends = false;
  /** Whether the last evaluation was a whole one, so that another would add nothing. */
  whole = false;
  /** Every epoch so far of a solver that is free in its visits, in the thread that writes checkpoints. */
  visited: VisitedEpoch[] = [];
  readonly #options: ConvergenceOptions;
  readonly #schedule: EvaluationSchedule;
  /** Of the last certificate: D and its rounding errors, the gap before, and all rounding errors. */
  #proved = { dual: -Infinity, dualAllowance: 0, gap: Infinity, allowance: 0 };
  /** Of the weights as the model has them: rounding errors of P, and what rounding the intercept costs. */
  #primalAllowance = 0;
  #rounded = 0;
  /** Whole evaluations since the gap was last noted, which have not lowered it noticeably; and that gap. */
  #stalled = 0;
  #notedGap = Infinity;
  readonly #watch = new ProgressWatch();
  /** Whether the certifier holds a dual point. */
  #kept = false;
  /** What the dual point of the last certificate is multiplied by, where it has one. */
  dualScale: number | undefined;
  /** Columns that the last certificate proves to be 0 in every optimum, where it can. */
  provedZeros: number | undefined;

  constructor(options: ConvergenceOptions) {
    this.#options = options;
    this.#schedule = new EvaluationSchedule(options.tolerance);
    this.primal = options.atZero;
  }

  /** Begins at a point that is known: its weights, and D of its α where it has one. */
  begin(
    weights: Float64Array,
    start?: { readonly alpha: Float64Array; readonly dual: number },
  ): void {
    this.#goTo(weights);
    if (!start) return;
    this.dual = start.dual;
    this.#keep(start.alpha);
  }

  #keep(alpha: Float64Array): void {
    this.#options.certifier.keep(alpha);
    this.#kept = true;
  }

  /** Whether the error on the test rows has not fallen for long enough. */
  get exhausted(): boolean {
    return this.#options.early?.exhausted ?? false;
  }

  get relativeGap(): number {
    return relativeGap(this);
  }

  get met(): boolean {
    return this.relativeGap <= this.#options.tolerance;
  }

  /** Whether a certificate would say that the tolerance is met, by what is known of rounding errors. */
  get #seemsMet(): boolean {
    const { allowance } = this.#proved;
    return (
      this.met &&
      relativeGap({ primal: this.primal, dual: this.dual - allowance }) <= this.#options.tolerance
    );
  }

  /** Where losses are not negative, P bounds its distance from the optimum if no better bound is known. */
  get #isStalled(): boolean {
    const gap = this.primal - this.dual;
    const distance = this.primal < 0 ? gap : Math.min(gap, this.primal);
    return (
      this.#stalled >= stalledEvaluations &&
      distance <= stallingFrom * Math.abs(this.#options.atZero)
    );
  }

  /** Whether double precision may have ended the progress: a certificate has to tell. */
  get #seemsExact(): boolean {
    const { atZero } = this.#options;
    const gap = this.primal - this.dual;
    return gap <= suspicious * atZero && gap <= 0.5 * this.#proved.gap;
  }

  /** Of a certificate: whether no epoch could bring the gap much lower, what it is of P, or P unproved. */
  get exhaustsPrecision(): boolean {
    const { tolerance, atZero } = this.#options;
    const { gap, allowance } = this.#proved;
    if (allowance >= tolerance * Math.abs(this.primal) || gap <= spoilt * allowance) return true;
    if (this.#isStalled && !(this.dual > 0)) return true;
    return this.#options.vanishes && this.primal <= vanished * atZero;
  }

  /** Whether the gap has not fallen for very many epochs. */
  isStuck(epoch: number): boolean {
    return this.#watch.isStuck(epoch) || this.#isStalled;
  }

  /** What was measured of a run that ends short of its tolerance, after many epochs; all threads call it. */
  hindranceAt(epoch: number): Hindrance | undefined {
    if (this.met || !(this.#watch.isLong(epoch) || this.#isStalled)) return undefined;
    const { atZero, scaleRatio } = this.#options;
    const { since } = this.#watch;
    return { since, objectiveShare: this.primal / atZero, scaleRatio: scaleRatio() };
  }

  /** After an epoch: evaluates P and D as far as that is due. */
  observe(epoch: number): void {
    this.whole = this.#schedule.isDue(epoch, this.#slack);
    this.#evaluate(epoch, this.whole);
    this.ends = this.#seemsMet || this.#seemsExact || this.isStuck(epoch);
  }

  /** That of the method, as a share of P. */
  get #slack(): number | undefined {
    const { slack } = this.#options.method;
    return slack === undefined ? undefined : slack / Math.abs(this.primal);
  }

  #evaluate(epoch: number, whole: boolean): void {
    const found = this.#options.method.evaluate(whole);
    if (Number.isNaN(found.primal) || (whole && found.primal === Infinity)) throw diverged(epoch);
    const { best, method } = this.#options;
    const raised = found.dual > this.dual;
    if (raised) this.dual = found.dual;
    if (raised && method.dualPoint) this.#keep(method.dualPoint);
    const known = found.primal < Infinity;
    if (known) this.latest = found;
    const moved = known && this.#improve(found.primal);
    // A point that replaces the best one brings its P along.
    if (moved) this.primal = method.result === 'combined' ? best.primal() : found.primal;
    if (whole) this.#noteProgress(epoch);
    this.#measure(known, moved);
    if (whole) this.#schedule.note(epoch, this.relativeGap, method.passes, this.#slack);
  }

  #noteProgress(epoch: number): void {
    this.#watch.note(epoch, this);
    const gap = this.primal - this.dual;
    this.#stalled++;
    if (!(gap < (1 - progress) * this.#notedGap)) return;
    this.#notedGap = gap;
    this.#stalled = 0;
  }

  /** Only a gap that is recomputed from scratch may go into a certificate. */
  certify(epoch: number): void {
    // Where the result will be an earlier point, nothing can be gained from the present one.
    if (!this.whole && !this.exhausted) this.#evaluate(epoch, true);
    const { method, certifier, zeroWeights } = this.#options;
    const gap = this.primal - this.dual;
    const seemed = this.relativeGap;
    const kept = this.#kept ? certifier.prove() : nothing;
    const own = method.certify?.() ?? nothing;
    this.#take(own.dual > kept.dual ? own : kept, gap);
    this.#settle(epoch);
    // Where rounding errors are most of the gap, or alone above the tolerance, those of Xᵀα are worth avoiding.
    const isSpoilt = seemed <= this.#options.tolerance || this.relativeGap > 2 * seemed;
    if (this.#kept && !this.met && isSpoilt) {
      const exact = certifier.prove(true);
      if (exact.dual > this.#proved.dual) this.#take(exact, gap);
      this.#charge();
    }
    this.provedZeros = zeroWeights?.countProved(this.primal + this.#primalAllowance);
    this.#dropWeights();
    this.ends = false;
  }

  #dropWeights(onlyVanishing = false): void {
    const { best, certifier, zeroWeights } = this.#options;
    const found = zeroWeights?.drop(best, this.primal, onlyVanishing);
    if (found === undefined) return;
    this.primal = found;
    this.#primalAllowance = certifier.primalAllowance(best);
    this.#charge();
  }

  #take({ dual, allowance, scale }: ProvedBound, gap: number): void {
    this.dualScale = scale;
    this.#proved = { dual, dualAllowance: allowance, gap, allowance };
  }

  /** P of the weights as the model will have them. */
  #settle(epoch: number): void {
    const { best, certifier, centre } = this.#options;
    const before = this.primal;
    best.roundIntercept(centre);
    this.#primalAllowance = certifier.primalAllowance(best);
    this.primal = best.primal();
    // Where the point comes from a checkpoint, it may be anything.
    if (!Number.isFinite(this.primal)) throw diverged(epoch);
    // What the model's intercept loses in being rounded is lost in every epoch.
    this.#rounded = centre === 0 ? 0 : Math.max(0, this.primal - before);
    this.#charge();
  }

  /** Charges the rounding errors of P to the bound. */
  #charge(): void {
    const { dual, dualAllowance } = this.#proved;
    // It cannot be above P: where it is, numbers have overflowed, and nothing is proved.
    const bound = dual - this.#primalAllowance;
    this.dual = bound <= this.primal ? bound : -Infinity;
    this.#proved.allowance = dualAllowance + this.#primalAllowance + this.#rounded;
  }

  /** Improves the best primal point by the current one; returns whether it has moved. */
  #improve(found: number): boolean {
    const { best, method, tolerance } = this.#options;
    if (method.result === 'combined') return best.take(method) > 0;
    const suffices =
      method.result === 'latest' && relativeGap({ primal: found, dual: this.dual }) <= tolerance;
    if (found >= this.primal && !suffices) return false;
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
  goBack(epoch: number): void {
    const { early } = this.#options;
    if (!early?.best) return;
    this.#options.best.goTo(early.weights);
    this.#settle(epoch);
    // What was measured on test rows is for these weights.
    this.#dropWeights(true);
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
      ends: this.ends,
      whole: this.whole,
      visited: this.visited,
      schedule: this.#schedule.save(),
      proved: this.#proved,
      stalled: this.#stalled,
      notedGap: this.#notedGap,
      watch: this.#watch.save(),
      kept: this.#kept,
      ...(early && { early: early.save() }),
    };
  }

  /** `sameTest`: the test rows are those of before, so that the errors measured on them still count. */
  restore(saved: SavedConvergence, sameTolerance: boolean, sameTest: boolean): void {
    this.primal = saved.primal;
    this.dual = saved.dual;
    this.latest = saved.latest ?? undefined;
    this.measured = sameTest ? (saved.measured ?? undefined) : undefined;
    this.ends = saved.ends;
    this.whole = saved.whole;
    this.visited = saved.visited;
    this.#schedule.restore(saved.schedule);
    this.#proved = { ...saved.proved };
    this.#stalled = saved.stalled;
    this.#notedGap = saved.notedGap;
    this.#watch.restore(saved.watch);
    this.#kept = saved.kept;
    if (sameTest && saved.early) this.#options.early?.restore(saved.early);
    // A tolerance that was met may not be any more, and the other way round.
    if (!sameTolerance) this.ends = this.met;
  }
}

export type SavedConvergence = ReturnType<Convergence['save']>;

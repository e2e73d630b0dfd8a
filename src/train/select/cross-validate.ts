import type { Dataset } from '../../data/dataset.ts';
import { rowWeights } from '../../data/weights.ts';
import { DsoError, UsageError } from '../../errors.ts';
import { Fold } from '../../select/fold.ts';
import { refuseSingleRun, type SingleRun } from '../../select/refusal.ts';
import { Allowance } from '../allowance.ts';
import { type Fit, fitProblem, inLanes } from '../fit.ts';
import { checkFolds, dealFolds, scoresOfFold } from '../folds.ts';
import type { TrainOptions, TrainResult } from '../options/options.ts';
import { type Prepared, prepare } from '../prepare.ts';
import { train } from '../train.ts';
import { checkLambdas, type LambdaOptions, lambdasOf, startAtZero } from './lambdas.ts';
import { checkMeasure, type MeasureName, usualMeasure } from './measure.ts';
import { startFrom } from './path.ts';

/** `time` is for all models together; a signal ends it with what is known by then. */
export interface ValidateOptions
  extends Omit<TrainOptions, SingleRun | 'consume' | 'test' | 'holdout' | 'earlyStop'>,
    LambdaOptions {
  /** Default 5. */
  readonly folds?: number;
  /** What λ is chosen by; default: the error of a classification, else what the loss measures. */
  readonly metric?: MeasureName;
  /** Called after each model that was trained: of so many. */
  readonly onFit?: (done: number, of: number) => void;
}

/** How well one λ did on the rows held out. */
export interface ValidatedLambda {
  readonly lambda: number;
  /** Of each fold; smaller is better. */
  readonly folds: readonly number[];
  readonly mean: number;
  /** Of the mean: the deviation of the folds divided by the root of their number. */
  readonly standardError: number;
  /** The largest relative duality gap of the models measured. */
  readonly relativeGap: number;
  /** Of all models with this λ, each started from the one before it. */
  readonly epochs: number;
  readonly passes: number;
}

export interface Validation {
  readonly metric: MeasureName;
  /** From the largest λ to the smallest. */
  readonly lambdas: readonly ValidatedLambda[];
  /** The λ with the smallest mean, of equal ones the largest. */
  readonly best: ValidatedLambda;
  /** The largest λ whose mean is within a standard error of the best. */
  readonly simplest: ValidatedLambda;
  /** false where a signal or the limit on time left folds or λs out. */
  readonly complete: boolean;
}

/**
 * Trains on all folds but one and measures on that one, for every fold and λ. All models are fitted
 * to one copy of the data, in which the rows held out weigh nothing; along λ each starts from the
 * one before. Folds are dealt by the seed and stratified by class.
 */
export async function crossValidate(
  dataset: Dataset,
  { lambdas, count, ratio, folds = 5, metric, onFit, ...options }: ValidateOptions = {},
): Promise<Validation> {
  refuseSingleRun('cross-validation', options);
  checkLambdas({ lambdas, count, ratio });
  checkFolds(folds, dataset.rows);
  if (dataset.stored) {
    throw new UsageError(
      `${dataset.name}: its entries are on disk; read it with readDataset to cross-validate on it`,
    );
  }
  const atEnd: (() => void)[] = [];
  try {
    const tasksOf = (vectors: number) => vectors * folds;
    const kept = { ...options, consume: false };
    const prepared = await prepare(dataset, kept, undefined, atEnd, { tasksOf, starts: true });
    const { loss } = prepared.site.settings;
    const name = metric ?? usualMeasure(loss);
    checkMeasure(name, loss);
    const path = lambdasOf(prepared, { lambdas, count, ratio });
    // The weights of classes are for training; an error counts what its row counts.
    const weights = rowWeights(dataset) ?? new Float64Array(dataset.rows).fill(1);
    const measured = await measureFolds(prepared, path, folds, name, weights, onFit);
    return summarize(name, path, measured);
  } finally {
    for (const act of atEnd) act();
  }
}

/** The same, then trains on all rows with the best λ, or with the simplest. */
export async function crossValidateAndTrain(
  dataset: Dataset,
  options: ValidateOptions & { readonly choose?: 'best' | 'simplest' } = {},
): Promise<TrainResult & { readonly validation: Validation }> {
  const { choose = 'best', ...rest } = options;
  const validation = await crossValidate(dataset, rest);
  const { lambdas: _a, count: _b, ratio: _c, folds: _d, metric: _e, onFit: _f, ...training } = rest;
  const { lambda } = validation[choose];
  return { ...(await train(dataset, { ...training, lambda })), validation };
}

/** One fold and one vector of the model: its fits follow one another from the largest λ on. */
interface Chain {
  readonly fold: number;
  readonly vector: number;
}

async function measureFolds(
  prepared: Prepared,
  path: readonly number[],
  count: number,
  name: MeasureName,
  rowWeight: Float64Array,
  onFit: ValidateOptions['onFit'],
): Promise<Fold[]> {
  const { site, input } = prepared;
  const { ground, settings, vectors } = site;
  const { rows } = input.train.dataset;
  const fold = dealFolds(rows, ground.targets.codes, count, settings.seed);
  const several = vectors > 1 && !input.classes?.multiLabel;
  const folds = Array.from(
    { length: count },
    (_, which) => new Fold(fold, which, ground.targets, rowWeight, { vectors, several }),
  );
  const chains = Array.from({ length: count * vectors }, (_, task): Chain => {
    return { fold: Math.floor(task / vectors), vector: task % vectors };
  });
  const fits = chains.length * path.length;
  const allowance = new Allowance(settings.time, fits, ground.rooms.length);
  const walk = new Walk(prepared, path, allowance);
  let done = 0;
  await inLanes(site, chains, ({ fold: which, vector }, lane) =>
    walk.follow(fold, { fold: which, vector }, lane, (step, scores, outcome) => {
      folds[which].add(step, vector, scores, outcome, name, settings.loss);
      done += 1;
      onFit?.(done, fits);
    }),
  );
  walk.rethrow();
  return folds;
}

type OnScores = (step: number, scores: Float64Array, outcome?: Fit['outcome']) => void;

/** Fits along chains. When one fails the others end too, so that nothing runs on behind an error. */
class Walk {
  readonly #prepared: Prepared;
  readonly #path: readonly number[];
  readonly #allowance: Allowance;
  #failure: { readonly error: unknown } | undefined;

  constructor(prepared: Prepared, path: readonly number[], allowance: Allowance) {
    this.#prepared = prepared;
    this.#path = path;
    this.#allowance = allowance;
  }

  async follow(fold: Int32Array, chain: Chain, lane: number, onScores: OnScores): Promise<void> {
    try {
      await this.#follow(fold, chain, lane, onScores);
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  rethrow(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async #follow(fold: Int32Array, chain: Chain, lane: number, onScores: OnScores): Promise<void> {
    const { site, input } = this.#prepared;
    const { dataset } = input.train;
    const { vector, fold: which } = chain;
    const weights = new Float64Array(fold.length);
    for (let row = 0; row < fold.length; row += 1) {
      if (fold[row] !== which) weights[row] = site.ground.weights?.[row] ?? 1;
    }
    const only = input.classes && onlySign(site.ground.targets.of(vector), weights);
    let before: Fit | undefined;
    for (const [step, lambda] of this.#path.entries()) {
      const time = this.#allowance.next();
      if (this.#failure || site.options.signal?.aborted || !(time > 0)) return;
      if (only !== undefined) {
        const held = fold.reduce((sum, one) => sum + (one === which ? 1 : 0), 0);
        onScores(step, new Float64Array(held).fill(only));
        continue;
      }
      const start = startFrom(before) ?? startAtZero(this.#prepared, vector, weights);
      before = await fitProblem(site, { vector, lambda, weights, ...start }, lane, time);
      if (before.outcome.stopped === 'interrupted') return;
      onScores(step, scoresOfFold(dataset, before.weights, fold, which), before.outcome);
    }
  }
}

/**
 * The side that all rows with a weight are on, if they are: a class too rare to be in every fold.
 * There is nothing to tell apart then, and an intercept would grow without end.
 */
function onlySign(targets: Float64Array, weights: Float64Array): number | undefined {
  let only: number | undefined;
  for (let row = 0; row < targets.length; row += 1) {
    if (weights[row] === 0 || targets[row] === only) continue;
    if (only !== undefined) return undefined;
    only = targets[row];
  }
  return only;
}

/** Of folds that were not all finished, those that came furthest, as far as they came. */
function summarize(
  metric: MeasureName,
  path: readonly number[],
  folds: readonly Fold[],
): Validation {
  const furthest = Math.max(...folds.map(({ steps }) => steps.length));
  if (furthest === 0) {
    throw new DsoError('failure', 'cross-validation was ended before any fold was measured');
  }
  const counted = folds.filter(({ steps }) => steps.length === furthest);
  const lambdas = path.slice(0, furthest).map((lambda, step): ValidatedLambda => {
    const own = counted.map(({ steps }) => steps[step]);
    const values = own.map(({ value }) => value);
    const total = (key: 'epochs' | 'passes') => own.reduce((sum, one) => sum + one[key], 0);
    return {
      lambda,
      folds: values,
      ...spread(values),
      relativeGap: Math.max(...own.map(({ relativeGap }) => relativeGap)),
      epochs: total('epochs'),
      passes: total('passes'),
    };
  });
  const complete = furthest === path.length && counted.length === folds.length;
  return { metric, lambdas, ...chosen(lambdas), complete };
}

/** The spread of a single value is unknown: NaN. */
function spread(values: readonly number[]): { mean: number; standardError: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, standardError: Math.sqrt(squares / (values.length - 1) / values.length) };
}

function chosen(lambdas: readonly ValidatedLambda[]): Pick<Validation, 'best' | 'simplest'> {
  const best = lambdas.reduce((least, one) => (one.mean < least.mean ? one : least));
  const limit = best.mean + best.standardError;
  const simplest = lambdas.find((one) => one.mean <= limit) ?? best;
  return { best, simplest };
}

import { type Dataset, rowWeights } from '../../data/dataset.ts';
import type { Targets } from '../../data/labels.ts';
import { DsoError, UsageError } from '../../errors.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { assignFolds, checkFolds, scoresOfFold } from '../calibrate.ts';
import { type Fit, fitSubproblem, inLanes } from '../fit.ts';
import type { TrainOptions, TrainResult } from '../options/options.ts';
import { TimeBudget, train } from '../train.ts';
import {
  type LaidPath,
  type LambdaOptions,
  openPath,
  type SingleRun,
  startAtZero,
} from './lambdas.ts';
import { checkMeasure, defaultMeasure, type MeasureName, measure } from './measure.ts';
import { startFrom } from './path.ts';

/** What was found out about one λ on one fold. */
interface Step {
  readonly value: number;
  readonly relativeGap: number;
  readonly epochs: number;
  readonly passes: number;
}

/** Scores and effort of one λ, until all vectors have come to it. */
interface Gathering {
  readonly scores: Float64Array[];
  missing: number;
  relativeGap: number;
  epochs: number;
  passes: number;
}

/** What the folds of a cross-validation share. */
export interface FoldSettings {
  /** The fold of each row. */
  readonly folds: Int32Array;
  readonly targets: Targets;
  readonly weights: Float64Array;
  readonly vectors: number;
  /** Whether a row has one class of several. */
  readonly several: boolean;
  readonly metric: MeasureName;
  readonly loss: Loss;
}

/** One fold: measures each λ as soon as all vectors have been fitted, and forgets the scores. */
export class Fold {
  /** By index of the λ, as far as they are measured. */
  readonly steps: Step[] = [];
  readonly #gatherings = new Map<number, Gathering>();
  readonly #settings: FoldSettings;
  readonly #isHeldOut: (_: number, row: number) => boolean;
  readonly #weights: Float64Array;
  /** Of the rows held out, by vector. */
  readonly #targets: Float64Array[] = [];

  constructor(which: number, settings: FoldSettings) {
    this.#settings = settings;
    this.#isHeldOut = (_, row) => settings.folds[row] === which;
    this.#weights = settings.weights.filter(this.#isHeldOut);
  }

  /** The scores of the rows held out, and what a fit cost, if there was one. */
  add(step: number, vector: number, scores: Float64Array, outcome?: Fit['outcome']): void {
    const { vectors: missing, metric, loss, several } = this.#settings;
    const found = this.#gatherings.get(step) ?? {
      scores: [],
      missing,
      relativeGap: 0,
      epochs: 0,
      passes: 0,
    };
    this.#gatherings.set(step, found);
    found.scores[vector] = scores;
    found.missing -= 1;
    found.relativeGap = Math.max(found.relativeGap, outcome?.relativeGap ?? 0);
    found.epochs += outcome?.epochs ?? 0;
    found.passes += outcome?.passes ?? 0;
    if (found.missing > 0) return;
    this.#gatherings.delete(step);
    const { relativeGap, epochs, passes } = found;
    const targets = found.scores.map((_, own) => this.#targetsOf(own));
    const heldOut = { scores: found.scores, targets, weights: this.#weights };
    const value = measure(metric, heldOut, loss, several);
    this.steps[step] = { value, relativeGap, epochs, passes };
  }

  #targetsOf(vector: number): Float64Array {
    this.#targets[vector] ??= this.#settings.targets.of(vector).filter(this.#isHeldOut);
    return this.#targets[vector];
  }
}

/** `time` is for all models together; a signal ends it with what is known by then. */
export interface ValidateOptions
  extends Omit<TrainOptions, SingleRun | 'consume' | 'test' | 'holdout' | 'earlyStop'>,
    LambdaOptions {
  /** Default 5. */
  readonly folds?: number;
  /** What λ is chosen by; default: the error of a classification, else what the loss measures. */
  readonly metric?: MeasureName;
  /** Called after each model: models trained, and how many there will be. */
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
 * one before. The seed assigns rows to folds, stratified by class.
 */
export async function crossValidate(
  dataset: Dataset,
  { folds = 5, metric, onFit, ...options }: ValidateOptions = {},
): Promise<Validation> {
  checkFolds(folds, dataset.rows);
  if (dataset.stored) {
    throw new UsageError(
      `${dataset.name}: its nonzeros are on disk; read it with readDataset to cross-validate on it`,
    );
  }
  const laid = await openPath('cross-validation', dataset, options, (vectors) => vectors * folds);
  try {
    const { loss } = laid.training.settings;
    const name = metric ?? defaultMeasure(loss);
    checkMeasure(name, loss);
    // The weights of classes are for training; an error counts what its row counts.
    const weights = rowWeights(dataset) ?? new Float64Array(dataset.rows).fill(1);
    const measured = await measureFolds(laid, folds, { metric: name, weights, loss }, onFit);
    return summarize(name, laid.path, measured);
  } finally {
    laid.training.layout.close();
  }
}

/** The same, then trains on all rows with the best λ, or with the simplest. */
export async function crossValidateAndTrain(
  dataset: Dataset,
  options: ValidateOptions & { readonly choose?: 'best' | 'simplest' } = {},
): Promise<TrainResult & { readonly validation: Validation }> {
  const { choose = 'best', ...rest } = options;
  const validation = await crossValidate(dataset, rest);
  const { lambda } = validation[choose];
  return { ...(await train(dataset, { ...withoutSelection(rest), lambda })), validation };
}

/** The options of training among those of a selection. */
export function withoutSelection<Options extends ValidateOptions>(options: Options) {
  const { lambdas: _a, count: _b, ratio: _c, folds: _d, metric: _e, onFit: _f, ...rest } = options;
  return rest;
}

/** One fold and one vector of the model: its fits follow one another from the largest λ on. */
interface Chain {
  readonly fold: number;
  readonly vector: number;
}

async function measureFolds(
  laid: LaidPath,
  count: number,
  measuring: Pick<FoldSettings, 'metric' | 'weights' | 'loss'>,
  onFit: ValidateOptions['onFit'],
): Promise<Fold[]> {
  const { training } = laid;
  const { layout, settings, vectors, classes, shard } = training;
  const { targets } = layout;
  const several = vectors > 1 && !classes?.multiLabel;
  const folds = assignFolds(shard.dataset.rows, targets.codes, count, settings.seed);
  const shared = { ...measuring, folds, targets, vectors, several };
  const measured = Array.from({ length: count }, (_, which) => new Fold(which, shared));
  const chains = Array.from({ length: count * vectors }, (_, task): Chain => {
    return { fold: Math.floor(task / vectors), vector: task % vectors };
  });
  const fits = chains.length * laid.path.length;
  const budget = new TimeBudget(settings.time, fits, layout.workspaces.length);
  let done = 0;
  await inLanes(training, chains, (chain, lane) =>
    followChain(laid, { ...chain, folds, budget, lane }, (step, scores, outcome) => {
      measured[chain.fold].add(step, chain.vector, scores, outcome);
      done += 1;
      onFit?.(done, fits);
    }),
  );
  return measured;
}

interface ChainContext extends Chain {
  readonly folds: Int32Array;
  readonly budget: TimeBudget;
  readonly lane: number;
}

type OnScores = (step: number, scores: Float64Array, outcome?: Fit['outcome']) => void;

async function followChain(
  { training, path }: LaidPath,
  { fold, vector, folds, budget, lane }: ChainContext,
  onScores: OnScores,
): Promise<void> {
  const { layout, classes, shard, options } = training;
  const weights = new Float64Array(folds.length);
  for (let row = 0; row < folds.length; row += 1) {
    if (folds[row] !== fold) weights[row] = layout.rowWeights?.[row] ?? 1;
  }
  const only = classes && onlySign(layout.targets.of(vector), weights);
  let before: Fit | undefined;
  for (const [step, lambda] of path.entries()) {
    const time = budget.next();
    if (layout.halt.signal.aborted || options.signal?.aborted || !(time > 0)) return;
    if (only !== undefined) {
      const held = folds.reduce((sum, one) => sum + (one === fold ? 1 : 0), 0);
      onScores(step, new Float64Array(held).fill(only));
      continue;
    }
    const start = startFrom(before) ?? startAtZero(training, vector, weights);
    const subproblem = { vector, lambda, rowWeights: weights, ...start };
    before = await fitSubproblem(training, subproblem, lane, time);
    if (before.outcome.stopped === 'interrupted') return;
    const scores = scoresOfFold(shard.dataset, before.weights, folds, fold);
    onScores(step, scores, before.outcome);
  }
}

/**
 * The side that all rows with a weight are on, if they are: a class too rare to be in every fold.
 * There is nothing to separate then, and an intercept would grow without end.
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

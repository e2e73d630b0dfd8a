import type { Dataset } from '../data/dataset.ts';
import { type Fit, fit, inLanes } from '../train/fit.ts';
import { dealFolds, scoresOfFold } from '../train/folds.ts';
import type { TrainOptions, TrainResult } from '../train/options.ts';
import { type Prepared, prepare } from '../train/prepare.ts';
import { train } from '../train/train.ts';
import { checkMeasure, type HeldOut, type MeasureName, measure, usualMeasure } from './measure.ts';
import { type LambdaOptions, lambdasOf, startFrom } from './path.ts';

export interface ValidateOptions
  extends Omit<TrainOptions, 'lambda' | 'checkpoint' | 'resume' | 'test' | 'holdout'>,
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
  /** Of each fold. */
  readonly folds: readonly number[];
  readonly mean: number;
  /** Of the mean: the deviation of the folds divided by the root of their number. */
  readonly standardError: number;
  /** The largest relative duality gap of the models measured. */
  readonly relativeGap: number;
}

export interface Validation {
  readonly metric: MeasureName;
  /** From the largest λ to the smallest. */
  readonly lambdas: readonly ValidatedLambda[];
  /** The λ with the smallest mean, of equal ones the largest. */
  readonly best: ValidatedLambda;
  /** The largest λ whose mean is within a standard error of the best. */
  readonly simplest: ValidatedLambda;
}

/**
 * Trains on all folds but one and measures on that one, for every fold and λ. All models are fitted
 * to one copy of the data, in which the rows held out weigh nothing; along λ each starts from the
 * one before. Folds are dealt by the seed and stratified by class.
 */
export async function crossValidate(
  dataset: Dataset,
  { lambdas, count, ratio, folds = 5, metric, onFit, ...given }: ValidateOptions,
): Promise<Validation> {
  const atEnd: (() => void)[] = [];
  try {
    const { consume: _, ...options } = given;
    const tasksOf = (vectors: number) => vectors * folds;
    const prepared = await prepare(dataset, options, undefined, atEnd, { tasksOf, starts: true });
    const { loss } = prepared.site.settings;
    const name = metric ?? usualMeasure(loss);
    checkMeasure(name, loss);
    const path = lambdasOf(prepared, { lambdas, count, ratio });
    const results = await validate(prepared, path, folds, name, onFit);
    return chosen(name, results);
  } finally {
    for (const act of atEnd) act();
  }
}

/** The same, then trains on all rows with the best λ, or with the simplest. */
export async function crossValidateAndTrain(
  dataset: Dataset,
  options: ValidateOptions & { readonly choose?: 'best' | 'simplest' },
): Promise<TrainResult & { readonly validation: Validation }> {
  const { choose = 'best', ...rest } = options;
  const validation = await crossValidate(dataset, rest);
  const { lambdas: _a, count: _b, ratio: _c, folds: _d, metric: _e, onFit: _f, ...training } = rest;
  const { lambda } = validation[choose];
  return { ...(await train(dataset, { ...training, lambda })), validation };
}

interface Chain {
  readonly fold: number;
  readonly vector: number;
}

async function validate(
  prepared: Prepared,
  path: readonly number[],
  folds: number,
  name: MeasureName,
  onFit: ValidateOptions['onFit'],
): Promise<ValidatedLambda[]> {
  const { site, input } = prepared;
  const { ground, settings, vectors } = site;
  const { dataset } = input.train;
  const all = ground.weights ?? new Float64Array(dataset.rows).fill(1);
  const fold = dealFolds(dataset.rows, ground.targets.codes, folds, settings.seed);
  const chains = Array.from(
    { length: folds * vectors },
    (_, task): Chain => ({
      fold: Math.floor(task / vectors),
      vector: task % vectors,
    }),
  );
  const scores: Float64Array[][] = chains.map(() => []);
  const gaps = path.map(() => 0);
  let done = 0;
  await inLanes(site, chains, async (chain, lane) => {
    const task = chain.fold * vectors + chain.vector;
    const weights = all.map((weight, row) => (fold[row] === chain.fold ? 0 : weight));
    let before: Fit | undefined;
    for (const [step, lambda] of path.entries()) {
      const aim = { vector: chain.vector, lambda, weights, ...startFrom(before) };
      before = await fit(site, aim, lane);
      gaps[step] = Math.max(gaps[step], before.outcome.relativeGap);
      scores[task][step] = scoresOfFold(dataset, before.weights, fold, chain.fold);
      done += 1;
      onFit?.(done, chains.length * path.length);
    }
  });
  const several = vectors > 1 && !input.classes?.multiLabel;
  return path.map((lambda, step) => {
    const measured = Array.from({ length: folds }, (_, which) => {
      const own = scores.slice(which * vectors, (which + 1) * vectors).map((all) => all[step]);
      return measure(name, heldOutOf(prepared, own, fold, which), settings.loss, several);
    });
    return { lambda, folds: measured, ...spread(measured), relativeGap: gaps[step] };
  });
}

function heldOutOf(
  { site }: Prepared,
  scores: readonly Float64Array[],
  fold: Int32Array,
  which: number,
): HeldOut {
  const { targets, weights } = site.ground;
  const isHeldOut = (_: number, row: number) => fold[row] === which;
  return {
    scores,
    targets: scores.map((_, vector) => targets.of(vector).filter(isHeldOut)),
    weights: (weights ?? new Float64Array(fold.length).fill(1)).filter(isHeldOut),
  };
}

function spread(values: readonly number[]): { mean: number; standardError: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, standardError: Math.sqrt(squares / (values.length - 1) / values.length) };
}

function chosen(metric: MeasureName, lambdas: readonly ValidatedLambda[]): Validation {
  const best = lambdas.reduce((least, one) => (one.mean < least.mean ? one : least));
  const limit = best.mean + best.standardError;
  const simplest = lambdas.find((one) => one.mean <= limit) ?? best;
  return { metric, lambdas, best, simplest };
}

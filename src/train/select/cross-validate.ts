import { type Dataset, rowWeights } from '../../data/dataset.ts';
import { checkAgreement } from '../../engine/processes/agreement.ts';
import {
  gatherFloats,
  type ProcessGroup,
  singleProcess,
} from '../../engine/processes/process-group.ts';
import { DsoError, UsageError } from '../../errors.ts';
import {
  assignFolds,
  checkFolds,
  listFoldTasks,
  scoresOfFold,
  weightsWithout,
} from '../calibrate.ts';
import { type Fit, fitSubproblem, inLanes } from '../fit.ts';
import { checkSameTraining } from '../identity.ts';
import type { Subproblem } from '../layout.ts';
import { omit, pick } from '../options/option.ts';
import type { TrainOptions, TrainResult } from '../options/options.ts';
import { resolveOptions } from '../prepare.ts';
import { type TimeBudget, timeBudget, train } from '../train.ts';
import {
  type LaidPath,
  type LambdaOptions,
  openPath,
  type SingleRun,
  startOfStep,
} from './lambdas.ts';
import {
  checkMeasure,
  defaultMeasure,
  type HeldOut,
  isBetter,
  type MeasureName,
  measure,
} from './measure.ts';
import { knownFit, solveTogether } from './together.ts';

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

type Effort = Pick<ValidatedLambda, 'relativeGap' | 'epochs' | 'passes'>;

/** One λ measured on one fold. */
type Step = Effort & { readonly value: number };

export interface Validation {
  readonly metric: MeasureName;
  /** From the largest λ to the smallest. */
  readonly lambdas: readonly ValidatedLambda[];
  /** The λ with the best mean, of equal ones the largest. */
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
  options: ValidateOptions = {},
): Promise<Validation> {
  return crossValidateInGroup(dataset, options, singleProcess);
}

/** The same in all processes of a group, each with all rows and some of the folds; all get it. */
export async function crossValidateInGroup(
  dataset: Dataset,
  given: ValidateOptions,
  group: ProcessGroup,
): Promise<Validation> {
  const { folds = 5, metric, onFit, ...options } = given;
  await checkSameValidation(dataset, given, group);
  checkFolds(folds, dataset.rows);
  if (dataset.stored) {
    throw new UsageError(
      `${dataset.name}: its nonzeros are on disk; read it with readDataset to cross-validate on it`,
    );
  }
  const mine = Array.from({ length: folds }, (_, fold) => fold).filter(
    (fold) => fold % group.size === group.rank,
  );
  const tasksOf = (vectors: number) => Math.max(1, vectors * mine.length);
  const laid = await openPath('cross-validation', dataset, options, tasksOf);
  try {
    const { loss } = laid.training.settings;
    const name = metric ?? defaultMeasure(loss);
    checkMeasure(name, loss);
    await checkAgreement(group, { [`hash of ${dataset.name}`]: laid.training.hash });
    const steps = await measureFolds(laid, dataset, { count: folds, mine, metric: name }, onFit);
    return summarize(name, laid.path, await gatherSteps(group, steps));
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
  return omit(options, 'lambdas', 'count', 'ratio', 'folds', 'metric', 'onFit');
}

/** Refuses processes that would validate something else, before anything is laid out. */
async function checkSameValidation(
  dataset: Dataset,
  options: ValidateOptions,
  group: ProcessGroup,
): Promise<void> {
  const own = pick(options, 'folds', 'metric', 'lambdas', 'count', 'ratio');
  const sizes = pick(dataset, 'rows', 'columns', 'nonzeros');
  await checkSameTraining(group, options, resolveOptions(options), { ...own, ...sizes });
}

/** The steps of every fold, from the process that has measured it. */
async function gatherSteps(group: ProcessGroup, steps: readonly Step[][]): Promise<Step[][]> {
  const rows = steps.flatMap((own, fold) =>
    own.map(({ value, relativeGap, epochs, passes }) => [fold, value, relativeGap, epochs, passes]),
  );
  const all: Step[][] = steps.map(() => []);
  for (const numbers of await gatherFloats(group, Float64Array.from(rows.flat()))) {
    for (let at = 0; at < numbers.length; at += 5) {
      const [fold, value, relativeGap, epochs, passes] = numbers.subarray(at, at + 5);
      all[fold].push({ value, relativeGap, epochs, passes });
    }
  }
  return all;
}

interface FoldsToMeasure {
  readonly count: number;
  /** The folds that this process measures. */
  readonly mine: readonly number[];
  readonly metric: MeasureName;
}

/** The steps along λ of each of the folds, as far as they were measured. */
async function measureFolds(
  laid: LaidPath,
  dataset: Dataset,
  { count, mine, metric }: FoldsToMeasure,
  onFit: ValidateOptions['onFit'],
): Promise<Step[][]> {
  const { layout, settings, vectors, classes, shard } = laid.training;
  // Class weights are for training; errors count by the weights of the rows alone.
  const weights = rowWeights(dataset) ?? new Float64Array(dataset.rows).fill(1);
  const folds = assignFolds(shard.dataset.rows, layout.targets.codes, count, settings.seed);
  const several = vectors > 1 && !classes?.multiLabel;
  const tasks = listFoldTasks(count, vectors).filter(({ fold }) => mine.includes(fold));
  const fits = tasks.length * laid.path.length;
  const budget = timeBudget(settings.time, fits, layout.workspaces.length);
  const steps: Step[][] = Array.from({ length: count }, () => []);
  // By fold, λ and vector; dropped as soon as all vectors of a λ have been fitted.
  const pending: HeldOutFit[][][] = Array.from({ length: count }, () => []);
  const measured = (heldOut: HeldOut) => measure(metric, heldOut, settings.loss, several);
  const known: KnownStep[][] = steps.map(() => []);
  const rows = steps.map((_steps, fold) => {
    const isHeldOut = (_: number, row: number) => folds[row] === fold;
    const targets = [layout.targets.of(0).filter(isHeldOut)];
    return { targets, weights: weights.filter(isHeldOut) };
  });
  await solveTogether(laid, { folds, count, mine }, (found, place, fold) => {
    const heldOut = () => ({ ...rows[fold], scores: [found.scores()] });
    const given = knownFit(found);
    known[fold][place] =
      'fit' in given
        ? { step: { value: measured(heldOut()), ...addEfforts([found.outcome]) } }
        : given;
  });
  const takeVector = (fit: HeldOutFit, at: { fold: number; vector: number; step: number }) => {
    pending[at.fold][at.step] ??= [];
    const found = pending[at.fold][at.step];
    found[at.vector] = fit;
    if (Object.keys(found).length < vectors) return;
    pending[at.fold][at.step] = [];
    const value = measured({
      scores: found.map(({ scores }) => scores),
      targets: found.map(({ targets }) => targets),
      weights: weights.filter((_, row) => folds[row] === at.fold),
    });
    const efforts = addEfforts(found.flatMap(({ outcome }) => outcome ?? []));
    steps[at.fold].push({ value, ...efforts });
  };
  let done = 0;
  await inLanes(laid.training, tasks, async ({ fold, vector }, lane) => {
    let step = 0;
    const subset = { fold, vector, folds, known: known[fold] };
    for await (const fit of followPath(laid, subset, budget, lane)) {
      if ('step' in fit) steps[fold].push(fit.step);
      else takeVector(fit, { fold, vector, step });
      step += 1;
      done += 1;
      onFit?.(done, fits);
    }
  });
  return steps;
}

/** Scores and targets of the rows held out from a fit, if there was one to make. */
interface HeldOutFit {
  readonly scores: Float64Array;
  readonly targets: Float64Array;
  readonly outcome?: Fit['outcome'];
}

/** What is known of a λ before its turn: how well it did, or a point that is nearly the solution. */
type KnownStep = { readonly step: Step } | Pick<Required<Subproblem>, 'start'>;

interface FoldPath {
  readonly fold: number;
  readonly vector: number;
  readonly folds: Int32Array;
  readonly known: readonly (KnownStep | undefined)[];
}

/** The fits of one fold and one vector of the model, from the largest λ on. */
async function* followPath(
  { training, path }: LaidPath,
  { fold, vector, folds, known }: FoldPath,
  budget: TimeBudget,
  lane: number,
): AsyncGenerator<HeldOutFit | { readonly step: Step }, void, undefined> {
  const { layout, classes, shard, options } = training;
  const inTraining = weightsWithout(layout, folds, fold);
  const all = layout.targets.of(vector);
  const targets = all.filter((_, row) => folds[row] === fold);
  const only = classes && onlySign(all, inTraining);
  let before: Fit | undefined;
  for (const [place, lambda] of path.entries()) {
    const time = budget();
    if (layout.halt.signal.aborted || options.signal?.aborted || !(time > 0)) return;
    if (only !== undefined) {
      yield { scores: targets.map(() => only), targets };
      continue;
    }
    const given = known[place];
    if (given && 'step' in given) {
      yield given;
      continue;
    }
    const start = given ?? startOfStep(training, vector, before, inTraining);
    const subproblem = { vector, lambda, rowWeights: inTraining, ...start };
    before = await fitSubproblem(training, subproblem, lane, time);
    const { outcome, weights } = before;
    if (outcome.stopped === 'interrupted') return;
    yield { scores: scoresOfFold(shard.dataset, weights, folds, fold), targets, outcome };
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

/** The largest gap, and the sum of all epochs and passes. */
function addEfforts(efforts: readonly Effort[]): Effort {
  const total = (key: 'epochs' | 'passes') => efforts.reduce((sum, one) => sum + one[key], 0);
  const relativeGap = Math.max(0, ...efforts.map((one) => one.relativeGap));
  return { relativeGap, epochs: total('epochs'), passes: total('passes') };
}

/** Of folds that were not all finished, those that came furthest, as far as they came. */
function summarize(
  metric: MeasureName,
  path: readonly number[],
  folds: readonly (readonly Step[])[],
): Validation {
  const furthest = Math.max(...folds.map((steps) => steps.length));
  if (furthest === 0) {
    throw new DsoError('failure', 'cross-validation was ended before any fold was measured');
  }
  const counted = folds.filter((steps) => steps.length === furthest);
  const lambdas = path.slice(0, furthest).map((lambda, step): ValidatedLambda => {
    const own = counted.map((steps) => steps[step]);
    const values = own.map(({ value }) => value);
    return { lambda, folds: values, ...spread(values), ...addEfforts(own) };
  });
  const best = lambdas.reduce((most, one) => (isBetter(metric, one.mean, most.mean) ? one : most));
  const limit = best.mean + (isBetter(metric, 1, 0) ? -1 : 1) * best.standardError;
  const isClose = ({ mean }: ValidatedLambda) => mean === limit || isBetter(metric, mean, limit);
  const simplest = lambdas.find(isClose) ?? best;
  const complete = furthest === path.length && counted.length === folds.length;
  return { metric, lambdas, best, simplest, complete };
}

/** The spread of a single value is unknown: NaN. */
function spread(values: readonly number[]): { mean: number; standardError: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, standardError: Math.sqrt(squares / (values.length - 1) / values.length) };
}

import type { Dataset, DatasetPart } from '../../data/dataset.ts';
import { UsageError } from '../../errors.ts';
import { exp, log } from '../../math/elementary.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import type { Fit } from '../fit.ts';
import { type LaidOutTraining, layOutData, type Subproblem } from '../layout.ts';
import { omit } from '../options/option.ts';
import type { TrainOptions } from '../options/options.ts';
import { lambdaOptions } from '../options/problem.ts';
import { checkValue, positive } from '../options/types.ts';
import { type Intent, prepareTraining } from '../prepare.ts';

/** λ of a path: given, or `count` of them from the largest useful one down to a fraction of it. */
export interface LambdaOptions {
  readonly lambdas?: readonly number[];
  /** Default 30. */
  readonly count?: number;
  /** The smallest λ as a part of the largest; default 1e-3, for a penalty without L1 1e-5. */
  readonly ratio?: number;
}

const defaultCount = 30;

/** Refuses what can be no path, before anything is read or laid out for it. */
function checkLambdas({ lambdas, count, ratio }: LambdaOptions): void {
  if (lambdas && (count !== undefined || ratio !== undefined)) {
    throw new UsageError('lambdas are given, so count and ratio would be ignored: leave them out');
  }
  if (lambdas?.length === 0) throw new UsageError('no value of lambda; give at least one');
  for (const lambda of lambdas ?? []) checkValue('lambda', lambda, positive);
  checkValue('count', count, lambdaOptions.count.type);
  checkValue('ratio', ratio, lambdaOptions.ratio.type);
}

/** How many λs a path has. */
export function pathLength({ lambdas, count = defaultCount }: LambdaOptions): number {
  return lambdas ? new Set(lambdas).size : count;
}

/** From the largest to the smallest, where a start from the one before helps most; each once. */
function lambdasOf(
  training: LaidOutTraining,
  { lambdas, count = defaultCount, ratio }: LambdaOptions,
): number[] {
  if (lambdas) return [...new Set(lambdas)].sort((left, right) => right - left);
  const { penalty } = training.settings;
  let first = 0;
  for (let vector = 0; vector < training.vectors; vector += 1) {
    first = Math.max(first, largestLambda(problemAtZero(training, vector), penalty));
  }
  // If the gradient is 0, any λ will do. At λ_max itself rounding decides whether a weight is 0, so
  // the path starts a little above it.
  first = first === 0 ? 1 : first * (1 + 1e-9);
  return lambdasBetween(first, first * (ratio ?? (penalty.l1 > 0 ? 1e-3 : 1e-5)), count);
}

/** What the gradient at w = 0 is computed from; targets and weights are in the order of the rows. */
function problemAtZero(
  { layout, settings, options, shard }: LaidOutTraining,
  vector: number,
  weights: Float64Array | undefined = layout.rowWeights,
) {
  const { loss, intercept } = settings;
  const targets = layout.targets.of(vector);
  const factors = options.penaltyFactors;
  return { dataset: shard.dataset, targets, weights, loss, intercept, factors };
}

type ProblemAtZero = Readonly<ReturnType<typeof problemAtZero>>;

/**
 * Where a model of a path starts: where the one before it ended. The first one starts at w = 0 with
 * the best intercept, which is the optimum at the largest λ; from an intercept of 0, weights would
 * grow first and never quite get back.
 */
export function startOfStep(
  training: LaidOutTraining,
  vector: number,
  before: Fit | undefined,
  rowWeights?: Float64Array,
): Pick<Subproblem, 'start'> {
  if (before?.weights) {
    const { weights, alpha } = before;
    return { start: { weights, ...(alpha && { alpha }) } };
  }
  const problem = problemAtZero(training, vector, rowWeights);
  if (!problem.intercept) return {};
  const weights = new Float64Array(problem.dataset.columns + 1);
  weights[problem.dataset.columns] = bestIntercept(problem);
  return { start: { weights } };
}

/** λ from `first` down to `last`, equal factors apart. */
export function lambdasBetween(first: number, last: number, count: number): number[] {
  if (count === 1) return [first];
  const step = log(last / first) / (count - 1);
  return Array.from({ length: count }, (_, k) => {
    if (k === 0) return first;
    return k === count - 1 ? last : first * exp(step * k);
  });
}

/**
 * The smallest λ at which w = 0 is optimal: max_j |v_j| / (l1 f_j) with
 * v = −(1/Σc) Σ_i c_i ℓ'(b, y_i) x_i, b the best intercept. Where b is a kink of the loss for some
 * rows, ℓ' is one of many slopes and the result an estimate. A penalty without an L1 part has no
 * such λ; for those, l1 = 1 gives the λ at which no weight is larger than 1, as far as the slopes at
 * w = 0 show.
 */
export function largestLambda(
  problem: ProblemAtZero,
  { l1, low = -Infinity, high = Infinity }: Pick<Penalty, 'l1' | 'low' | 'high'>,
): number {
  const { dataset, factors } = problem;
  const image = gradientAtZero(problem);
  let largest = 0;
  for (let column = 0; column < dataset.columns; column += 1) {
    // A weight that may not leave 0 in the direction it is pulled stays there for any λ.
    if (image[column] < 0 ? high === 0 : low === 0) continue;
    const factor = (l1 > 0 ? l1 : 1) * (factors?.[column] ?? 1);
    largest = Math.max(largest, Math.abs(image[column]) / factor);
  }
  return largest;
}

function gradientAtZero(problem: ProblemAtZero): Float64Array {
  const { dataset, targets, weights, loss, intercept } = problem;
  const offset = intercept ? bestIntercept(problem) : 0;
  const image = new Float64Array(dataset.columns);
  let totalWeight = 0;
  let row = 0;
  const parts: Iterable<DatasetPart> = dataset.stored?.scan() ?? dataset.parts;
  for (const { rowOffsets, labels, indices, values } of parts) {
    for (let local = 0; local < labels.length; local += 1) {
      const weight = weights?.[row] ?? 1;
      const slope = weight * loss.derivative(offset, targets[row], loss.parameter);
      totalWeight += weight;
      for (let k = rowOffsets[local]; k < rowOffsets[local + 1]; k += 1) {
        image[indices[k]] += slope * values[k];
      }
      row += 1;
    }
  }
  return image.map((value) => value / totalWeight);
}

/** Where Σ c_i ℓ'(b, y_i) changes its sign: the sum rises with b. */
function bestIntercept({ targets, weights, loss }: ProblemAtZero): number {
  const slope = (offset: number) => {
    let sum = 0;
    for (let row = 0; row < targets.length; row += 1) {
      sum += (weights?.[row] ?? 1) * loss.derivative(offset, targets[row], loss.parameter);
    }
    return sum;
  };
  const atZero = slope(0);
  if (atZero === 0) return 0;
  let near = 0;
  let far = atZero > 0 ? -1 : 1;
  for (let k = 0; k < 60 && slope(far) * atZero > 0; k += 1) {
    near = far;
    far *= 2;
  }
  for (let k = 0; k < 100 && near !== far; k += 1) {
    const middle = (near + far) / 2;
    // Halfway between neighbours is one of them.
    if (middle === near || middle === far) break;
    if (slope(middle) * atZero > 0) near = middle;
    else far = middle;
  }
  return (near + far) / 2;
}

/** The data laid out for many models, and their λ from the largest on. */
export interface LaidPath {
  readonly training: LaidOutTraining;
  readonly path: readonly number[];
}

/** Refuses what does not fit many models, then lays out the data for `tasksOf` of them at a time. */
export async function openPath(
  purpose: string,
  dataset: Dataset,
  options: Omit<TrainOptions, SingleRun | 'consume'> & LambdaOptions,
  tasksOf?: Intent['tasksOf'],
): Promise<LaidPath> {
  refuseSingleRun(purpose, options);
  checkLambdas(options);
  // The test rows may be a part of the data, and it may be used again.
  const repeatable = { ...omit(options, 'lambdas', 'count', 'ratio'), consume: false };
  const intent = { warmStarts: true, ...(tasksOf && { tasksOf }) };
  const training = await layOutData(await prepareTraining(dataset, repeatable, intent));
  try {
    return { training, path: lambdasOf(training, options) };
  } catch (error) {
    training.layout.close();
    throw error;
  }
}

/** Options of training that are for one run alone. */
export type SingleRun =
  | 'lambda'
  | 'checkpoint'
  | 'resume'
  | 'start'
  | 'alpha'
  | 'calibrate'
  | 'thresholdFor';

const singleRun: Readonly<Record<SingleRun, string>> = {
  lambda: 'give lambdas, a list',
  checkpoint: 'what is saved would be one model of many',
  resume: 'what was saved is one model of many',
  start: 'each model starts from the one before it',
  alpha: 'train the model that was chosen to get its dual point',
  calibrate: 'train the model that was chosen with it',
  thresholdFor: 'train the model that was chosen with it',
};

/** Types exclude such options; plain JavaScript would see them ignored. */
function refuseSingleRun(of: string, options: TrainOptions): void {
  for (const [name, reason] of Object.entries(singleRun)) {
    if (options[name as SingleRun] === undefined) continue;
    throw new UsageError(`${name} is not an option of ${of}: ${reason}`);
  }
}

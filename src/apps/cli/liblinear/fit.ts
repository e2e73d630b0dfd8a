/**
 * LIBLINEAR's problems in terms of ours. With row weights c_i and their sum W,
 *
 *   φ(w) + C Σ c_i ℓ_i = C W · (λ φ(w) + (1/W) Σ c_i ℓ_i),   λ = 1 / (C W),
 *
 * φ(w) being ½‖w‖² or ‖w‖₁, so the minima are the same and values differ by the factor C W.
 */
import type { Dataset } from '../../../data/dataset.ts';
import { UsageError } from '../../../errors.ts';
import { solvers } from '../../../solvers/index.ts';
import { assignFolds, scoresOfFold } from '../../../train/calibrate.ts';
import { type Fit, fitSubproblem, inLanes } from '../../../train/fit.ts';
import { type LaidOutTraining, layOutData } from '../../../train/layout.ts';
import type { TrainOptions } from '../../../train/options/options.ts';
import { prepareTraining } from '../../../train/prepare.ts';
import type { LiblinearRequest } from './arguments.ts';

/** The relative duality gap that LIBLINEAR's default of -e corresponds to. */
const defaultTolerance = 5e-5;
const finest = 1e-10;
const coarsest = 1e-2;

/** -e belongs to a criterion of LIBLINEAR; ours is the gap, which changes in proportion to it. */
export function toleranceFor({ stopping, solver }: LiblinearRequest): number {
  const tolerance = (defaultTolerance * stopping) / solver.stopping;
  return Math.min(coarsest, Math.max(finest, tolerance));
}

export interface LiblinearProblem {
  readonly dataset: Dataset;
  readonly request: LiblinearRequest;
  /** Labels that ascend; undefined in regression. */
  readonly classes: readonly number[] | undefined;
}

/** The problem of each vector, in the order of the classes. */
export function fitLiblinear(problem: LiblinearProblem): Promise<FittedVector[]> {
  return withTraining(problem, 1, async (training) => {
    const fits: FittedVector[] = [];
    const vectors = Array.from({ length: training.vectors }, (_, vector) => vector);
    await inLanes(training, vectors, async (vector, lane) => {
      const rowWeights = weightsFor(training, problem, vector);
      const scale = problem.request.cost * totalWeightOf(training, rowWeights);
      const subproblem = { vector, lambda: 1 / scale, ...(rowWeights && { rowWeights }) };
      fits[vector] = fittedVector(await fitSubproblem(training, subproblem, lane), scale);
    });
    return fits;
  });
}

/** Of each row and vector the score of a model that was trained on the other folds. */
export function scoreHeldOut(problem: LiblinearProblem, folds: number): Promise<Float64Array[]> {
  const { rows } = problem.dataset;
  return withTraining(problem, folds, async (training) => {
    const { vectors, settings, layout, shard } = training;
    const fold = assignFolds(rows, layout.targets.codes, folds, settings.seed);
    const scores = Array.from({ length: vectors }, () => new Float64Array(rows));
    const tasks = Array.from({ length: folds * vectors }, (_, task) => task);
    await inLanes(training, tasks, async (task, lane) => {
      const vector = task % vectors;
      const which = Math.floor(task / vectors);
      const all = weightsFor(training, problem, vector) ?? rowWeightsOf(training);
      const rowWeights = all.map((weight, row) => (fold[row] === which ? 0 : weight));
      const lambda = 1 / (problem.request.cost * totalWeightOf(training, rowWeights));
      const fitted = await fitSubproblem(training, { vector, lambda, rowWeights }, lane);
      const own = scoresOfFold(shard.dataset, fitted.weights, fold, which);
      let next = 0;
      for (let row = 0; row < fold.length; row += 1) {
        if (fold[row] === which) scores[vector][row] = own[next++];
      }
    });
    return scores;
  });
}

async function withTraining<Result>(
  problem: LiblinearProblem,
  folds: number,
  work: (training: LaidOutTraining) => Promise<Result>,
): Promise<Result> {
  const tasksOf = (vectors: number) => vectors * folds;
  const prepared = await prepareTraining(problem.dataset, optionsFor(problem), {
    tasksOf,
    callingThread: true,
  });
  const training = await layOutData(prepared);
  try {
    return await work(training);
  } finally {
    training.layout.close();
  }
}

/** Rows per column from which L-BFGS reaches small gaps first, where it can be used. */
const worthCurvature = 100;

/** λ is set for each vector; this one is for the choice of the solver. */
function optionsFor({ dataset, request, classes }: LiblinearProblem): TrainOptions {
  const { rows, columns } = dataset;
  const { solver, epsilon, cost, freeBias, threads } = request;
  const loss = solver.loss(epsilon);
  const penalty = solver.penalty();
  const curved = loss.smooth && penalty.l1 === 0 && rows > worthCurvature * columns;
  return {
    loss,
    penalty,
    ...(curved && { solver: solvers.lbfgs() }),
    lambda: 1 / (cost * rows),
    tolerance: toleranceFor(request),
    intercept: freeBias,
    alpha: true,
    // What follows takes classes in ascending order, whichever is the rarer one.
    ...(classes?.length === 2 && { positive: classes[1] }),
    ...(threads !== undefined && { threads }),
  };
}

/**
 * The row weights times the class weights; undefined without class weights. Of two classes each has
 * its own weight; of more, the class that a vector separates has its weight and the others have 1.
 */
function weightsFor(
  training: LaidOutTraining,
  { request: { classWeights }, classes }: LiblinearProblem,
  vector: number,
): Float64Array | undefined {
  const { codes } = training.layout.targets;
  if (!codes || !classes || classWeights.size === 0) return undefined;
  const factors = classes.map((label, index) => {
    const mine = classes.length === 2 || index === vector;
    return mine ? (classWeights.get(label) ?? 1) : 1;
  });
  return rowWeightsOf(training).map((weight, row) => weight * factors[codes[row]]);
}

function rowWeightsOf({ layout, shard }: LaidOutTraining): Float64Array {
  return layout.rowWeights ?? new Float64Array(shard.dataset.rows).fill(1);
}

function totalWeightOf({ layout }: LaidOutTraining, weights: Float64Array | undefined): number {
  if (weights === undefined) return layout.totalWeight;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total > 0) return total;
  throw new UsageError(
    '-w: all rows count 0, and nothing is left to train on; expected some that do',
  );
}

/** One vector of weights, and its problem in LIBLINEAR's scale. */
export type FittedVector = ReturnType<typeof fittedVector>;

function fittedVector({ weights, outcome, alpha }: Fit, scale: number) {
  return {
    /** By column, an unpenalised intercept last. */
    weights: weights ?? new Float64Array(0),
    primal: scale * outcome.primal,
    dual: scale * outcome.dual,
    epochs: outcome.epochs,
    /** Rows whose dual variable is not 0; undefined where the method has none. */
    supportVectors: alpha?.reduce((count, one) => count + (one === 0 ? 0 : 1), 0),
    converged: outcome.stopped === 'converged',
  };
}

import { foldWeights } from '../data/scale.ts';
import {
  broadcastNumbers,
  type Company,
  collectNumbers,
} from '../engine/processes/process-group.ts';
import { DataError } from '../errors.ts';
import { evaluate, measureScores } from '../metrics/evaluate.ts';
import type { Metrics } from '../model/metrics/evaluate.ts';
import type { Certificate, Model } from '../model/model.ts';
import { scoreVectors } from '../model/predict/score.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import { finiteBounds } from '../problem/penalties/separable.ts';
import type { Plan } from '../solvers/engines.ts';
import type { Outcome } from '../solvers/epochs.ts';
import type { Input, Run, Settings } from './lay-out.ts';
import type { Share } from './shard.ts';

/** Weights that one message brings to rank 0: it never holds more than these twice. */
const together = 2 ** 22;

/**
 * The weights of all columns, the intercept last, put together from all processes in the one that
 * will write them; undefined in the others.
 */
export async function collectWeights(
  { memory, problem }: Run,
  columnOrder: Int32Array,
  company: Company | undefined,
): Promise<Float64Array | undefined> {
  const { columnBounds, first, end, size } = problem.grid.partition;
  const home = memory.best.subarray(0, columnBounds[end] - columnBounds[first]);
  const weights = new Float64Array(!company || company.rank === 0 ? columnOrder.length : 0);
  const place = (values: Float64Array, from: number) => {
    for (let k = 0; k < values.length; k++) weights[columnOrder[from + k]] = values[k];
  };
  if (!company) {
    place(home, 0);
    return weights;
  }
  const firsts = workersOfRanks(size, company.size);
  const share = Math.ceil(together / company.size);
  const pieces = Math.ceil(columnBounds[size] / share);
  for (let piece = 0; piece < pieces; piece++) {
    const stretch = home.subarray(piece * share, (piece + 1) * share);
    const received = await collectNumbers(company, stretch);
    for (const [rank, values] of received.entries()) {
      place(values, columnBounds[firsts[rank]] + piece * share);
    }
  }
  return company.rank === 0 ? weights : undefined;
}

/** The model made of what was fitted, one fit for each of its vectors. */
export function makeModel(
  found: readonly { readonly weights: Float64Array | undefined; readonly outcome: Outcome }[],
  input: Input,
  settings: Settings,
  plan: Plan,
  grid: number,
  extras: Pick<Model, 'calibration' | 'provenance' | 'unitRows'> = {},
): Model {
  const { columns, rows, nonzeros, dataset } = input.train;
  const { loss, penalty, lambda, seed, intercept } = settings;
  const none = new Float64Array(0);
  const fits = found.map(({ weights: some = none, outcome }) => ({ weights: some, outcome }));
  if (!fits.every((one) => one.weights.every(Number.isFinite))) {
    throw new DataError(`${dataset.name}: training produced weights that are not finite`);
  }
  const weights = new Float64Array(fits.length * columns);
  for (const [vector, one] of fits.entries()) {
    const own = one.weights.subarray(0, columns);
    const plain = input.factors ? foldWeights(own, input.factors) : own;
    weights.set(plain, vector * columns);
  }
  const certificates = fits.map(({ outcome }) => certificateOf(outcome));
  const { featureNames, recipe } = dataset;
  return {
    task: loss.task,
    loss: {
      name: loss.name,
      parameter: loss.parameter,
      ...(loss.module && { module: loss.module }),
    },
    penalty: { name: penalty.name, l1: penalty.l1, l2: penalty.l2, ...finiteBounds(penalty) },
    lambda,
    ...(input.classes && { classes: input.classes.classes }),
    ...(input.classes?.multiLabel && { multiLabel: true }),
    columns,
    rows,
    nonzeros,
    solver: plan.engine,
    grid,
    seed,
    certificate: joinedCertificate(certificates),
    ...(fits.length > 1 && { certificates }),
    ...(recipe && { recipe }),
    ...extras,
    weights,
    intercepts: Float64Array.from(fits, (one) => (intercept ? one.weights[columns] : 0)),
    ...(featureNames && { featureNames }),
  };
}

function certificateOf({ primal, dual, relativeGap, epochs, stopped }: Outcome): Certificate {
  return { primal, dual, gap: Math.max(0, primal - dual), relativeGap, epochs, stopped };
}

/** Vectors are fitted independently: bounds on their objectives are bounds on the sum of these. */
function joinedCertificate(certificates: readonly Certificate[]): Certificate {
  if (certificates.length === 1) return certificates[0];
  const total = (key: 'primal' | 'dual' | 'epochs') =>
    certificates.reduce((sum, one) => sum + one[key], 0);
  const [primal, dual, epochs] = [total('primal'), total('dual'), total('epochs')];
  const gap = Math.max(0, primal - dual);
  // None is further from its optimum than the worst, and that one may be at an optimum of nought.
  const worst = certificates.reduce((most, one) => Math.max(most, one.relativeGap), 0);
  const relativeGap = gap === 0 ? 0 : Math.min(worst, gap / Math.abs(primal));
  const stopped = certificates.find((one) => one.stopped !== 'converged')?.stopped ?? 'converged';
  return { primal, dual, gap, relativeGap, epochs, stopped };
}

/**
 * How well the model does on rows that were not trained on. With several processes each scores the
 * rows it has read, and the scores are put together at rank 0, where the model is.
 */
export async function testModel(
  model: Model | undefined,
  test: Share,
  columns: number,
): Promise<Metrics | undefined> {
  const { dataset, company } = test;
  if (!company) return model && evaluate(model, dataset);
  const weights = await broadcastNumbers(company, model && joined(model));
  const vectors = weights.length / (columns + 1);
  const here = {
    columns,
    weights: weights.subarray(0, vectors * columns),
    intercepts: weights.subarray(vectors * columns),
  };
  const scores = await collectNumbers(company, scoreVectors(here, dataset));
  const labels = await collectNumbers(company, labelsOf(test));
  return model && measureScores(model, concatenated(scores), concatenated(labels));
}

function joined({ weights, intercepts }: Model): Float64Array {
  const all = new Float64Array(weights.length + intercepts.length);
  all.set(weights);
  all.set(intercepts, weights.length);
  return all;
}

function labelsOf({ dataset }: Share): Float64Array {
  return concatenated(dataset.parts.map(({ labels }) => labels));
}

function concatenated(pieces: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

import packageDescription from '../../package.json' with { type: 'json' };
import { foldWeights } from '../data/scale.ts';
import { workersOfRanks } from '../engine/block-layout.ts';
import {
  broadcastNumbers,
  collectNumbers,
  type ProcessGroup,
} from '../engine/processes/process-group.ts';
import { DataError } from '../errors.ts';
import { sum } from '../math/vectors.ts';
import { evaluate, type Metrics, measureScores } from '../model/metrics/evaluate.ts';
import type { Certificate, Model, Provenance } from '../model/model.ts';
import { scoreVectors } from '../model/predict/score.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { finiteBounds } from '../problem/penalties/separable.ts';
import type { Outcome } from '../solvers/epochs.ts';
import { entryOf, type SolverPlan } from '../solvers/registry.ts';
import type { ProblemBuffers } from './layout.ts';
import { provenanceOptions } from './options/index.ts';
import { stoppingOptions } from './options/run.ts';
import type { Training } from './prepare.ts';
import type { DataShard } from './shard.ts';

/** Numbers that reach rank 0 at a time: it never holds more than these twice. */
const numbersAtOnce = 2 ** 22;

/** The weights of all columns, the intercept last, at rank 0; undefined in the other processes. */
export async function collectWeights(
  { memory, problem }: ProblemBuffers,
  columnOrder: Int32Array,
  group: ProcessGroup,
): Promise<Float64Array | undefined> {
  const { columnBounds, first, end } = problem.grid.partition;
  const home = memory.best.subarray(0, columnBounds[end] - columnBounds[first]);
  return collectInOrder(home, columnBounds, columnOrder, group);
}

/** The dual point that proves the bound, by row, at rank 0; undefined in the other processes. */
export async function collectAlpha(
  { memory, problem }: ProblemBuffers,
  rowOrder: Int32Array,
  group: ProcessGroup,
): Promise<Float64Array | undefined> {
  const { rowBounds } = problem.grid.partition;
  return collectInOrder(memory.certificate.alpha, rowBounds, rowOrder, group);
}

/** Numbers by position, those of every process's workers there, as the data has them. */
async function collectInOrder(
  home: Float64Array,
  bounds: Int32Array,
  order: Int32Array,
  group: ProcessGroup,
): Promise<Float64Array | undefined> {
  const size = bounds.length - 1;
  const numbers = group.leads ? new Float64Array(order.length) : undefined;
  const firsts = workersOfRanks(size, group.size);
  const share = Math.ceil(numbersAtOnce / group.size);
  for (let at = 0; at < bounds[size]; at += share) {
    const received = await collectNumbers(group, home.subarray(at, at + share));
    if (!numbers) continue;
    for (const [rank, values] of received.entries()) {
      const from = bounds[firsts[rank]] + at;
      for (let k = 0; k < values.length; k++) numbers[order[from + k]] = values[k];
    }
  }
  return numbers;
}

/** The model made of its fits, one for each vector. */
export function assembleModel(
  { shard, classes, factors, options, settings, plan, grid }: Training,
  found: readonly { readonly weights: Float64Array | undefined; readonly outcome: Outcome }[],
  extras: Partial<Pick<Model, 'calibration' | 'threshold' | 'provenance' | 'solver'>> = {},
): Model {
  const { columns, rows, nonzeros, dataset } = shard;
  const { loss, penalty, lambda, seed, intercept } = settings;
  const none = new Float64Array(0);
  const fits = found.map(({ weights: some = none, outcome }) => ({ weights: some, outcome }));
  if (!fits.every((one) => one.weights.every(Number.isFinite))) {
    throw new DataError(`${dataset.name}: training produced weights that are not finite`);
  }
  const weights = new Float64Array(fits.length * columns);
  for (const [vector, one] of fits.entries()) {
    const own = one.weights.subarray(0, columns);
    const plain = factors ? foldWeights(own, factors) : own;
    weights.set(plain, vector * columns);
  }
  const certificates = fits.map(({ outcome }) => certificateOf(outcome));
  const { featureNames, recipe } = dataset;
  return {
    task: loss.task,
    loss: lossReference(loss),
    penalty: { name: penalty.name, l1: penalty.l1, l2: penalty.l2, ...finiteBounds(penalty) },
    lambda,
    ...(classes && { classes: classes.classes }),
    ...(classes?.multiLabel && { multiLabel: true }),
    columns,
    rows,
    nonzeros,
    solver: solverOf(plan, found),
    grid,
    seed,
    certificate: joinedCertificate(certificates),
    ...(fits.length > 1 && { certificates }),
    ...(recipe && { recipe }),
    ...(options.scale === 'unit-rows' && { unitRows: true }),
    ...extras,
    weights,
    intercepts: Float64Array.from(fits, (one) => (intercept ? one.weights[columns] : 0)),
    ...(featureNames && { featureNames }),
  };
}

/** The solver that was at work at the end, of several vectors perhaps several. */
function solverOf(plan: SolverPlan, found: readonly { readonly outcome: Outcome }[]): string {
  const names = found.map(({ outcome }) => outcome.solver ?? plan.name);
  return [...new Set(names)].join(' and ');
}

/** What models and threads know of a loss. */
export function lossReference({ name, parameter, module }: Loss): Model['loss'] {
  return { name, parameter, ...(module && { module }) };
}

function certificateOf(outcome: Outcome): Certificate {
  const { primal, dual, relativeGap, epochs, stopped, provedZeros } = outcome;
  const gap = Math.max(0, primal - dual);
  const zeros = provedZeros !== undefined && { provedZeros };
  return { primal, dual, gap, relativeGap, epochs, stopped, ...zeros };
}

/** Vectors are fitted independently: bounds on their objectives are bounds on the sum of these. */
function joinedCertificate(certificates: readonly Certificate[]): Certificate {
  if (certificates.length === 1) return certificates[0];
  // Rounded once: what the bounds have been lowered by covers that, however many there are.
  const total = (key: 'primal' | 'dual' | 'epochs') =>
    sum(Float64Array.from(certificates, (one) => one[key]));
  const [primal, dual, epochs] = [total('primal'), total('dual'), total('epochs')];
  const gap = Math.max(0, primal - dual);
  // None is further from its optimum than the worst, whose optimum may be 0.
  const worst = certificates.reduce((most, one) => Math.max(most, one.relativeGap), 0);
  const relativeGap = gap === 0 ? 0 : Math.min(worst, gap / Math.abs(primal));
  const stopped = certificates.find((one) => one.stopped !== 'converged')?.stopped ?? 'converged';
  const known = certificates.flatMap(({ provedZeros }) => provedZeros ?? []);
  const zeros = known.length === certificates.length && {
    provedZeros: sum(Float64Array.from(known)),
  };
  return { primal, dual, gap, relativeGap, epochs, stopped, ...zeros };
}

/**
 * How well the model does on rows that were not trained on. Of several processes each scores the
 * rows it has read, and rank 0, which has the model, collects the scores.
 */
export async function testModel(
  model: Model | undefined,
  test: DataShard,
  columns: number,
): Promise<Metrics | undefined> {
  const { dataset, group } = test;
  if (group.size === 1) return model && evaluate(model, dataset);
  const own = model && concatenated(Float64Array, [model.weights, model.intercepts]);
  const weights = await broadcastNumbers(group, own);
  const vectors = weights.length / (columns + 1);
  const here = {
    columns,
    weights: weights.subarray(0, vectors * columns),
    intercepts: weights.subarray(vectors * columns),
  };
  const collect = async (numbers: Float64Array) =>
    concatenated(Float64Array, await collectNumbers(group, numbers));
  const labelsHere = dataset.parts.map((part) => part.labels);
  const scores = await collect(scoreVectors(here, dataset));
  const labels = await collect(concatenated(Float64Array, labelsHere));
  return model && measureScores(model, scores, labels);
}

export function concatenated<Numbers extends Float64Array | Int32Array>(
  Type: new (length: number) => Numbers,
  pieces: readonly Numbers[],
): Numbers {
  const all = new Type(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** A limit that no run is meant to reach, which models do not mention. */
export const defaultEpochs = stoppingOptions.epochs.default;

type Value = string | number | boolean;

/**
 * Where a model comes from. Values that other fields of a model have (λ, seed, grid …) are not
 * repeated; threads, processes, hosts and times do not affect the model and are left out.
 */
export function provenanceOf(
  { hash, options, settings, plan }: Training & { readonly hash: string },
  solverSettings: readonly [string, unknown][] = settingsOf(plan),
): Provenance {
  const { tolerance, epochs, time, penalty } = settings;
  // A replay makes as many epochs as were made.
  const isReplayed = entryOf(plan).asynchronous;
  const limits = {
    tolerance,
    epochs: epochs === defaultEpochs || isReplayed ? undefined : epochs,
    time: time === Infinity || isReplayed ? undefined : time,
  };
  const own = Object.fromEntries(solverSettings);
  const given = { ...provenanceOptions(options, penalty), ...limits, ...own };
  // A recorded order of visits is too long.
  const present = Object.entries<unknown>(given).filter((entry): entry is [string, Value] =>
    ['number', 'boolean', 'string'].includes(typeof entry[1]),
  );
  present.sort(([left], [right]) => (left < right ? -1 : 1));
  const { version } = packageDescription;
  return { version, data: hash, options: Object.fromEntries(present) };
}

/** Settings of the solver by name; those of the ring but its rotations follow from other options. */
export function settingsOf(plan: SolverPlan): [string, unknown][] {
  const settings: Readonly<Record<string, unknown>> = { ...plan.settings };
  const names = entryOf(plan).given ?? Object.keys(settings);
  return names.map((name) => [name, settings[name]]);
}

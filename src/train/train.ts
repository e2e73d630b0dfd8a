import type { Dataset } from '../data/dataset.ts';
import { workersOfRanks } from '../engine/block-layout.ts';
import { imbalance, nonzerosOfCells } from '../engine/grid.ts';
import {
  gatherValues,
  type ProcessGroup,
  singleProcess,
} from '../engine/processes/process-group.ts';
import { sum } from '../math/vectors.ts';
import type { DualPoint } from '../model/dual-point.ts';
import type { Metrics } from '../model/metrics/evaluate.ts';
import { type Model, positiveClass } from '../model/model.ts';
import { describePenalty } from '../problem/penalties/index.ts';
import { addTimeUse, noTimeUse } from '../solvers/statistics.ts';
import { assembleModel, concatenated, provenanceOf, testModel } from './assemble.ts';
import { fitToHeldOut } from './calibrate.ts';
import type { BeginEvent } from './events.ts';
import { type Fit, fitSubproblem, inLanes } from './fit.ts';
import { type LaidOutTraining, layOutData } from './layout.ts';
import { heldOutFolds } from './options/index.ts';
import { pick } from './options/option.ts';
import type { TrainOptions, TrainReport, TrainResult } from './options/options.ts';
import { mayScale, prepareTraining } from './prepare.ts';
import { startOfVector } from './warm-start.ts';

/** Seconds for the next fit; none are left if that is not above 0. */
export type TimeBudget = () => number;

/** Divides a time limit evenly among the fits that are left, of which `lanes` run at a time. */
export function timeBudget(seconds: number, fits: number, lanes: number): TimeBudget {
  const started = performance.now();
  let left = fits;
  return () => {
    const spent = (performance.now() - started) / 1000;
    const share = ((seconds - spent) * Math.min(left, lanes)) / left;
    left -= 1;
    return share;
  };
}

/** Trains a model and certifies how far from the optimum it is at most. */
export async function train(dataset: Dataset, options: TrainOptions = {}): Promise<TrainResult> {
  return (await trainInGroup(dataset, options, singleProcess)) as TrainResult;
}

/**
 * Trains one model in all processes of a group, each with the rows it has read; rank 0 gets it.
 * `callingThread`: see `Intent`.
 */
export async function trainInGroup(
  dataset: Dataset,
  options: TrainOptions,
  group: ProcessGroup,
  callingThread = false,
): Promise<TrainResult | undefined> {
  const started = performance.now();
  const intent = { group, callingThread };
  const training = await layOutData(await prepareTraining(dataset, options, intent));
  try {
    return await trainModel(training, started);
  } finally {
    training.layout.close();
  }
}

async function trainModel(
  training: LaidOutTraining,
  started: number,
): Promise<TrainResult | undefined> {
  const { options, settings, group, layout, shard, vectors } = training;
  const laidOut = performance.now();
  const loads = await loadsOf(training);
  const begin = beginEvent(training, loads, (laidOut - started) / 1000);
  options.onBegin?.(begin);
  const runs = vectors * (1 + heldOutFolds(options));
  const budget = timeBudget(settings.time, runs, layout.workspaces.length);
  const fits = await fitSubproblems(training, budget);
  const ended = performance.now();
  const extras = { ...(await fitToHeldOut(training, budget)), provenance: provenanceOf(training) };
  const model = group.leads ? assembleModel(training, fits, extras) : undefined;
  const tested = training.plainTest ?? training.test;
  const test = tested && (await testModel(model, tested, shard.columns));
  if (!model) return undefined;
  const [{ visits, bounds, resumed }] = fits;
  const { threads, imbalance: uneven } = begin;
  const report: TrainReport = {
    ...reportOf(training, model, fits, test),
    threads,
    ...(group.size > 1 && { ranks: group.size }),
    ...(resumed && { resumed }),
    seconds: {
      read: 0,
      partition: begin.seconds,
      train: (ended - laidOut) / 1000,
      total: (performance.now() - started) / 1000,
    },
    imbalance: uneven,
  };
  const alpha = options.alpha ? joinedAlpha(fits) : undefined;
  const dual = options.keepDual ? joinedProofs(fits, shard.rows) : undefined;
  const points = { ...(alpha && { alpha }), ...(dual && { dual }) };
  return { model, report, ...points, ...(visits && { visits, bounds }) };
}

/**
 * Fits the vectors of the model, several at the same time where threads have no other work. Those
 * that there is no time for, or that an interruption leaves out, are 0.
 */
async function fitSubproblems(training: LaidOutTraining, budget: TimeBudget): Promise<Fit[]> {
  const { settings, vectors, group, options } = training;
  const { lambda } = settings;
  const fits: Fit[] = [];
  const numbers = Array.from({ length: vectors }, (_, vector) => vector);
  await inLanes(training, numbers, async (vector, lane) => {
    const time = budget();
    const isOver = options.signal?.aborted || !(time > 0);
    // The first vector is always trained. Only one clock can decide for all processes.
    const [leftOut] = vector === 0 ? [false] : await gatherValues(group, isOver);
    const start = startOfVector(training, vector);
    fits[vector] = leftOut
      ? await untrained(training, vector)
      : await fitSubproblem(training, { vector, lambda, ...(start && { start }) }, lane, time);
  });
  return fits;
}

/** A vector that there was no time for: w = 0, about which nothing has been proved. */
async function untrained(training: LaidOutTraining, vector: number): Promise<Fit> {
  const { layout, settings, group, shard, options } = training;
  const { loss, intercept } = settings;
  const losses = layout.targets
    .of(vector)
    .map((target, row) => (layout.rowWeights?.[row] ?? 1) * loss.value(0, target, loss.parameter));
  const sums = await gatherValues(group, sum(losses));
  return {
    weights: new Float64Array(shard.columns + (intercept ? 1 : 0)),
    outcome: {
      epochs: 0,
      passes: 0,
      primal: sums.reduce((total, one) => total + one, 0) / layout.totalWeight,
      dual: -Infinity,
      relativeGap: Infinity,
      stopped: options.signal?.aborted ? 'interrupted' : 'time-limit',
      seconds: 0,
      effort: noTimeUse,
    },
    bounds: [],
  };
}

/** What each worker, block and cell of the grid has, in whichever process. */
async function loadsOf({ layout, group }: LaidOutTraining): Promise<BeginEvent['loads']> {
  const { rowBounds, blockLengths } = layout.grid.partition;
  return {
    rows: Array.from(blockLengths, (_, worker) => rowBounds[worker + 1] - rowBounds[worker]),
    columns: [...blockLengths],
    cells: (await gatherValues(group, nonzerosOfCells(layout.grid))).flat(),
  };
}

function beginEvent(
  { layout, settings, plan, group, vectors, shard, grid }: LaidOutTraining,
  loads: BeginEvent['loads'],
  seconds: number,
): BeginEvent {
  const { size: ranks, hosts } = group;
  const firsts = [...workersOfRanks(grid, ranks)].slice(0, ranks);
  return {
    solver: plan.name,
    lambda: settings.lambda,
    ...pick(shard, 'rows', 'columns', 'nonzeros'),
    vectors,
    grid,
    threads: layout.threads * layout.workspaces.length,
    ...(ranks > 1 && { ranks, hosts, firsts }),
    loads,
    imbalance: imbalance(layout.grid.partition, loads.cells),
    seconds,
    look: () => layout.latest.positions?.(),
  };
}

function joinedAlpha(fits: readonly Fit[]): Float64Array | undefined {
  const pieces = fits.flatMap(({ alpha }) => (alpha ? [alpha] : []));
  return pieces.length < fits.length ? undefined : concatenated(Float64Array, pieces);
}

/** A vector that there was no time for has α = 0. */
function joinedProofs(fits: readonly Fit[], rows: number): DualPoint {
  const none = { alpha: new Float64Array(rows), scale: 0 };
  const proofs = fits.map(({ proof = none }) => proof);
  const alpha = concatenated(
    Float64Array,
    proofs.map((one) => one.alpha),
  );
  return { alpha, scales: proofs.map(({ scale }) => scale) };
}

function reportOf(
  { alternative, options, dataset, group }: LaidOutTraining,
  model: Model,
  fits: readonly Fit[],
  test: Metrics | undefined,
) {
  const { solver, classes, grid, seed, certificate, certificates } = model;
  const positive = positiveClass(model);
  const outcomes = fits.map(({ outcome }) => outcome);
  const [{ rotations }] = outcomes;
  const hindrance = outcomes.find((one) => one.hindrance)?.hindrance;
  const std = options.scale !== 'std' && mayScale(dataset, options, group.size);
  return {
    solver,
    loss: model.loss.name,
    penalty: describePenalty(model.penalty),
    ...pick(model, 'lambda', 'rows', 'columns', 'nonzeros'),
    ...(classes && { classes }),
    ...(positive !== undefined && { positive }),
    ...(model.threshold !== undefined && { threshold: model.threshold }),
    grid,
    seed,
    epochs: certificate.epochs,
    passes: outcomes.reduce((sums, { passes }) => sums + passes, 0),
    ...pick(certificate, 'primal', 'dual', 'gap', 'relativeGap', 'stopped'),
    ...(certificate.provedZeros !== undefined && { provedZeros: certificate.provedZeros }),
    effort: outcomes.map(({ effort }) => effort).reduce(addTimeUse),
    ...(rotations && { rotations }),
    ...(hindrance && {
      hindrance: { ...hindrance, mayScale: std, ...(alternative && { alternative }) },
    }),
    ...(certificates && { vectors: certificates.length }),
    ...(test && { test }),
  };
}

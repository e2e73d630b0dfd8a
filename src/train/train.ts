import type { Dataset } from '../data/dataset.ts';
import { workersOfRanks } from '../engine/block-layout.ts';
import { imbalance, nonzerosOfCells } from '../engine/grid.ts';
import {
  gatherValues,
  type ProcessGroup,
  singleProcess,
} from '../engine/processes/process-group.ts';
import { sum } from '../math/vectors.ts';
import type { Metrics } from '../model/metrics/evaluate.ts';
import type { Model } from '../model/model.ts';
import { describePenalty } from '../problem/penalties/index.ts';
import type { Outcome } from '../solvers/epochs.ts';
import { assembleModel, concatenated, provenanceOf, testModel } from './assemble.ts';
import { calibrate, foldsOf } from './calibrate.ts';
import type { BeginEvent } from './events.ts';
import { type Fit, fitSubproblem, inLanes } from './fit.ts';
import { type LaidOutTraining, layOutData } from './layout.ts';
import type { TrainOptions, TrainReport, TrainResult } from './options/options.ts';
import { prepareTraining } from './prepare.ts';
import { startOfVector } from './warm-start.ts';

/** Divides a time limit evenly among the fits that are left, of which `lanes` run at a time. */
export class TimeBudget {
  readonly #seconds: number;
  readonly #lanes: number;
  readonly #started = performance.now();
  #left: number;

  constructor(seconds: number, fits: number, lanes: number) {
    this.#seconds = seconds;
    this.#left = fits;
    this.#lanes = lanes;
  }

  /** Seconds for the next fit; none are left if that is not above 0. */
  next(): number {
    const spent = (performance.now() - this.#started) / 1000;
    const share = ((this.#seconds - spent) * Math.min(this.#left, this.#lanes)) / this.#left;
    this.#left -= 1;
    return share;
  }
}

/** Trains a model and certifies how far from the optimum it is at most. */
export async function train(dataset: Dataset, options: TrainOptions = {}): Promise<TrainResult> {
  return (await trainInGroup(dataset, options, singleProcess)) as TrainResult;
}

/**
 * Trains one model in all processes of a group, each with the rows that it has read; the result is
 * rank 0's.
 */
export async function trainInGroup(
  dataset: Dataset,
  options: TrainOptions,
  group: ProcessGroup,
): Promise<TrainResult | undefined> {
  const started = performance.now();
  const training = await layOutData(await prepareTraining(dataset, options, { group }));
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
  options.onBegin?.(beginEvent(training, loads, (laidOut - started) / 1000));
  const { calibrate: calibrated } = options;
  const runs = vectors * (1 + (calibrated ? foldsOf(calibrated) : 0));
  const budget = new TimeBudget(settings.time, runs, layout.workspaces.length);
  const fits = await fitSubproblems(training, budget);
  const ended = performance.now();
  const calibration = calibrated && (await calibrate(training, calibrated, budget));
  const extras = { ...(calibration && { calibration }), provenance: provenanceOf(training) };
  const model = group.leads ? assembleModel(training, fits, extras) : undefined;
  const tested = training.plainTest ?? training.test;
  const test = tested && (await testModel(model, tested, shard.columns));
  if (!model) return undefined;
  const [{ visits, bounds, resumed }] = fits;
  const report: TrainReport = {
    ...reportOf(model, fits, test),
    threads: layout.threads * layout.workspaces.length,
    ...(group.size > 1 && { ranks: group.size }),
    ...(resumed && { resumed }),
    seconds: {
      read: 0,
      partition: (laidOut - started) / 1000,
      train: (ended - laidOut) / 1000,
      total: (performance.now() - started) / 1000,
    },
    imbalance: imbalance(layout.grid.partition, loads.cells),
  };
  const alpha = options.alpha ? joinedAlpha(fits) : undefined;
  return { model, report, ...(alpha && { alpha }), ...(visits && { visits, bounds }) };
}

/**
 * Fits the vectors of the model, several at the same time where threads have no other work. Those
 * that there is no time for, or that an interruption leaves out, are 0.
 */
async function fitSubproblems(training: LaidOutTraining, budget: TimeBudget): Promise<Fit[]> {
  const { settings, vectors, group } = training;
  const { lambda } = settings;
  const fits: Fit[] = [];
  const numbers = Array.from({ length: vectors }, (_, vector) => vector);
  await inLanes(training, numbers, async (vector, lane) => {
    const time = budget.next();
    // Only one clock can decide for all processes.
    const [isOver] =
      vector === 0 ? [false] : await gatherValues(group, isInterrupted(training) || !(time > 0));
    const start = startOfVector(training, vector);
    fits[vector] = isOver
      ? await untrained(training, vector)
      : await fitSubproblem(training, { vector, lambda, ...(start && { start }) }, lane, time);
  });
  return fits;
}

function isInterrupted({ options }: LaidOutTraining): boolean {
  return options.signal?.aborted ?? false;
}

/** A vector that there was no time for: w = 0, about which nothing has been proved. */
async function untrained(training: LaidOutTraining, vector: number): Promise<Fit> {
  const { layout, settings, group, shard } = training;
  const { loss, intercept } = settings;
  const targets = layout.targets.of(vector);
  const losses = targets.map(
    (target, row) => (layout.rowWeights?.[row] ?? 1) * loss.value(0, target, loss.parameter),
  );
  const sums = await gatherValues(group, sum(losses));
  return {
    weights: new Float64Array(shard.columns + (intercept ? 1 : 0)),
    outcome: {
      epochs: 0,
      passes: 0,
      primal: sums.reduce((total, one) => total + one, 0) / layout.totalWeight,
      dual: -Infinity,
      relativeGap: Infinity,
      stopped: isInterrupted(training) ? 'interrupted' : 'time-limit',
      seconds: 0,
      effort: noEffort,
    },
    bounds: [],
  };
}

const noEffort = { computing: 0, waiting: 0, communicating: 0, bytes: 0 };

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
  const { rows, columns, nonzeros } = shard;
  return {
    solver: plan.name,
    lambda: settings.lambda,
    rows,
    columns,
    nonzeros,
    vectors,
    grid,
    threads: layout.threads * layout.workspaces.length,
    ...(group.size > 1 && {
      ranks: group.size,
      hosts: group.hosts,
      firsts: [...workersOfRanks(grid, group.size)].slice(0, group.size),
    }),
    loads,
    imbalance: imbalance(layout.grid.partition, loads.cells),
    seconds,
    look: () => layout.latest.positions?.(),
  };
}

function joinedAlpha(fits: readonly Fit[]): Float64Array | undefined {
  const pieces = fits.flatMap(({ alpha }) => (alpha ? [alpha] : []));
  return pieces.length < fits.length ? undefined : concatenated(pieces);
}

function reportOf(model: Model, fits: readonly Fit[], test: Metrics | undefined) {
  const { solver, lambda, rows, columns, nonzeros, classes, grid, seed, certificate } = model;
  const { primal, dual, gap, relativeGap, epochs, stopped } = certificate;
  const [{ rotations }] = fits.map(({ outcome }) => outcome);
  return {
    solver,
    loss: model.loss.name,
    penalty: describePenalty(model.penalty),
    lambda,
    rows,
    columns,
    nonzeros,
    ...(classes && { classes }),
    grid,
    seed,
    epochs,
    passes: fits.reduce((total, { outcome }) => total + outcome.passes, 0),
    primal,
    dual,
    gap,
    relativeGap,
    stopped,
    effort: fits.map(({ outcome }) => outcome.effort).reduce(addEffort),
    ...(rotations && { rotations }),
    ...(model.certificates && { vectors: model.certificates.length }),
    ...(test && { test }),
  };
}

function addEffort(left: Outcome['effort'], right: Outcome['effort']): Outcome['effort'] {
  return {
    computing: left.computing + right.computing,
    waiting: left.waiting + right.waiting,
    communicating: left.communicating + right.communicating,
    bytes: left.bytes + right.bytes,
  };
}

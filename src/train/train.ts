import type { Dataset } from '../data/dataset.ts';
import { entriesOfCells, imbalance } from '../engine/grid.ts';
import { type Company, gatherValues } from '../engine/processes/process-group.ts';
import type { Metrics } from '../model/metrics/evaluate.ts';
import type { Model } from '../model/model.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import { describePenalty } from '../penalties/index.ts';
import type { Outcome } from '../solvers/epochs.ts';
import { Allowance } from './allowance.ts';
import { makeModel, testModel } from './assemble.ts';
import { calibrate, foldsOf } from './calibrate.ts';
import type { BeginEvent } from './events.ts';
import type { Fit, Site } from './fit.ts';
import type { Input } from './lay-out.ts';
import type { TrainOptions, TrainReport, TrainResult } from './options/options.ts';
import { prepare } from './prepare.ts';
import { provenanceOf } from './provenance.ts';
import { fitVectors } from './vectors.ts';

/** Trains a model and certifies how far from the optimum it is at most. */
export async function train(dataset: Dataset, options: TrainOptions = {}): Promise<TrainResult> {
  return (await trainTogether(dataset, options, undefined)) as TrainResult;
}

/**
 * Trains one model in all processes of a job, each with the rows that it has read; the result is
 * rank 0's.
 */
export async function trainTogether(
  dataset: Dataset,
  options: TrainOptions,
  company: Company | undefined,
): Promise<TrainResult | undefined> {
  const atEnd: (() => void)[] = [];
  try {
    return await trainWhole(dataset, options, company, atEnd);
  } finally {
    for (const act of atEnd) act();
  }
}

/** `atEnd` gets what has to be done when the run is over, however it ends. */
async function trainWhole(
  dataset: Dataset,
  options: TrainOptions,
  company: Company | undefined,
  atEnd: (() => void)[],
): Promise<TrainResult | undefined> {
  const started = performance.now();
  const { site, input, hash, grid, leads } = await prepare(dataset, options, company, atEnd);
  const { ground, settings, plan, threads } = site;
  const laidOut = performance.now();
  const loads = await loadsOf(site);
  options.onBegin?.(beginningOf(site, input, grid, loads, (laidOut - started) / 1000));
  const { calibrate: calibrated } = options;
  const runs = site.vectors * (1 + (calibrated ? foldsOf(calibrated) : 0));
  const allowance = new Allowance(settings.time, runs, ground.rooms.length);
  const fits = await fitVectors(site, input, allowance);
  const ended = performance.now();
  const calibration =
    calibrated && (await calibrate(site, input.train.dataset, calibrated, allowance));
  const extras = {
    ...(options.scale === 'unit-rows' && { unitRows: true as const }),
    ...(calibration && { calibration }),
    provenance: provenanceOf(hash, options, settings, plan),
  };
  const model = leads ? makeModel(fits, input, settings, plan, grid, extras) : undefined;
  const tested = input.plainTest ?? input.test;
  const test = tested && (await testModel(model, tested, input.train.columns));
  if (!model) return undefined;
  const seconds = {
    read: 0,
    partition: (laidOut - started) / 1000,
    train: (ended - laidOut) / 1000,
    total: (performance.now() - started) / 1000,
  };
  const [{ visits, bounds, resumed }] = fits;
  const report: TrainReport = {
    ...reportOf(model, fits, test),
    threads: threads * ground.rooms.length,
    ...(company && { ranks: company.size }),
    ...(resumed && { resumed }),
    seconds,
    imbalance: imbalance(ground.grid.partition, loads.cells),
  };
  const alpha = options.alpha ? joinedAlpha(fits) : undefined;
  return { model, report, ...(alpha && { alpha }), ...(visits && { visits, bounds }) };
}

/** What each worker, block and cell of the grid has, wherever it is. */
async function loadsOf({ ground, company }: Site): Promise<BeginEvent['loads']> {
  const { rowBounds, blockLengths } = ground.grid.partition;
  return {
    rows: Array.from(blockLengths, (_, worker) => rowBounds[worker + 1] - rowBounds[worker]),
    columns: [...blockLengths],
    cells: (await gatherValues(company, entriesOfCells(ground.grid))).flat(),
  };
}

function beginningOf(
  site: Site,
  input: Input,
  grid: number,
  loads: BeginEvent['loads'],
  seconds: number,
): BeginEvent {
  const { ground, settings, plan, threads, company, vectors } = site;
  const { rows, columns, nonzeros } = input.train;
  return {
    solver: plan.engine,
    lambda: settings.lambda,
    rows,
    columns,
    nonzeros,
    vectors,
    grid,
    threads: threads * ground.rooms.length,
    ...(company && {
      ranks: company.size,
      hosts: company.hosts,
      firsts: [...workersOfRanks(grid, company.size)].slice(0, company.size),
    }),
    loads,
    imbalance: imbalance(ground.grid.partition, loads.cells),
    seconds,
    look: () => site.window.look?.(),
  };
}

function joinedAlpha(fits: readonly Fit[]): Float64Array | undefined {
  const pieces = fits.flatMap(({ alpha }) => (alpha ? [alpha] : []));
  if (pieces.length < fits.length) return undefined;
  const all = new Float64Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
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

import type { Dataset } from '../data/dataset.ts';
import { type Classes, type Targets, targetsOf } from '../data/labels.ts';
import { withColumns } from '../data/row-packing.ts';
import { isWeighted, rowWeights } from '../data/weights.ts';
import {
  type Arena,
  Budget,
  createArena,
  padded,
  type Room,
  roomIn,
  separateArena,
} from '../engine/arena.ts';
import { allocateGrid, canFillByRows, type Grid, offsetsFromCounts } from '../engine/grid.ts';
import {
  checkWorkers,
  gibibytes,
  machineMemory,
  mebibytes,
  memoryOfLanes,
} from '../engine/memory.ts';
import {
  type EntryCounts,
  holdings,
  type Partition,
  type Placement,
  placeEntries,
} from '../engine/partition.ts';
import { DataError, UsageError } from '../errors.ts';
import { sum as sumOf } from '../math/sum.ts';
import { vectorCount } from '../model/model.ts';
import { cutSegments } from '../parallel/segments.ts';
import { entryBytes } from '../parallel/stored-cells.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import type { Penalty } from '../penalties/penalty.ts';
import { engineOf, type Plan } from '../solvers/engines.ts';
import type { Start } from '../solvers/method.ts';
import { allocateProblem, layOutProblem, type Problem } from '../solvers/objective/problem.ts';
import { allocateRun, type RunMemory } from '../solvers/run.ts';
import { allocateTest, type TestRows } from '../solvers/test-error.ts';
import { allocateStreamed, checkStreaming, fillStreamed, shareWindow } from './disk-layout.ts';
import { moveRows } from './move-rows.ts';
import type { TrainOptions } from './options/options.ts';
import { openScratch, type ScratchFile } from './scratch.ts';
import { countShare, type Share } from './shard.ts';
import { allocateStart, checkStartRows, layOutStart, type StartingPoint } from './start.ts';
import type { FillPayload } from './tasks.ts';
import { threadCount, threadPool, together } from './threads.ts';

/** Options with their defaults. */
export type Settings = Required<
  Pick<
    TrainOptions,
    | 'loss'
    | 'penalty'
    | 'lambda'
    | 'solver'
    | 'seed'
    | 'epochs'
    | 'tolerance'
    | 'time'
    | 'intercept'
  >
>;

/** The data of a run: what is trained on, what is tested on, and what the labels mean. */
export interface Input {
  readonly train: Share;
  readonly test: Share | undefined;
  /** In classification. */
  readonly classes: Classes | undefined;
  /** What the columns were divided by for training. */
  readonly factors?: Float64Array;
  /** The rows to test on as they are read, where `test` has them scaled. */
  readonly plainTest?: Share;
}

/** Data laid out for all threads, in memory or in a scratch file: problems are set up on it. */
export interface Ground {
  readonly grid: Grid;
  readonly arena: Arena;
  /** Room for the arrays of each of the runs that go on at the same time. */
  readonly rooms: readonly Room[];
  /** Ends all runs on the ground, once one of them has failed. */
  readonly halt: AbortController;
  readonly targets: Targets;
  /** Whether rooms have space for a point to start from. */
  readonly starts: boolean;
  /** What each row counts, in the order of the targets, if not all count 1; and all rows together. */
  readonly weights: Float64Array | undefined;
  readonly mass: number;
  readonly test: TestGround | undefined;
  /** Original columns in the order of their places, those of all processes. */
  readonly columnOrder: Int32Array;
  readonly scratch?: ScratchFile;
}

interface TestGround {
  readonly grid: Grid;
  readonly targets: Targets;
  readonly auprc: boolean;
  readonly latest: boolean;
}

/** One problem set up for all threads of a run. */
export interface Run {
  readonly problem: Problem;
  readonly memory: RunMemory;
  readonly test: TestRows | undefined;
  readonly start?: Start;
}

/** What is to be fitted on the ground. */
export interface Aim {
  /** The vector of the model, whose class is told from all others. */
  readonly vector: number;
  readonly lambda: number;
  /** What each row counts here, in place of what it counts on the ground. In one process. */
  readonly weights?: Float64Array;
  /** Where to start instead of w = 0; there must be room for it. */
  readonly start?: StartingPoint;
}

/**
 * Partitions the data, reserves memory and copies the data into the grid, on all threads. `runs` at
 * most will go on at the same time; `starts` says whether some will start from a given point.
 */
export async function layOut(
  input: Input,
  options: TrainOptions,
  settings: Settings,
  plan: Plan,
  size: number,
  solvingThreads: number,
  runs: number,
  starts: boolean,
): Promise<Ground> {
  const { intercept, seed, loss } = settings;
  const { train, classes } = input;
  if (train.company && train.dataset.stored) {
    throw new UsageError('training from disk runs in one process: read the data into the ranks');
  }
  checkStartRows(train, options, vectorCount(classes ?? {}));
  const counts = await countShare(train, intercept);
  const placement = placeEntries(counts, size, seed);
  const held = await hold(train, placement, counts, intercept);
  const testRows = input.test && (await holdTest(input.test, placement, train.columns, intercept));
  const { parts, dataset } = held;
  const threads = threadCount(options.threads);
  const rest = new Budget();
  allocateArrays(rest, parts, testRows?.parts, plan, options, settings.penalty, starts);
  const room = padded(rest.bytes);
  const lanes = Math.min(runs, Math.max(1, Math.floor(memoryOfLanes() / room)));
  const testGrid = (arena: Arena) => testRows && allocateGrid(arena, testRows.parts, 'rows');
  const storage = dataset.stored
    ? storeOnDisk(dataset, parts, [testGrid], room, plan, options, solvingThreads, threads)
    : keepInMemory(dataset, parts, [testGrid], lanes * room, plan, options);
  const arena = loss.module === undefined ? createArena(storage.bytes) : separateArena;
  const grid = storage.allocate(arena);
  const test = testGrid(arena);
  const rooms = Array.from({ length: lanes }, () => roomIn(arena, rest.bytes));
  if (dataset.stored) await fillStreamed(grid, dataset, intercept);
  else await fillGrid(grid, dataset, intercept, threads);
  if (test && testRows) await fillGrid(test, testRows.dataset, intercept, threads);
  const { columnOrder } = placement;
  const { scratch } = storage;
  return {
    grid,
    arena,
    rooms,
    halt: new AbortController(),
    targets: targetsOf(dataset, classes),
    starts,
    weights: rowWeights(dataset),
    mass: train.mass,
    test: test &&
      testRows && {
        grid: test,
        targets: targetsOf(testRows.dataset, classes),
        auprc: options.auprc ?? false,
        latest: options.testOn === 'latest',
      },
    columnOrder,
    ...(scratch && { scratch }),
  };
}

/** The arrays of one run, beside the data. */
function allocateArrays(
  arena: Arena,
  parts: Partition,
  testParts: Partition | undefined,
  plan: Plan,
  { auprc = false, earlyStop }: TrainOptions,
  penalty: Penalty,
  starts: boolean,
) {
  return {
    memory: allocateRun(arena, parts, plan, earlyStop !== undefined),
    start: starts ? allocateStart(arena, parts) : undefined,
    problem: allocateProblem(arena, parts, penalty),
    test: testParts && allocateTest(arena, testParts, auprc),
  };
}

/** Sets a problem up in a room, in place of the one that was there before. */
export function setUp(
  { grid, targets, test, starts, ...ground }: Ground,
  room: Room,
  { vector, lambda, weights, start: from }: Aim,
  options: TrainOptions,
  { penalty, intercept }: Settings,
  plan: Plan,
): Run {
  room.clear();
  const { partition } = grid;
  const testParts = test?.grid.partition;
  const arrays = allocateArrays(room, partition, testParts, plan, options, penalty, starts);
  const factors = options.penaltyFactors;
  const problem = layOutProblem(arrays.problem, grid, targets.of(vector), {
    penalty,
    lambda,
    factors,
    intercept,
    weights: weights ?? ground.weights,
    mass: weights ? massOf(weights) : ground.mass,
  });
  const { memory } = arrays;
  const start = arrays.start && from && layOutStart(arrays.start, from, problem);
  const run = { problem, memory, ...(start && { start }) };
  if (!test || !arrays.test) return { ...run, test: undefined };
  const { rowOrder } = test.grid.partition;
  const signs = test.targets.of(vector);
  for (let place = 0; place < rowOrder.length; place++) {
    arrays.test.targets[place] = signs[rowOrder[place]];
  }
  const { auprc, latest } = test;
  return { ...run, test: { grid: test.grid, memory: arrays.test, auprc, latest } };
}

/** Of the rows that a fold leaves: they may be none of those that count. */
function massOf(weights: Float64Array): number {
  const mass = sumOf(weights);
  if (mass > 0) return mass;
  throw new DataError(
    'all rows outside of a fold have weight 0, and nothing is left to train on; expected rows that count in at least two folds',
  );
}

/** Where the entries will be, and the memory that this takes. */
interface Storage {
  /** Of all arrays of the run. */
  readonly bytes: number;
  readonly allocate: (arena: Arena) => Grid;
  readonly scratch?: ScratchFile;
}

/** The rows of the workers that this process plays, and where they and its columns go. */
interface Held {
  readonly parts: Partition;
  readonly dataset: Dataset;
}

async function hold(
  share: Share,
  placement: Placement,
  counts: EntryCounts,
  intercept: boolean,
): Promise<Held> {
  const { company } = share;
  const firsts = workersOfRanks(placement.size, company?.size ?? 1);
  const [first, end] = firsts.subarray(company?.rank ?? 0);
  const lengths = company && intercept ? counts.rows.map((count) => count - 1) : counts.rows;
  const { dataset, rowOrder } = await moveRows(share, placement, lengths);
  return { parts: { ...holdings(placement, counts, first, end), rowOrder }, dataset };
}

/** Rows to test on are dealt in the order they come in; columns that were not trained on go. */
async function holdTest(
  share: Share,
  placement: Placement,
  columns: number,
  intercept: boolean,
): Promise<Held> {
  const known = { ...share, columns, dataset: withColumns(share.dataset, columns) };
  const counts = await countShare(known, intercept);
  const { size } = placement;
  const rowBounds = Int32Array.from({ length: size + 1 }, (_, worker) =>
    Math.floor((worker * share.rows) / size),
  );
  const rowOrder = Int32Array.from({ length: share.rows }, (_, row) => row);
  const workerEntries = Float64Array.from({ length: size }, (_, worker) =>
    counts.rows
      .subarray(rowBounds[worker], rowBounds[worker + 1])
      .reduce((sum, count) => sum + count, 0),
  );
  const dealt = { ...placement, rowBounds, rowOrder, workerEntries };
  return hold(known, dealt, counts, intercept);
}

/** Copies the data into the grid: every thread some workers, or some rows of the only worker. */
async function fillGrid(
  grid: Grid,
  { parts, columns }: Dataset,
  intercept: boolean,
  threads: number,
): Promise<void> {
  const rows = grid.partition.rowOrder.length;
  const byRows = canFillByRows(grid);
  if (byRows) offsetsFromCounts(grid);
  const count = byRows ? threads : Math.min(threads, grid.size);
  const bound = (index: number) => Math.floor((index * rows) / count);
  const { first, end } = grid.partition;
  const workers = Array.from({ length: end - first }, (_, k) => first + k);
  await together(threadPool(count), 'fill', count, (index): FillPayload => {
    const share = byRows
      ? { rows: [bound(index), bound(index + 1)] as const }
      : { workers: workers.filter((worker) => worker % count === index) };
    return { grid, dataset: { parts, columns }, intercept, share };
  });
}

/** Adds up the memory of a run; warns when it is a large part of the machine's, refuses all of it. */
function keepInMemory(
  dataset: Dataset,
  parts: Partition,
  others: readonly ((arena: Arena) => unknown)[],
  rooms: number,
  plan: Plan,
  options: TrainOptions,
): Storage {
  checkWorkers(parts);
  const allocate = (arena: Arena) => allocateGrid(arena, parts, engineOf(plan).orientation);
  const budget = new Budget();
  allocate(budget);
  for (const other of others) other(budget);
  const bytes = budget.bytes + rooms;
  const peak = bytes + 8 * dataset.nonzeros;
  const machine = machineMemory();
  if (bytes > machine) {
    throw new UsageError(
      `${plan.engine} on a grid of ${parts.size} needs ${gibibytes(bytes)}; this machine has ` +
        `${gibibytes(machine)} (a smaller grid or another solver may need less; data in a .dsob file, which dso convert writes, can be trained on from disk with --memory)`,
    );
  }
  if (peak > machine / 4) {
    options.onNotice?.(
      `memory forecast: ${gibibytes(bytes)} while training, ` +
        `${gibibytes(peak)} while partitioning, of ${gibibytes(machine)}`,
    );
  }
  return { bytes, allocate };
}

/** Leaves the entries on disk and divides what memory there is. */
function storeOnDisk(
  dataset: Dataset,
  parts: Partition,
  others: readonly ((arena: Arena) => unknown)[],
  room: number,
  plan: Plan,
  options: TrainOptions,
  threads: number,
  poolThreads: number,
): Storage {
  checkStreaming(plan, parts.size);
  const segments = cutSegments(parts);
  const bytesWith = (shares: readonly number[]) => {
    const budget = new Budget();
    allocateStreamed(budget, parts, segments, shares, -1);
    for (const other of others) other(budget);
    return budget.bytes + room;
  };
  const weighted = isWeighted(dataset);
  const fixed = bytesWith([0]);
  const shares = shareWindow(fixed, parts, segments, weighted, options, threads, poolThreads);
  const entries = parts.workerEntries.reduce((sum, count) => sum + count, 0);
  const scratch = openScratch(entryBytes * entries, options.scratch, dataset.stored?.folder);
  const window = shares[shares.length - 1];
  options.onNotice?.(
    `training from disk: ${mebibytes(entryBytes * entries)} in a scratch file in ${scratch.folder}, of which ${mebibytes(window)} are in memory at a time`,
  );
  return {
    bytes: bytesWith(shares),
    allocate: (arena) => allocateStreamed(arena, parts, segments, shares, scratch.file),
    scratch,
  };
}

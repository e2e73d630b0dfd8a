import type { Dataset } from '../data/dataset.ts';
import { withColumns } from '../data/exchange.ts';
import { targets } from '../data/labels.ts';
import { UsageError } from '../errors.ts';
import { allocateProblem, layOutProblem, type Problem } from '../objective/problem.ts';
import { type Arena, Budget, createArena, separateArena } from '../parallel/arena.ts';
import { allocateGrid, canFillByRows, type Grid, offsetsFromCounts } from '../parallel/grid.ts';
import {
  type EntryCounts,
  holdings,
  type Partition,
  type Placement,
  placeEntries,
} from '../parallel/partition.ts';
import { cutSegments } from '../parallel/segments.ts';
import { entryBytes } from '../parallel/stored-cells.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import { engineOf, type Plan } from '../solvers/engines.ts';
import { allocateRun, type RunMemory } from '../solvers/run.ts';
import { allocateTest, type TestRows } from '../solvers/test-measure.ts';
import { checkWorkers, gibibytes, machineMemory, mebibytes } from './memory.ts';
import { moveRows } from './move-rows.ts';
import type { TrainOptions } from './options.ts';
import { openScratch, type ScratchFile } from './scratch.ts';
import { countShare, type Share } from './shares.ts';
import { allocateStreamed, checkStreaming, fillStreamed, shareWindow } from './stream-lay-out.ts';
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
  readonly classes: readonly [number, number] | undefined;
}

/** The problem laid out for all threads: in memory, or its entries in a scratch file. */
export interface Run {
  readonly problem: Problem;
  readonly memory: RunMemory;
  readonly arena: Arena;
  readonly test: TestRows | undefined;
  /** Original columns in the order of their places, those of all processes. */
  readonly columnOrder: Int32Array;
  readonly scratch?: ScratchFile;
}

/** Partitions the data, reserves memory and copies the data into the grid, on all threads. */
export async function layOut(
  input: Input,
  options: TrainOptions,
  settings: Settings,
  plan: Plan,
  size: number,
  solvingThreads: number,
): Promise<Run> {
  const { intercept, penalty, lambda, seed, loss } = settings;
  const { train, classes } = input;
  if (train.company && train.dataset.stored) {
    throw new UsageError('training from disk runs in one process: read the data into the ranks');
  }
  const counts = await countShare(train, intercept);
  const placement = placeEntries(counts, size, seed);
  const held = await hold(train, placement, counts, intercept);
  const testRows = input.test && (await holdTest(input.test, placement, train.columns, intercept));
  const { parts, dataset } = held;
  const threads = threadCount(options.threads);
  const rest = (arena: Arena) => {
    const memory = allocateRun(arena, parts, plan);
    const problemMemory = allocateProblem(arena, parts, penalty);
    const testMemory = testRows && allocateTestRows(arena, testRows, options);
    return { memory, problemMemory, testMemory };
  };
  const storage = dataset.stored
    ? storeOnDisk(dataset, parts, rest, plan, options, solvingThreads, threads)
    : keepInMemory(dataset, parts, rest, plan, options);
  const arena = loss.module === undefined ? createArena(storage.bytes) : separateArena;
  const grid = storage.allocate(arena);
  const { memory, problemMemory, testMemory } = rest(arena);
  if (dataset.stored) await fillStreamed(grid, dataset, intercept);
  else await fillGrid(grid, dataset, intercept, threads);
  const labels = targets(dataset, loss.task, classes);
  const factors = options.penaltyFactors;
  const problem = layOutProblem(problemMemory, grid, labels, {
    penalty,
    lambda,
    factors,
    intercept,
  });
  const test =
    testRows &&
    testMemory &&
    (await layOutTest(testMemory, testRows, input, options, settings, threads));
  const { columnOrder } = placement;
  const { scratch } = storage;
  return { problem, memory, arena, test, columnOrder, ...(scratch && { scratch }) };
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

function allocateTestRows(arena: Arena, { parts }: Held, { auprc = false }: TrainOptions) {
  return {
    grid: allocateGrid(arena, parts, 'rows'),
    memory: allocateTest(arena, parts, auprc),
  };
}

async function layOutTest(
  { grid, memory }: ReturnType<typeof allocateTestRows>,
  { parts, dataset }: Held,
  { classes }: Input,
  { auprc = false, testOn = 'best' }: TrainOptions,
  { loss, intercept }: Settings,
  threads: number,
): Promise<TestRows> {
  await fillGrid(grid, dataset, intercept, threads);
  const labels = targets(dataset, loss.task, classes);
  for (let place = 0; place < labels.length; place++) {
    memory.targets[place] = labels[parts.rowOrder[place]];
  }
  return { grid, memory, auprc, latest: testOn === 'latest' };
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
  rest: (arena: Arena) => unknown,
  plan: Plan,
  options: TrainOptions,
): Storage {
  checkWorkers(parts);
  const allocate = (arena: Arena) => allocateGrid(arena, parts, engineOf(plan).orientation);
  const budget = new Budget();
  allocate(budget);
  rest(budget);
  const { bytes } = budget;
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
  rest: (arena: Arena) => unknown,
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
    rest(budget);
    return budget.bytes;
  };
  const shares = shareWindow(bytesWith([0]), parts, segments, options, threads, poolThreads);
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

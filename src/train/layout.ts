import { type Dataset, type DatasetPart, rowWeights } from '../data/dataset.ts';
import { type Targets, targetsOf } from '../data/labels.ts';
import { withColumns } from '../data/row-packing.ts';
import {
  type Arena,
  collectGarbage,
  createArena,
  padded,
  separateArena,
  type Workspace,
  wasmLimit,
  workspaceIn,
} from '../engine/arena.ts';
import { workersOfRank } from '../engine/block-layout.ts';
import type { ScratchFile } from '../engine/disk/disk-cells.ts';
import { allocateGrid, canFillByRows, type Grid, offsetsFromCounts } from '../engine/grid.ts';
import { checkWorkers, gibibytes, machineMemory, memoryOfLanes } from '../engine/memory.ts';
import {
  localPartition,
  type NonzeroCounts,
  type Partition,
  type Placement,
  placeRowsAndColumns,
} from '../engine/partition.ts';
import { gatherValues } from '../engine/processes/process-group.ts';
import type { BlockPositions } from '../engine/ring.ts';
import { runTogether, threadCount } from '../engine/thread-pool.ts';
import { DataError, UsageError } from '../errors.ts';
import { sum } from '../math/vectors.ts';
import { isOfResidual } from '../problem/losses/loss.ts';
import { allocateMoments, type MomentsMemory } from '../solvers/objective/column-moments.ts';
import { allocateProblem, layOutProblem, type Problem } from '../solvers/objective/problem.ts';
import { entryOf, isReplay } from '../solvers/registry.ts';
import { allocateRun, type RunMemory } from '../solvers/run.ts';
import type { WarmStart } from '../solvers/solver.ts';
import { allocateTest, type TestRows } from '../solvers/test-error.ts';
import { bytesOf, fillOnDisk, storeOnDisk } from './disk-layout.ts';
import { heldOutFolds } from './options/index.ts';
import { poolOf } from './place.ts';
import type { PreparedTraining, Training } from './prepare.ts';
import { countShard, type DataShard, moveRows } from './shard.ts';
import type { FillPayload } from './tasks.ts';
import { allocateStart, checkStartRows, layOutStart, type StartingPoint } from './warm-start.ts';

/** Memory of the runs that take place one after the other. */
interface LaneMemory {
  readonly workspace: Workspace;
  /** Of the row weights of the run before, where the penalty has an L1 part. */
  readonly moments: MomentsMemory | undefined;
  rowWeights: Float64Array | undefined;
}

/** Data laid out for all threads, in memory or in a scratch file: problems are set up on it. */
export interface Layout {
  readonly grid: Grid;
  readonly arena: Arena;
  /** Memory for the arrays of each of the runs at the same time. */
  readonly workspaces: readonly LaneMemory[];
  /** Of each run. */
  readonly threads: number;
  /** Ends all runs once one of them has failed. */
  readonly halt: AbortController;
  readonly targets: Targets;
  /** What is subtracted from labels while training, and added to the intercept. */
  readonly centre: number;
  /** Weights of the rows, in the order of the targets, if not all are 1; and the sum of all. */
  readonly rowWeights: Float64Array | undefined;
  readonly totalWeight: number;
  readonly test: Pick<Layout, 'grid' | 'targets'> | undefined;
  /** Original columns and rows in the order of their positions, those of all processes. */
  readonly columnOrder: Int32Array;
  readonly rowOrder: Int32Array;
  /** Where blocks are in the run that began last, while it lasts. */
  readonly latest: { positions?: (() => BlockPositions) | undefined };
  /** Removes the scratch file, if there is one. */
  close(): void;
}

/** A training whose data is laid out: subproblems can be solved on it. */
export interface LaidOutTraining extends Training {
  readonly hash: string;
  readonly layout: Layout;
}

/** One problem set up for all threads of a run. */
export interface ProblemBuffers {
  readonly problem: Problem;
  readonly memory: RunMemory;
  readonly moments?: MomentsMemory;
  readonly test: TestRows | undefined;
  readonly start?: WarmStart;
}

/** A class, fold or λ to be solved on the layout. */
export interface Subproblem {
  /** The vector of the model. */
  readonly vector: number;
  readonly lambda: number;
  /** Replaces the row weights of the layout. In one process. */
  readonly rowWeights?: Float64Array;
  /** Where to start instead of w = 0; needs `warmStarts`. */
  readonly start?: StartingPoint;
}

/** Partitions the data, reserves memory and copies the data into the grid, on all threads. */
export async function layOutData(training: PreparedTraining): Promise<LaidOutTraining> {
  const { shard, classes, options, settings, vectors, grid: size } = training;
  const { intercept, seed } = settings;
  if (shard.group.size > 1 && shard.dataset.stored) {
    throw new UsageError('training from disk runs in one process: read the data into the ranks');
  }
  checkStartRows(shard, options, vectors);
  const counts = await countShard(shard, intercept);
  const placement = placeRowsAndColumns(counts, size, seed);
  const rows = await localRows(shard, placement, counts, intercept);
  const testRows = training.test && (await localTestRows(training.test, placement, training));
  const { grid, test, storage, arena, workspaces } = reserve(training, rows, testRows);
  try {
    if (rows.dataset.stored) await fillOnDisk(grid, rows.dataset, intercept);
    else await fillGrid(grid, rows.dataset, training);
    if (test && testRows) await fillGrid(test, testRows.dataset, training);
  } catch (error) {
    storage.scratch?.close();
    throw error;
  }
  const targets = targetsOf(rows.dataset, classes);
  const layout: Layout = {
    grid,
    arena,
    centre: await centreOf(training, targets),
    workspaces,
    threads: threadsOfRuns(training, workspaces.length),
    halt: new AbortController(),
    targets,
    rowWeights: rowWeights(rows.dataset),
    totalWeight: shard.totalWeight,
    test: test && testRows && { grid: test, targets: targetsOf(testRows.dataset, classes) },
    columnOrder: placement.columnOrder,
    rowOrder: placement.rowOrder,
    latest: {},
    close: () => storage.scratch?.close(),
  };
  const hash = await training.hash;
  // Rows are scored once more to calibrate.
  if (options.consume && heldOutFolds(options) === 0) await release(training, layout.threads);
  return { ...training, hash, layout };
}

/**
 * The middle of labels that are all far from 0, else 0: with an intercept, a loss of u − y is
 * solved as well for labels less a number, and far more exactly. The least and the largest label
 * are the same however the rows are spread.
 */
async function centreOf(
  { settings: { intercept, loss }, group }: Training,
  targets: Targets,
): Promise<number> {
  if (!intercept || !isOfResidual(loss)) return 0;
  let [low, high] = [Infinity, -Infinity];
  for (const label of targets.of(0)) {
    low = Math.min(low, label);
    high = Math.max(high, label);
  }
  const ends = await gatherValues(group, [low, high]);
  low = Math.min(...ends.map(([least]) => least));
  high = Math.max(...ends.map(([, most]) => most));
  const middle = low + (high - low) / 2;
  return Math.abs(middle) > high - low ? middle : 0;
}

/** Threads of each of N runs at the same time; more than workers would have nothing to do. */
export function threadsOfRuns(
  { plan, options, grid, group }: Pick<Training, 'plan' | 'options' | 'grid' | 'group'>,
  runs: number,
): number {
  // A recorded order is a serial one.
  if (runs > 1 || isReplay(plan)) return 1;
  const [first, end] = workersOfRank(group, grid);
  return Math.max(1, Math.min(threadCount(options.threads), end - first));
}

/** Memory for the data, and for the arrays of as many runs as there is memory for. */
function reserve(training: Training, rows: LocalRows, testRows: LocalRows | undefined) {
  const runBytes = bytesOf((to) =>
    allocateArrays(to, training, rows.partition, testRows?.partition),
  );
  const { loss, penalty } = training.settings;
  const lasting = (to: Arena) => (penalty.l1 > 0 ? allocateMoments(to, rows.partition) : undefined);
  const workspaceBytes = padded(runBytes) + bytesOf(lasting);
  const fitting = Math.max(1, Math.floor(memoryOfLanes() / workspaceBytes));
  const lanes = Math.min(training.lanes, fitting);
  const allocateTestGrid = (to: Arena) => testRows && allocateGrid(to, testRows.partition, 'rows');
  const others = bytesOf(allocateTestGrid) + lanes * workspaceBytes;
  const storage = rows.dataset.stored
    ? storeOnDisk(training, rows, others, threadsOfRuns(training, training.lanes))
    : storeInMemory(training, rows, others);
  const arena = loss.module === undefined ? createArena(storage.bytes) : separateArena;
  if (!arena.memory && loss.module === undefined) {
    training.options.onNotice?.(
      `plain JavaScript kernels, which are slower: ${gibibytes(storage.bytes)} for training are more than the ${gibibytes(wasmLimit())} that WebAssembly reaches here`,
    );
  }
  const grid = storage.allocate(arena);
  const test = allocateTestGrid(arena);
  const workspaces = Array.from({ length: lanes }, (): LaneMemory => {
    const workspace = workspaceIn(arena, runBytes);
    return { workspace, moments: lasting(arena), rowWeights: undefined };
  });
  return { storage, arena, grid, test, workspaces };
}

/** The arrays of one run, without the data. */
function allocateArrays(
  arena: Arena,
  { plan, options, settings, warmStarts }: Training,
  partition: Partition,
  testPartition: Partition | undefined,
) {
  return {
    memory: allocateRun(arena, partition, plan, options.earlyStop !== undefined),
    start: warmStarts ? allocateStart(arena, partition) : undefined,
    problem: allocateProblem(arena, partition, settings.penalty),
    test: testPartition && allocateTest(arena, testPartition, options.auprc ?? false),
  };
}

/** Sets a subproblem up in a workspace, which it takes over from the one before. */
export function setUpProblem(
  training: LaidOutTraining,
  lane: LaneMemory,
  { vector, lambda, rowWeights: weights, start: from }: Subproblem,
): ProblemBuffers {
  const { workspace, moments } = lane;
  workspace.clear();
  if (lane.rowWeights !== weights) moments?.known.fill(0);
  lane.rowWeights = weights;
  const { layout, options, settings } = training;
  const { grid, targets, test, centre } = layout;
  const arrays = allocateArrays(workspace, training, grid.partition, test?.grid.partition);
  const problem = layOutProblem(arrays.problem, grid, targets.of(vector), {
    penalty: settings.penalty,
    lambda,
    factors: options.penaltyFactors,
    intercept: settings.intercept,
    centre,
    rowWeights: weights ?? layout.rowWeights,
    totalWeight: weights ? totalOf(weights) : layout.totalWeight,
  });
  const { memory } = arrays;
  const start = arrays.start && from && layOutStart(arrays.start, from, problem);
  const run = { problem, memory, ...(moments && { moments }), ...(start && { start }) };
  if (!test || !arrays.test) return { ...run, test: undefined };
  const { rowOrder } = test.grid.partition;
  const signs = test.targets.of(vector);
  for (let k = 0; k < rowOrder.length; k++) arrays.test.targets[k] = signs[rowOrder[k]] - centre;
  const { auprc = false, testOn } = options;
  const latest = testOn === 'latest';
  return { ...run, test: { grid: test.grid, memory: arrays.test, auprc, latest } };
}

/** Of the rows outside of a fold, which may all have weight 0. */
export function totalOf(weights: Float64Array): number {
  const total = sum(weights);
  if (total > 0) return total;
  throw new DataError(
    'all rows outside of a fold have weight 0, and nothing is left to train on; expected rows that count in at least two folds',
  );
}

/** Where the non-zeros will be, and the memory that this takes. */
export interface Storage {
  /** Of all arrays of the run. */
  readonly bytes: number;
  readonly allocate: (arena: Arena) => Grid;
  readonly scratch?: ScratchFile;
}

/** The rows of the workers that this process plays, and where they and its columns go. */
export interface LocalRows {
  readonly partition: Partition;
  readonly dataset: Dataset;
}

async function localRows(
  shard: DataShard,
  placement: Placement,
  counts: NonzeroCounts,
  intercept: boolean,
): Promise<LocalRows> {
  const { dataset, rowOrder } = await moveRows(shard, placement, counts.rows, intercept);
  const [first, end] = workersOfRank(shard.group, placement.size);
  return { partition: { ...localPartition(placement, counts, first, end), rowOrder }, dataset };
}

/** Rows to test on keep the order they come in; columns that were not trained on are dropped. */
async function localTestRows(
  test: DataShard,
  placement: Placement,
  { shard: { columns }, settings: { intercept } }: Training,
): Promise<LocalRows> {
  const known = { ...test, columns, dataset: withColumns(test.dataset, columns) };
  const counts = await countShard(known, intercept);
  const { size } = placement;
  const rowBounds = Int32Array.from({ length: size + 1 }, (_, worker) =>
    Math.floor((worker * test.rows) / size),
  );
  const rowOrder = Int32Array.from({ length: test.rows }, (_, row) => row);
  const workerNonzeros = Float64Array.from({ length: size }, (_, worker) =>
    sum(counts.rows.subarray(rowBounds[worker], rowBounds[worker + 1])),
  );
  const inOrder = { ...placement, rowBounds, rowOrder, workerNonzeros };
  return localRows(known, inOrder, counts, intercept);
}

/** Copies the data into the grid: every thread some workers, or some rows of the only worker. */
async function fillGrid(
  grid: Grid,
  { parts, columns }: Dataset,
  { options, settings: { intercept }, ...training }: Training,
): Promise<void> {
  const threads = threadCount(options.threads);
  const rows = grid.partition.rowOrder.length;
  const byRows = canFillByRows(grid);
  if (byRows) offsetsFromCounts(grid);
  const count = byRows ? threads : Math.min(threads, grid.size);
  const bound = (index: number) => Math.floor((index * rows) / count);
  const { first, end } = grid.partition;
  const workers = Array.from({ length: end - first }, (_, k) => first + k);
  await runTogether(poolOf(training, count), 'fill', count, (index): FillPayload => {
    const share = byRows
      ? { rows: [bound(index), bound(index + 1)] as const }
      : { workers: workers.filter((worker) => worker % count === index) };
    return { grid, dataset: { parts, columns }, intercept, share };
  });
}

/** Adds up the memory of a run; warns when it is a large part of the machine's, refuses all of it. */
function storeInMemory(
  { plan, options }: Training,
  { dataset, partition }: LocalRows,
  others: number,
): Storage {
  checkWorkers(partition);
  const allocate = (arena: Arena) => allocateGrid(arena, partition, entryOf(plan).orientation);
  const bytes = bytesOf(allocate) + others;
  const peak = bytes + 8 * dataset.nonzeros;
  const machine = machineMemory();
  if (bytes > machine) {
    throw new UsageError(
      `${plan.name} on a grid of ${partition.size} needs ${gibibytes(bytes)}; this machine has ` +
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

/** From this number of non-zeros on, freed memory is worth the few milliseconds of a collection. */
const worthCollecting = 4e6;

/** Drops the data set's own arrays, here and in every thread: the grid holds the data now. */
async function release(training: Training, threads: number): Promise<void> {
  const { dataset, shard } = training;
  for (const { parts } of [dataset, shard.dataset]) (parts as DatasetPart[]).length = 0;
  if (dataset.nonzeros < worthCollecting) return;
  const pool = poolOf(training, threads);
  collectGarbage();
  await pool.runAll('collect-garbage', pool.threads, () => undefined);
}

import { type Dataset, isWeighted } from '../data/dataset.ts';
import { type Arena, Budget, collectGarbage, wasmLimit } from '../engine/arena.ts';
import {
  allocateDiskCells,
  comfortableWindow,
  nonzeroBytes,
  openScratch,
  windowBuffer,
} from '../engine/disk/disk-cells.ts';
import { layOutOnDisk } from '../engine/disk/shuffle.ts';
import type { Grid } from '../engine/grid.ts';
import { limitText, machineMemory, mebibytes, programBytes } from '../engine/memory.ts';
import { cutSegments, type Partition, type Segments } from '../engine/partition.ts';
import { threadCount } from '../engine/thread-pool.ts';
import { UsageError } from '../errors.ts';
import { sum } from '../math/vectors.ts';
import { entryOf, type SolverPlan } from '../solvers/registry.ts';
import type { LocalRows, Storage } from './layout.ts';
import type { Training } from './prepare.ts';

/** The share of the machine's memory that is used where no limit was given. */
const defaultShare = 0.75;

/**
 * Bytes outside the arrays of the run. Of a row: label, target, offset and position while it is laid
 * out, its order and count, and its weight, twice, if it has one; of a column: order, position,
 * count and block, and its weight in the model and on its way there.
 */
const outside = { row: 32, weight: 16, column: 48 };
/** For the gaps that an arena leaves between two arrays. */
const edge = 2 ** 16;
/** For a section of the data, and other buffers. */
const buffers = 12e6;

/** The memory that an allocation takes. */
export function bytesOf(allocate: (arena: Arena) => unknown): number {
  const budget = new Budget();
  allocate(budget);
  return budget.bytes;
}

/** Refuses what needs all of the data in memory, and says what does not. */
export function checkOutOfCore(plan: SolverPlan, size: number): void {
  if (plan.next) checkOutOfCore(plan.next.plan, size);
  const { readsFromDisk, inMemoryOnly } = entryOf(plan);
  const advice =
    'give it more --memory, or choose one that reads it from disk: --solver auto with --memory, ring --mode rows, dso, lbfgs or bmrm';
  if (!readsFromDisk) {
    throw new UsageError(`${plan.name} needs all of the data in memory: ${advice}`);
  }
  const found = inMemoryOnly?.(plan.settings, size);
  if (!found) return;
  const [setting, remedy] = found;
  throw new UsageError(
    `${setting} needs all of the data in memory: ${remedy}, or give it more --memory`,
  );
}

/** Leaves the non-zeros on disk and divides what memory there is among `threads` that train. */
export function storeOnDisk(
  training: Training,
  rows: LocalRows,
  others: number,
  threads: number,
): Storage {
  const { plan, options } = training;
  const { partition, dataset } = rows;
  checkOutOfCore(plan, partition.size);
  const segments = cutSegments(partition);
  const bytesWith = (shares: readonly number[]) =>
    bytesOf((arena) => allocateOnDisk(arena, partition, segments, shares, -1)) + others;
  const first = (thread: number) => Math.floor((thread * partition.size) / threads);
  const windows = Array.from({ length: threads }, (_, thread) =>
    comfortableWindow(partition, segments, first(thread), first(thread + 1)),
  );
  const shares = shareWindow(training, rows, windows, bytesWith([0]));
  const bytes = nonzeroBytes * sum(partition.workerNonzeros);
  const scratch = openScratch(bytes, options.scratch, dataset.stored?.folder);
  const window = shares[shares.length - 1];
  options.onNotice?.(
    `training from disk: ${mebibytes(bytes)} in a scratch file in ${scratch.folder}, of which ${mebibytes(window)} are in memory at a time`,
  );
  return {
    bytes: bytesWith(shares),
    allocate: (arena) => allocateOnDisk(arena, partition, segments, shares, scratch.file),
    scratch,
  };
}

/** Bytes of the window of each thread, added up from 0: what the limit leaves. */
function shareWindow(
  { options }: Training,
  { partition, dataset }: LocalRows,
  windows: readonly number[],
  fixed: number,
): number[] {
  const { size, rowOrder, columnOrder, workerNonzeros } = partition;
  const { memory } = options;
  const threads = windows.length;
  const least = windows.reduce((total, bytes) => total + bytes, 0);
  const resident =
    programBytes(threadCount(options.threads)) +
    buffers +
    fixed +
    (outside.row + (isWeighted(dataset) ? outside.weight : 0)) * rowOrder.length +
    outside.column * columnOrder.length;
  const limit = memory ?? defaultShare * machineMemory();
  if (limit < resident + least) {
    const chosen = memory === undefined ? 'this machine allows' : 'the memory limit is';
    throw new UsageError(
      `${chosen} ${limitText(limit)}; to train from disk on a grid of ${size} with ${threads} thread${threads === 1 ? '' : 's'}, ${rowOrder.length} rows and ${columnOrder.length} columns take ${mebibytes(resident)} and a window on the non-zeros at least ${mebibytes(least)}: ${mebibytes(resident + least)} in all`,
    );
  }
  // More than all of the data, and the gaps between its chunks, is of no use.
  const most = 1.1 * (nonzeroBytes * sum(workerNonzeros)) + least;
  const together = wasmLimit();
  const reach = fixed + least < together ? together - fixed - edge : Infinity;
  const available = Math.min(limit - resident, most, reach);
  const sums = [0];
  for (const bytes of windows) {
    sums.push(sums[sums.length - 1] + windowBuffer((available * bytes) / Math.max(1, least)));
  }
  return sums;
}

/** Reserves the memory of a grid whose non-zeros are in a file. */
function allocateOnDisk(
  arena: Arena,
  partition: Partition,
  segments: Segments,
  shares: readonly number[],
  file: number,
): Grid {
  const disk = { ...allocateDiskCells(arena, partition, segments, shares), file };
  return { size: partition.size, orientation: 'rows', partition, cells: [], segments, disk };
}

/** Writes the non-zeros of a data set to the file of the grid. */
export async function fillOnDisk(
  { partition, segments, disk }: Grid,
  dataset: Dataset,
  intercept: boolean,
): Promise<void> {
  if (!disk || !dataset.stored) return;
  const ones = intercept ? dataset.columns : -1;
  const task = { partition, segments, stored: disk, ones, memory: disk.window };
  // What led to the partition is not needed any more; the memory for the run is not touched yet.
  collectGarbage();
  await layOutOnDisk(task, dataset.stored.scan());
  collectGarbage();
}

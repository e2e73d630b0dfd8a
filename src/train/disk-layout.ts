import type { Dataset } from '../data/dataset.ts';
import { type Arena, collectGarbage, wasmLimit } from '../engine/arena.ts';
import {
  allocateDiskCells,
  comfortableWindow,
  nonzeroBytes,
  windowBuffer,
} from '../engine/disk/disk-cells.ts';
import { layOutOnDisk } from '../engine/disk/shuffle.ts';
import type { Grid } from '../engine/grid.ts';
import { machineMemory, mebibytes, programBytes } from '../engine/memory.ts';
import type { Partition, Segments } from '../engine/partition.ts';
import { UsageError } from '../errors.ts';
import { entryOf, type SolverPlan } from '../solvers/registry.ts';

/** The share of the machine's memory that is used where no limit was given. */
const defaultShare = 0.75;

/**
 * Bytes beside the arrays of the run. Of a row: label, target, offset and position while it is laid
 * out, its order and count, and its weight, twice, if it has one; of a column: order, position,
 * count and block, and its weight in the model and on its way there.
 */
const besides = { row: 32, weight: 16, column: 48 };
/** For the gaps that an arena leaves between two arrays. */
const edge = 2 ** 16;
/** For a section of the data, and other buffers. */
const buffers = 12e6;

/** Refuses what needs all of the data in memory, and says what does not. */
export function checkOutOfCore(plan: SolverPlan, size: number): void {
  const { readsFromDisk, inMemoryOnly } = entryOf(plan);
  const advice =
    'give it more --memory, or choose --solver ring --mode rows, dso, lbfgs or bmrm, which read it from disk';
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

/** What limits the memory of a run. */
interface MemoryUse {
  /** Bytes of the arrays. */
  readonly fixed: number;
  readonly weighted: boolean;
  readonly memory: number | undefined;
  /** Threads that train, and threads that there are. */
  readonly threads: number;
  readonly poolThreads: number;
}

/** Bytes of the window of each thread, added up from 0: what the limit leaves beside all the rest. */
export function shareWindow(
  partition: Partition,
  segments: Segments,
  { fixed, weighted, memory, threads, poolThreads }: MemoryUse,
): number[] {
  const { size, rowOrder, columnOrder, workerNonzeros } = partition;
  const first = (thread: number) => Math.floor((thread * size) / threads);
  const wanted = Array.from({ length: threads }, (_, thread) =>
    comfortableWindow(partition, segments, first(thread), first(thread + 1)),
  );
  const least = wanted.reduce((sum, bytes) => sum + bytes, 0);
  const resident =
    programBytes(poolThreads) +
    buffers +
    fixed +
    (besides.row + (weighted ? besides.weight : 0)) * rowOrder.length +
    besides.column * columnOrder.length;
  const limit = memory ?? defaultShare * machineMemory();
  if (limit < resident + least) {
    const chosen = memory === undefined ? 'this machine allows' : 'memory is';
    throw new UsageError(
      `${chosen} ${mebibytes(limit)}; to train from disk on a grid of ${size} with ${threads} thread${threads === 1 ? '' : 's'}, ${rowOrder.length} rows and ${columnOrder.length} columns take ${mebibytes(resident)} and a window on the non-zeros at least ${mebibytes(least)}: ${mebibytes(resident + least)} in all`,
    );
  }
  const all = nonzeroBytes * workerNonzeros.reduce((sum, count) => sum + count, 0);
  // More than all of the data, and the gaps between its chunks, is of no use.
  const most = 1.1 * all + least;
  const reach = fixed + least < wasmLimit ? wasmLimit - fixed - edge : Infinity;
  const available = Math.min(limit - resident, most, reach);
  return addUp(wanted.map((bytes) => (available * bytes) / Math.max(1, least)));
}

function addUp(shares: readonly number[]): number[] {
  const sums = [0];
  for (const bytes of shares) sums.push(sums[sums.length - 1] + windowBuffer(bytes));
  return sums;
}

/** Reserves the memory of a grid whose non-zeros are in a file. */
export function allocateOnDisk(
  arena: Arena,
  partition: Partition,
  segments: Segments,
  shares: readonly number[],
  file: number,
): Grid {
  const disk = { ...allocateDiskCells(arena, partition, segments, shares), file };
  return {
    size: partition.size,
    orientation: 'rows',
    partition,
    cells: [],
    segments,
    disk,
  };
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

import type { Dataset } from '../data/dataset.ts';
import { type Arena, wasmLimit } from '../engine/arena.ts';
import { roomFor } from '../engine/disk/disk-cells.ts';
import type { Grid } from '../engine/grid.ts';
import { machineMemory, mebibytes, programBytes } from '../engine/memory.ts';
import type { Partition } from '../engine/partition.ts';
import { UsageError } from '../errors.ts';
import { collectGarbage } from '../parallel/collect-garbage.ts';
import type { Segments } from '../parallel/segments.ts';
import { allocateStored, comfortableWindow, entryBytes } from '../parallel/stored-cells.ts';
import type { Plan } from '../solvers/engines.ts';
import { fewRotations, mindsOwnChanges } from '../solvers/ring/local-updates.ts';
import type { TrainOptions } from './options/options.ts';
import { layOutOnDisk } from './stream-shuffle.ts';

/** Solvers that reach entries row by row, segment after segment. */
const streaming: readonly Plan['engine'][] = ['ring-rows', 'dso', 'dso-async', 'lbfgs', 'bmrm'];

/** The share of the machine that is used where no limit was given. */
const usualShare = 0.75;

/**
 * Bytes beside the arrays of the run. Of a row: label, target, offset and place while it is laid
 * out, and its order and count, and its weight, twice, if it has one; of a column: order, place, count and block, and its weight in the
 * model and on its way there.
 */
const besides = { row: 32, weight: 16, column: 48 };
/** Room for what an arena leaves between two arrays. */
const edge = 2 ** 16;
/** For a section of the data, and the odd buffer. */
const buffers = 12e6;

/** Refuses what needs all of the data in memory, and says what does not. */
export function checkStreaming({ engine, settings }: Plan, size: number): void {
  const advice =
    'give it more --memory, or choose --solver ring --mode rows, dso, lbfgs or bmrm, which read it from disk';
  if (!streaming.includes(engine)) {
    throw new UsageError(`${engine} needs all of the data in memory: ${advice}`);
  }
  if (engine === 'dso' && settings.initialize > 0) {
    throw new UsageError(
      `--initialize ${settings.initialize} needs all of the data in memory: leave it out, or ${advice}`,
    );
  }
  if (engine === 'ring-rows' && mindsOwnChanges(settings.rotations, size)) {
    throw new UsageError(
      `--rotations ${settings.rotations} on a grid of ${size} needs all of the data in memory: ask for more than ${fewRotations} rotations, or give it more --memory`,
    );
  }
}

/**
 * Bytes of the window of each thread, added up from 0: what the limit leaves beside everything else,
 * of which the arrays take `fixed`.
 */
export function shareWindow(
  fixed: number,
  partition: Partition,
  segments: Segments,
  weighted: boolean,
  { memory }: TrainOptions,
  threads: number,
  poolThreads: number,
): number[] {
  const { size, rowOrder, columnOrder, workerEntries } = partition;
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
  const limit = memory ?? usualShare * machineMemory();
  if (limit < resident + least) {
    const chosen = memory === undefined ? 'this machine allows' : 'memory is';
    throw new UsageError(
      `${chosen} ${mebibytes(limit)}; to train from disk on a grid of ${size} with ${threads} thread${threads === 1 ? '' : 's'}, ${rowOrder.length} rows and ${columnOrder.length} columns take ${mebibytes(resident)} and a window on the entries at least ${mebibytes(least)}: ${mebibytes(resident + least)} in all`,
    );
  }
  const all = entryBytes * workerEntries.reduce((sum, entries) => sum + entries, 0);
  // More than all of the data, and the edges of its chunks, is of no use.
  const most = 1.1 * all + least;
  const reach = fixed + least < wasmLimit ? wasmLimit - fixed - edge : Infinity;
  const room = Math.min(limit - resident, most, reach);
  return addUp(wanted.map((bytes) => (room * bytes) / Math.max(1, least)));
}

function addUp(shares: readonly number[]): number[] {
  const sums = [0];
  for (const bytes of shares) sums.push(sums[sums.length - 1] + roomFor(bytes));
  return sums;
}

/** Reserves the memory of a grid whose entries are in a file. */
export function allocateStreamed(
  arena: Arena,
  partition: Partition,
  segments: Segments,
  shares: readonly number[],
  file: number,
): Grid {
  const stored = { ...allocateStored(arena, partition, segments, shares), file };
  return { size: partition.size, orientation: 'rows', partition, cells: [], segments, stored };
}

/** Brings the entries of a data set into the file of the grid. */
export async function fillStreamed(
  { partition, segments, stored }: Grid,
  dataset: Dataset,
  intercept: boolean,
): Promise<void> {
  if (!stored || !dataset.stored) return;
  const ones = intercept ? dataset.columns : -1;
  const task = { partition, segments, stored, ones, memory: stored.window };
  // What led to the partition is not needed any more; the memory for the run is not touched yet.
  collectGarbage();
  await layOutOnDisk(task, dataset.stored.scan());
  collectGarbage();
}

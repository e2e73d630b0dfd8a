/** What threads do, by name: apart from fit.ts and layout.ts, so that they load nothing else of them. */
import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { hashShard, type RowHashes } from '../data/fingerprint.ts';
import { parseTasks } from '../data/read/tasks.ts';
import { collectGarbage } from '../engine/arena.ts';
import { fillRows, fillWorker, type Grid } from '../engine/grid.ts';
import type { Pause, Task } from '../engine/thread.ts';
import type { NormalPayload } from '../solvers/normal/run.ts';
import { type RunPayload, runThread } from '../solvers/run.ts';

export interface FillPayload {
  readonly grid: Grid;
  readonly dataset: Pick<Dataset, 'parts' | 'columns'>;
  readonly intercept: boolean;
  /** The workers to lay out, or with a single one the range of its rows. */
  readonly share:
    | { readonly workers: readonly number[] }
    | { readonly rows: readonly [number, number] };
}

/** Lays out some of the rows; the grid's memory is shared, so nothing is sent back. */
export function fill({ grid, dataset, intercept, share }: FillPayload): void {
  if ('rows' in share) fillRows(grid, dataset, intercept, share.rows);
  else for (const worker of share.workers) fillWorker(grid, dataset, intercept, worker);
}

export interface HashPayload {
  readonly part: DatasetPart;
  /** Which of all rows is the part's first. */
  readonly row: number;
}

export function hash({ part, row }: HashPayload): RowHashes {
  return hashShard({ parts: [part] }, row);
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Threads of a run wait for one another. When several runs train at the same time, every thread
 * must take them in the order they were given out, however long one takes to load its loss.
 */
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const result = last.then(run);
  last = result.catch(() => {});
  return result;
}

export const threadTasks: Readonly<Record<string, Task>> = {
  ...(parseTasks as Record<string, Task>),
  fill,
  hash,
  'collect-garbage': () => collectGarbage(),
  normal: (payload: NormalPayload) =>
    inTurn(async () => (await import('../solvers/normal/run.ts')).runNormal(payload)),
  solve: (payload: RunPayload, emit, pause?: Pause) =>
    inTurn(() => runThread(payload, emit, pause)),
};

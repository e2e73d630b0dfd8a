/** What threads do before training: apart from fit.ts, so that they load nothing else of it. */
import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { hashShard, type RowHashes } from '../data/fingerprint.ts';
import { fillRows, fillWorker, type Grid } from '../engine/grid.ts';

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

import type { Dataset } from '../data/dataset.ts';
import { fillWorker, type Grid } from '../parallel/grid.ts';

export interface FillPayload {
  readonly grid: Grid;
  readonly dataset: Pick<Dataset, 'parts' | 'columns'>;
  readonly intercept: boolean;
  readonly workers: readonly number[];
}

/** Lays out the rows of some workers; the grid's memory is shared, so nothing is sent back. */
export function fillWorkers({ grid, dataset, intercept, workers }: FillPayload): void {
  for (const worker of workers) fillWorker(grid, dataset, intercept, worker);
}

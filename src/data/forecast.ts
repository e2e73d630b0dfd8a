export interface ForecastShape {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** Workers of the p × p grid. */
  readonly grid: number;
}

/** A float32 value and an int32 index. */
const bytesPerNonzero = 8;
/** The data as read, and its copy in the order of the grid. */
const copies = 2;
/** Label, row offset, target, margin, dual variables and what the solver remembers of a row. */
const bytesPerRow = 64;
/** Weights, their previous and averaged values, accumulators, counts and the reindexing. */
const bytesPerColumn = 64;
/** A row is cut into one segment per column block; each has its offset. */
const bytesPerSegment = 4;

/**
 * Resident bytes at the peak of a training run, reached while the grid is filled:
 * 2 · 8 |Ω| + (64 + 4 p) m + 64 d. Afterwards one copy of the data can go.
 */
export function forecastBytes({ rows, columns, nonzeros, grid }: ForecastShape): number {
  return (
    copies * bytesPerNonzero * nonzeros +
    (bytesPerRow + bytesPerSegment * grid) * rows +
    bytesPerColumn * columns
  );
}

import type { FieldValue } from '../fields/table-rows.ts';

/** A list is several categories or a vector; a map is named numbers. */
export type TableValue = FieldValue | readonly FieldValue[] | ReadonlyMap<string, FieldValue>;

/** What a column of a table holds; dates and times are numbers. */
export type ColumnKind = 'number' | 'text' | 'texts' | 'numbers' | 'map';

export interface TableColumn {
  readonly name: string;
  /** Undefined if no feature can be made of it. */
  readonly kind?: ColumnKind;
  /** As the source calls it, for messages. */
  readonly type: string;
}

/** Rows that follow those before, by column of those that were asked for. */
export interface TableBatch {
  readonly rows: number;
  readonly columns: readonly ArrayLike<TableValue>[];
}

/** A table that knows the types of its columns and is read from its first row to its last. */
export interface Table {
  /** What messages call it. */
  readonly title: string;
  readonly columns: readonly TableColumn[];
  /** All rows of the columns with these places, in memory for some of the rows. */
  batches(places: readonly number[]): AsyncIterable<TableBatch>;
}

/** Dates and times become days since 1970-01-01 UTC, which float32 holds better than seconds. */
export const secondsPerDay = 86_400;

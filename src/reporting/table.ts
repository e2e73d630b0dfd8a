/** Tables for terminals. */
import type { Colours } from './format.ts';

export type Row = readonly string[];

const between = 2;

export interface TableOptions {
  /** Columns aligned to the left; default: the first. Numbers are read best aligned to the right. */
  readonly left?: (column: number) => boolean;
}

/**
 * Lines of cells in columns of equal width. A row with fewer cells than the first one ends with a
 * text that runs across the remaining columns.
 */
export function tableLines(
  rows: readonly Row[],
  { left = (column) => column === 0 }: TableOptions = {},
): string[] {
  const columns = rows[0]?.length ?? 0;
  const spans = (row: Row, column: number) => row.length < columns && column === row.length - 1;
  const widths = Array.from({ length: columns }, (_, column) =>
    rows.reduce(
      (most, row) => (spans(row, column) ? most : Math.max(most, row[column]?.length ?? 0)),
      0,
    ),
  );
  const padded = (row: Row) => (cell: string, column: number) => {
    if (spans(row, column)) return cell;
    return left(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
  };
  return rows.map((row) => row.map(padded(row)).join(' '.repeat(between)).trimEnd());
}

/** Lines of two columns, both aligned to the left. */
export function twoColumns(rows: readonly Row[]): string {
  return tableLines(rows, { left: () => true }).join('\n');
}

/** The first column aligned to the left, the others to the right. */
export function numberTable(rows: readonly Row[]): string {
  return tableLines(rows).join('\n');
}

export interface HeadedTable extends TableOptions {
  readonly head: Row;
  readonly rows: readonly Row[];
  /** Printed in bold. */
  readonly isChosen?: (row: number) => boolean;
  readonly colours: Pick<Colours, 'bold' | 'dim'>;
}

/** A dim head, then the rows. */
export function headedTable({ head, rows, isChosen, colours, ...options }: HeadedTable): string {
  const [first, ...lines] = tableLines([head, ...rows], options);
  const styled = lines.map((line, row) => (isChosen?.(row) ? colours.bold(line) : line));
  return [colours.dim(first), ...styled].join('\n');
}

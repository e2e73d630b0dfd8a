/** Tables for terminals. */
import type { Colours } from './format.ts';

export type Row = readonly string[];

/** A label and its value; a line without a value is left out. */
export type LabelledLine = readonly [label: string, value: string | undefined];

const between = '  ';

interface TableOptions {
  /** Columns aligned to the left; default: the first. Numbers are aligned to the right. */
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
  const lengths = (row: Row, column: number) => (spans(row, column) ? 0 : row[column]?.length) ?? 0;
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => lengths(row, column))),
  );
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      if (spans(row, column)) return cell;
      return left(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]);
    });
    return cells.join(between).trimEnd();
  });
}

/** Lines of two columns, both aligned to the left. */
export function twoColumns(lines: readonly LabelledLine[]): string {
  const rows = lines.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]]));
  return tableLines(rows, { left: () => true }).join('\n');
}

/** The first column aligned to the left, the others to the right. */
export function numberTable(rows: readonly Row[]): string {
  return tableLines(rows).join('\n');
}

interface HeadedTable extends TableOptions {
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

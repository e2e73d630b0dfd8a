/** Tables for terminals. */
import type { Colours } from './format.ts';

export type Row = readonly string[];

/** A label and its value; a line without a value is left out. */
export type LabelledLine = readonly [label: string, value: string | undefined];

const between = '  ';

/** Whether a column is aligned to the left, as text is, and not to the right, as numbers are. */
type AlignedLeft = (column: number) => boolean;
const isFirst: AlignedLeft = (column) => column === 0;

/** Cells in aligned columns; the last cell of a row that is too short spans the remaining columns. */
export function tableLines(rows: readonly Row[], left: AlignedLeft = isFirst): string[] {
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

export function twoColumns(lines: readonly LabelledLine[]): string {
  const rows = lines.flatMap(([label, value]) => (value === undefined ? [] : [[label, value]]));
  return tableLines(rows, () => true).join('\n');
}

export function numberTable(rows: readonly Row[]): string {
  return tableLines(rows).join('\n');
}

interface HeadedTable {
  readonly head: Row;
  readonly rows: readonly Row[];
  readonly left?: AlignedLeft;
  /** Printed in bold. */
  readonly isChosen?: (row: number) => boolean;
  readonly colours: Pick<Colours, 'bold' | 'dim'>;
}

/** A dim head, then the rows. */
export function headedTable({ head, rows, left, isChosen, colours }: HeadedTable): string {
  const [first, ...lines] = tableLines([head, ...rows], left);
  const styled = lines.map((line, row) => (isChosen?.(row) ? colours.bold(line) : line));
  return [colours.dim(first), ...styled].join('\n');
}

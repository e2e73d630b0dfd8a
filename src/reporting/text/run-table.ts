import {
  type Colours,
  formatCount,
  formatGapUp,
  formatIfKnown,
  formatNumber,
  formatSeconds,
  formatWhen,
  lineText,
} from '../format.ts';
import { dataName, runSeconds, shortIdAmong, solverName, statusText } from '../records/labels.ts';
import type { RunSummary } from '../records/record.ts';
import { tableLines } from '../table.ts';

/** In their order. Priority 0 is always shown, 1 before 2, and so on, as far as there is room. */
const columns = {
  id: { priority: 0 },
  when: { priority: 8 },
  name: { priority: 2 },
  data: { priority: 0 },
  solver: { priority: 1 },
  problem: { priority: 3 },
  lambda: { priority: 6, numeric: true },
  epochs: { priority: 7, numeric: true },
  objective: { priority: 4, numeric: true },
  gap: { priority: 0, numeric: true },
  time: { priority: 5, numeric: true },
  ended: { priority: 0 },
} as const satisfies Record<string, { priority: number; numeric?: boolean }>;

type Column = keyof typeof columns;
type Row = Readonly<Record<Column, string>>;

const names = Object.keys(columns) as Column[];
const head = Object.fromEntries(names.map((name) => [name, name])) as Row;

/** Characters of the names of runs and data. */
const widestName = 24;
const widestData = 32;
const narrowestData = 14;
const between = 2;

interface RunTableOptions {
  /** Of the terminal; Infinity where the output is not a terminal. */
  readonly width: number;
  readonly colours: Colours;
  readonly now: Date;
  /** Among which a short id must be unique; default: those of the table. */
  readonly ids?: readonly string[];
}

/** A line for every run, no wider than the terminal; where that is narrow, by the end of its id. */
export function runTable(runs: readonly RunSummary[], options: RunTableOptions): string[] {
  const { width, colours, now } = options;
  const ids = options.ids ?? runs.map(({ id }) => id);
  const whole = runs.map((run) => rowOf(run, now));
  const short = whole.map((row) => ({ ...row, id: shortIdAmong(ids, row.id) }));
  const rows = widthOf([head, ...whole]) <= width ? whole : short;
  const { shown, dataWidth } = layOut([head, ...rows], width);
  const cells = (row: Row): string[] =>
    shown.map((column) => (column === 'data' ? lastPart(row.data, dataWidth) : row[column]));
  const left = (column: number) => !('numeric' in columns[shown[column]]);
  const [first, ...lines] = tableLines([head, ...rows].map(cells), left).map((line) =>
    line.slice(0, width),
  );
  return [
    colours.dim(first),
    ...lines.map((line, index) => {
      const { ended } = rows[index];
      return line.endsWith(ended)
        ? line.slice(0, -ended.length) + colourOf(runs[index], colours)(ended)
        : line;
    }),
  ];
}

function rowOf(run: RunSummary, now: Date): Row {
  const { start, begin, latest, result, report } = run;
  const epochs = report ? undefined : (result?.epochs ?? latest?.epoch);
  const gap = result?.relativeGap ?? latest?.relativeGap ?? Infinity;
  const name = lineText(start.name ?? '');
  return {
    id: run.id,
    when: formatWhen(start.started, now),
    name: name.length <= widestName ? name : `${name.slice(0, widestName - 1)}…`,
    data: lineText(dataName(run)),
    solver: lineText(solverName(run)),
    problem: lineText(`${start.loss}, ${start.penalty}`),
    lambda: formatNumber(begin?.lambda ?? result?.lambda ?? Number.NaN),
    epochs: formatIfKnown(epochs, formatCount) ?? '–',
    objective: formatNumber(result?.primal ?? latest?.primal ?? report?.loss ?? Number.NaN),
    // Rounded up: a certificate must not claim more than was proven.
    gap: Number.isFinite(gap) ? formatGapUp(gap) : '–',
    time: formatIfKnown(runSeconds(run), formatSeconds) ?? '–',
    ended: statusText(run),
  };
}

/** Columns in which there is something to read. */
function filled(rows: readonly Row[]): Column[] {
  return names.filter((column) => rows.some((row) => row !== head && row[column] !== ''));
}

function naturalWidth(rows: readonly Row[], column: Column): number {
  const width = Math.max(...rows.map((row) => row[column].length));
  return column === 'data' ? Math.min(widestData, width) : width;
}

/** Of all columns side by side. */
function widthOf(rows: readonly Row[]): number {
  return filled(rows).reduce((sum, name) => sum + naturalWidth(rows, name) + between, -between);
}

/** The columns there is room for, and the width of the data's name, which takes what is left. */
function layOut(rows: readonly Row[], width: number): { shown: Column[]; dataWidth: number } {
  const data = naturalWidth(rows, 'data');
  const leastData = Math.min(data, narrowestData);
  const size = (column: Column): number =>
    between + (column === 'data' ? leastData : naturalWidth(rows, column));
  const present = new Set(filled(rows));
  const chosen = new Set<Column>();
  let room = width + between;
  for (const column of names.toSorted((a, b) => columns[a].priority - columns[b].priority)) {
    const isOptional = columns[column].priority > 0;
    if (isOptional && (size(column) > room || !present.has(column))) continue;
    chosen.add(column);
    room -= size(column);
  }
  return {
    shown: names.filter((column) => chosen.has(column)),
    dataWidth: Math.max(1, Math.min(data, leastData + room)),
  };
}

/** The end of a file name says more than its beginning. */
function lastPart(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - width + 1)}`;
}

/** Others are limits, or a request to stop. */
const goodEnds: ReadonlySet<string> = new Set(['converged', 'early-stop', 'stream']);

function colourOf({ status, result }: RunSummary, colours: Colours): (text: string) => string {
  if (status === 'running') return colours.cyan;
  if (status !== 'done') return colours.red;
  return goodEnds.has(result?.stopped ?? '') ? colours.green : colours.yellow;
}

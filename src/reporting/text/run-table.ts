import {
  type Colours,
  formatCount,
  formatGapUp,
  formatNumber,
  formatSeconds,
  formatWhen,
  lineText,
} from '../format.ts';
import { dataName, runSeconds, shortId, solverName, statusText } from '../records/labels.ts';
import type { RunSummary } from '../records/record.ts';
import { tableLines } from '../table.ts';

const columns = [
  'id',
  'when',
  'name',
  'data',
  'solver',
  'problem',
  'lambda',
  'epochs',
  'objective',
  'gap',
  'time',
  'ended',
] as const;

type Column = (typeof columns)[number];
type Row = Readonly<Record<Column, string>>;

/** What there is always, and what there is besides where there is room, the first first. */
const essential: readonly Column[] = ['id', 'data', 'gap', 'ended'];
const additional: readonly Column[] = [
  'solver',
  'name',
  'problem',
  'objective',
  'time',
  'lambda',
  'epochs',
  'when',
];
const numeric: ReadonlySet<Column> = new Set(['lambda', 'epochs', 'objective', 'gap', 'time']);
/** Characters of the names of runs and data. */
const widestName = 24;
const widestData = 32;
const narrowestData = 14;
const between = 2;

export interface RunTableOptions {
  /** Of the terminal; Infinity where nobody looks at one. */
  readonly width: number;
  readonly colours: Colours;
  readonly now: Date;
  /** Of all runs that a short id has to be told from; default: those of the table. */
  readonly ids?: readonly string[];
}

const head = Object.fromEntries(columns.map((name) => [name, name])) as Row;

/** A line for every run, no wider than the terminal; where that is narrow, by the end of its id. */
export function runTable(runs: readonly RunSummary[], options: RunTableOptions): string[] {
  const { width, colours, now } = options;
  const ids = options.ids ?? runs.map(({ id }) => id);
  const whole = runs.map((run) => rowOf(run, now));
  const short = whole.map((row) => ({ ...row, id: shortIdAmong(ids, row.id) }));
  const rows = widthOf([head, ...whole]) <= width ? whole : short;
  const { chosen, dataWidth } = layOut([head, ...rows], width);
  const cells = (row: Row): string[] =>
    chosen.map((column) => (column === 'data' ? shorten(row.data, dataWidth) : row[column]));
  const left = (column: number) => !numeric.has(chosen[column]);
  const lines = tableLines([head, ...rows].map(cells), { left }).map((line) =>
    line.slice(0, width),
  );
  return [
    colours.dim(lines[0]),
    ...runs.map((run, index) => {
      const text = lines[index + 1];
      const { ended } = rows[index];
      return text.endsWith(ended)
        ? text.slice(0, -ended.length) + paint(run, colours)(ended)
        : text;
    }),
  ];
}

function rowOf(run: RunSummary, now: Date): Row {
  const { start, begin, latest, result, report } = run;
  const seconds = runSeconds(run);
  const lambda = begin?.lambda ?? result?.lambda;
  const epochs = result?.epochs ?? latest?.epoch;
  return {
    id: run.id,
    when: formatWhen(start.started, now),
    name: beginningOf(lineText(start.name ?? ''), widestName),
    data: lineText(dataName(run)),
    solver: lineText(solverName(run)),
    problem: lineText(`${start.loss}, ${start.penalty}`),
    lambda: formatNumber(lambda ?? Number.NaN),
    epochs: epochs === undefined || report ? '–' : formatCount(epochs),
    objective: formatNumber(result?.primal ?? latest?.primal ?? report?.loss ?? Number.NaN),
    gap: gapText(result?.relativeGap ?? latest?.relativeGap),
    time: seconds === undefined ? '–' : formatSeconds(seconds),
    ended: statusText(run),
  };
}

/** A certificate must not claim more than was proven. */
function gapText(gap: number | null | undefined): string {
  return gap == null || !Number.isFinite(gap) ? '–' : formatGapUp(gap);
}

/** 3f9c, which commands understand, unless another run ends so too. */
function shortIdAmong(ids: readonly string[], id: string): string {
  return ids.filter((other) => shortId(other) === shortId(id)).length > 1 ? id : shortId(id);
}

/** Columns in which there is something to read. */
function filled(rows: readonly Row[]): Column[] {
  return columns.filter((column) => rows.some((row) => row !== head && row[column] !== ''));
}

function naturalWidth(rows: readonly Row[], column: Column): number {
  const width = Math.max(...rows.map((row) => row[column].length));
  return column === 'data' ? Math.min(widestData, width) : width;
}

/** Of all columns side by side. */
function widthOf(rows: readonly Row[]): number {
  return filled(rows).reduce((sum, name) => sum + naturalWidth(rows, name) + between, -between);
}

/** The columns there is room for, and their widths; the data's name takes what is left. */
function layOut(
  rows: readonly Row[],
  width: number,
): { chosen: readonly Column[]; dataWidth: number } {
  const natural = (column: Column): number => naturalWidth(rows, column);
  const data = natural('data');
  const size = (column: Column): number =>
    between + (column === 'data' ? Math.min(data, narrowestData) : natural(column));
  let room = width + between - essential.reduce((sum, column) => sum + size(column), 0);
  const wanted = new Set(essential);
  const there = filled(rows);
  for (const column of additional) {
    if (size(column) > room || !there.includes(column)) continue;
    wanted.add(column);
    room -= size(column);
  }
  const chosen = columns.filter((column) => wanted.has(column));
  const dataWidth = Math.max(1, Math.min(data, Math.min(data, narrowestData) + room));
  return { chosen, dataWidth };
}

function beginningOf(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** The end of a file name says more than its beginning. */
function shorten(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - width + 1)}`;
}

/** The ends that were wanted; others are limits, or somebody's wish. */
const goodEnds: ReadonlySet<string> = new Set(['converged', 'early-stop', 'stream']);

function paint(run: RunSummary, colours: Colours): (text: string) => string {
  if (run.status === 'running') return colours.cyan;
  if (run.status !== 'done') return colours.red;
  const { stopped = '' } = run.result ?? {};
  return goodEnds.has(stopped) ? colours.green : colours.yellow;
}

import type { RunSummary } from '../runs/record.ts';
import { lineText } from './label-text.ts';
import { describeEnd, describeWhen, runSeconds } from './run-words.ts';
import type { Colours } from './terminal.ts';
import { formatCount, formatGap, formatNumber, formatSeconds } from './text.ts';

const columns = [
  'id',
  'when',
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
  'when',
  'problem',
  'solver',
  'objective',
  'time',
  'lambda',
  'epochs',
];
const numeric: ReadonlySet<Column> = new Set(['lambda', 'epochs', 'objective', 'gap', 'time']);
/** Characters of the data's name, which may be the path of a deep folder. */
const widestData = 32;
const narrowestData = 12;
const between = 2;

export interface RunTableOptions {
  /** Of the terminal; Infinity where nobody looks at one. */
  readonly width: number;
  readonly colours: Colours;
  readonly now: Date;
}

/** A line for every run, no wider than the terminal. */
export function runTable(runs: readonly RunSummary[], options: RunTableOptions): string[] {
  const { width, colours, now } = options;
  const head = Object.fromEntries(columns.map((name) => [name, name])) as Row;
  const rows = runs.map((run) => rowOf(run, now));
  const { chosen, widths } = layOut([head, ...rows], width);
  const line = (row: Row): string[] =>
    chosen.map((column, place) => {
      if (numeric.has(column)) return row[column].padStart(widths[place]);
      const text = column === 'data' ? shorten(row.data, widths[place]) : row[column];
      return place === chosen.length - 1 ? text : text.padEnd(widths[place]);
    });
  const join = (cells: string[]): string => cells.join(' '.repeat(between)).slice(0, width);
  return [
    colours.dim(join(line(head))),
    ...runs.map((run, index) => {
      const text = join(line(rows[index]));
      const { ended } = rows[index];
      const whole = text.endsWith(ended);
      return whole ? text.slice(0, -ended.length) + paint(run, colours)(ended) : text;
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
    when: describeWhen(start.started, now),
    data: lineText(start.data),
    solver: lineText(begin?.solver ?? result?.solver ?? '–'),
    problem: lineText(`${start.loss}, ${start.penalty}`),
    lambda: formatNumber(lambda ?? Number.NaN),
    epochs: epochs === undefined || report ? '–' : formatCount(epochs),
    objective: formatNumber(result?.primal ?? latest?.primal ?? report?.loss ?? Number.NaN),
    gap: formatGap(result?.relativeGap ?? latest?.relativeGap ?? Number.NaN),
    time: seconds === undefined ? '–' : formatSeconds(seconds),
    ended: describeEnd(run),
  };
}

/** The columns there is room for, and their widths; the data's name takes what is left. */
function layOut(
  rows: readonly Row[],
  width: number,
): { chosen: readonly Column[]; widths: number[] } {
  const natural = (column: Column): number => Math.max(...rows.map((row) => row[column].length));
  const data = Math.min(widestData, natural('data'));
  const size = (column: Column): number =>
    between + (column === 'data' ? Math.min(data, narrowestData) : natural(column));
  let room = width + between - essential.reduce((sum, column) => sum + size(column), 0);
  const wanted = new Set(essential);
  for (const column of additional) {
    if (size(column) > room) continue;
    wanted.add(column);
    room -= size(column);
  }
  const chosen = columns.filter((column) => wanted.has(column));
  const left = Math.max(1, Math.min(data, Math.min(data, narrowestData) + room));
  return { chosen, widths: chosen.map((name) => (name === 'data' ? left : natural(name))) };
}

/** The end of a path says more than its beginning. */
function shorten(text: string, width: number): string {
  return text.length <= width ? text : `…${text.slice(text.length - width + 1)}`;
}

function paint(run: RunSummary, colours: Colours): (text: string) => string {
  if (run.status === 'running') return colours.cyan;
  if (run.status !== 'done') return colours.red;
  const { stopped } = run.result ?? {};
  return stopped === 'converged' || stopped === 'early-stop' ? colours.green : colours.yellow;
}

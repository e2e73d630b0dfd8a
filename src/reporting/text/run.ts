import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TrainReport } from '../../train/options/options.ts';
import { type TextPoint, textChart } from '../charts/text.ts';
import {
  type Colours,
  formatBytes,
  formatClock,
  formatCount,
  formatNumber,
  formatPercent,
  formatSeconds,
  formatWhen,
  lineText,
  plural,
} from '../format.ts';
import { commandLine, solverName, statusText } from '../records/labels.ts';
import type { RunDetail, RunSummary, SampleLine } from '../records/record.ts';
import { twoColumns } from '../table.ts';
import { describeEffort } from './effort.ts';
import { describeMetrics } from './metrics.ts';
import { runCharts } from './run-charts.ts';
import { describeCertificate } from './summary.ts';

export interface RunTextOptions {
  readonly width: number;
  readonly colours: Colours;
  readonly ascii: boolean;
  readonly now: Date;
  /** Of the records. */
  readonly folder: string;
  readonly over?: 'time' | 'epochs' | undefined;
}

type Row = [name: string, value: string];

/** Lines for the charts, all of them one below the other. */
const chartLines = 48;
const reportLines = 12;
const mostThreads = 16;
const mostFeatures = 10;
const fewClasses = 2;

/** Everything about a run, for people. */
export function runText(detail: RunDetail, options: RunTextOptions): string {
  const { summary, samples } = detail;
  const { bold } = options.colours;
  const { test, classes } = summary.result ?? {};
  const sample = samples.at(-1);
  const tested = test ? `${bold('test data')}\n${describeMetrics(test, classes)}` : '';
  // Many classes make a table that would push everything else off the screen.
  const isLong = (classes?.length ?? 0) > fewClasses;
  const blocks = [
    `${bold(`run ${summary.id}`)}: ${describeState(summary, options.now)}`,
    twoColumns([
      ...askedRows(summary),
      ...problemRows(summary),
      ...outcomeRows(detail),
      ...effortRows(summary, sample),
      ...placeRows(summary, options.folder),
    ]),
    isLong ? '' : tested,
    sample ? threadTable(sample, bold) : '',
    sample ? featureList(sample, bold) : '',
    notes(detail, bold),
    chartText(detail, options),
    isLong ? tested : '',
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function describeState(summary: RunSummary, now: Date): string {
  const { start } = summary;
  const when = formatWhen(start.started, now);
  const clock = formatClock(new Date(start.started));
  return `${statusText(summary)}, started ${when === clock ? when : `${when} (${clock})`}`;
}

function askedRows(summary: RunSummary): Row[] {
  const { start } = summary;
  const limits = [
    `tolerance ${formatNumber(start.tolerance)}`,
    ...(start.epochs === undefined ? [] : [`at most ${plural(start.epochs, 'epoch')}`]),
    ...(start.time === undefined ? [] : [`at most ${formatSeconds(start.time)}`]),
  ];
  const typed: Row = ['command', commandLine(summary, 'dso')];
  const named: Row[] = start.name === undefined ? [] : [['name', lineText(start.name)]];
  // A stream is learned from as long as it lasts.
  const goal: Row[] = summary.report ? [] : [['goal', limits.join(', ')]];
  return [...named, typed, ...goal];
}

function problemRows(summary: RunSummary): Row[] {
  const { start, begin, result } = summary;
  const { rows, columns, nonzeros, lambda } = begin ?? result ?? {};
  const size =
    rows === undefined || columns === undefined
      ? ''
      : `: ${plural(rows, 'row')} × ${plural(columns, 'column')}` +
        (nonzeros === undefined ? '' : `, ${formatCount(nonzeros)} non-zeros`);
  const weight = lambda === undefined ? '' : `, lambda ${formatNumber(lambda)}`;
  const list: Row[] = [
    ['data', `${lineText(start.data)}${size}`],
    ['problem', lineText(`${start.loss} loss, ${start.penalty} penalty${weight}`)],
  ];
  const solver = lineText(solverName(summary));
  if (!begin) return [...list, ['solver', solver]];
  const { grid, threads, ranks, vectors, imbalance } = begin;
  const each = plural(threads, 'thread');
  const crew = ranks === undefined ? each : `${plural(ranks, 'rank')} of ${each}`;
  list.push(['solver', `${solver} on ${crew}, grid of ${grid} × ${grid}`]);
  if (vectors > 1) list.push(['vectors', `${formatCount(vectors)} of weights, one for each class`]);
  if (grid > 1) {
    list.push([
      'imbalance',
      `the fullest is over its fair share by ${formatPercent(imbalance.rows)} of rows, ` +
        `${formatPercent(imbalance.columns)} of columns, ${formatPercent(imbalance.nonzeros)} of non-zeros`,
    ]);
  }
  return list;
}

function outcomeRows({ summary, vector, epochs }: RunDetail): Row[] {
  const { begin, latest, report, result, failure } = summary;
  const list: Row[] = [];
  if (failure) list.push(['failure', lineText(failure.message)]);
  if (report) {
    const { rows, loss, recentLoss, error, recentError } = report;
    list.push(
      ['stream', plural(rows, 'row')],
      ['mean loss', `${numberText(loss)}, lately ${numberText(recentLoss)}`],
      ['error', `${numberText(error)}, lately ${numberText(recentError)}`],
    );
    return list;
  }
  const { primal, dual, relativeGap } = result?.primal === undefined ? (latest ?? {}) : result;
  const count = result?.epochs ?? latest?.epoch;
  if (count === undefined || primal === undefined) return list;
  const several = (begin?.vectors ?? 1) > 1;
  const passes = (result?.passes ?? latest?.passes ?? 0).toFixed(1);
  list.push(
    ['epochs', `${formatCount(count)} (${passes} passes over the data)`],
    ['objective', `${numberText(primal)}, lower bound ${numberText(dual)}`],
    ['certificate', describeCertificate(relativeGap ?? Infinity)],
  );
  if (several) {
    list.push(['curves', `class ${vector + 1} of ${begin!.vectors}, ${plural(epochs, 'epoch')}`]);
  }
  return list;
}

function numberText(value: number | null | undefined): string {
  return formatNumber(value ?? Number.NaN);
}

function effortRows({ result }: RunSummary, sample: SampleLine | undefined): Row[] {
  const list: Row[] = [];
  if (result?.seconds) {
    const { read, partition, train, total } = result.seconds;
    const parts = [
      `read ${formatSeconds(read)}`,
      `lay out ${formatSeconds(partition)}`,
      `train ${formatSeconds(train)}`,
    ];
    list.push(['time', `${formatSeconds(total)}: ${parts.join(', ')}`]);
  }
  const effort = result?.effort && describeEffort(result as TrainReport);
  if (effort) list.push(['effort', effort]);
  if (sample) list.push(['memory', formatBytes(sample.memory)]);
  return list;
}

function placeRows({ start, result, status }: RunSummary, folder: string): Row[] {
  const model = result?.model ?? start.model;
  return [
    ['model', `${lineText(model)}${describeFile(model, folder, status === 'running')}`],
    ['by', `dso ${lineText(start.version)}, process ${start.pid} on ${lineText(start.host)}`],
  ];
}

/** Paths are as they were given where the run was started: usually here, else above the records. */
function describeFile(path: string, folder: string, running: boolean): string {
  if (path === '-') return ' (standard output)';
  for (const place of ['', resolve(folder, '..', '..')]) {
    const size = sizeOf(resolve(place, path));
    if (size !== undefined) return ` (${formatBytes(size)})`;
  }
  return running ? ' (not yet written)' : ' (not there)';
}

/** undefined where there is no file, or no file could have such a name. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}

function threadTable({ threads }: SampleLine, bold: (text: string) => string): string {
  if (threads.length < 2) return '';
  const share = (part: number, all: number) => (all > 0 ? formatPercent(part / all) : '–');
  const rows = threads.slice(0, mostThreads).map((thread): Row => {
    const all = thread.computing + thread.waiting;
    const sent = thread.bytes > 0 ? `, sent ${formatBytes(thread.bytes)}` : '';
    return [
      `from worker ${thread.first}`,
      `computed ${share(thread.computing, all)}, waited ${share(thread.waiting, all)}${sent}`,
    ];
  });
  const more = threads.length - rows.length;
  const rest = more > 0 ? `\nand ${formatCount(more)} more` : '';
  return `${bold('threads')}\n${twoColumns(rows)}${rest}`;
}

function featureList({ features }: SampleLine, bold: (text: string) => string): string {
  if (features.length === 0) return '';
  const rows = features
    .slice(0, mostFeatures)
    .map(({ name, weight }): Row => [lineText(name), formatNumber(weight)]);
  return `${bold('largest weights')}\n${twoColumns(rows)}`;
}

function notes({ notices }: RunDetail, bold: (text: string) => string): string {
  if (notices.length === 0) return '';
  return `${bold('notes')}\n${notices.map((notice) => lineText(notice)).join('\n')}`;
}

function chartText(detail: RunDetail, options: RunTextOptions): string {
  const { summary, series, reports } = detail;
  const { width, colours, ascii, over } = options;
  const { task, tolerance } = summary.start;
  const { vectors = 1 } = summary.begin ?? {};
  if (series.epoch.length > 0) {
    const vector = vectors > 1 ? { index: detail.vector, count: vectors } : undefined;
    const space = { width, height: chartLines, colours, ascii };
    return runCharts(series, { ...space, task, tolerance, vector, over: over ?? 'time' }).join(
      '\n',
    );
  }
  const points = (key: 'loss' | 'recentLoss') =>
    reports.map((report): TextPoint => [report.rows, report[key]]);
  return textChart({
    series: [
      { name: 'all rows', points: points('loss') },
      { name: 'lately', points: points('recentLoss') },
    ],
    x: { label: 'rows', zero: 'near' },
    y: { label: 'mean loss' },
    width,
    height: reportLines,
    colours,
    ascii,
  }).join('\n');
}

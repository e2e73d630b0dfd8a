import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Task } from '../../problem/losses/loss.ts';
import type { TrainReport } from '../../train/options/options.ts';
import { type Axis, type Range, visibleRange } from '../charts/axis.ts';
import { axisLabel, type Quantity, quantityOf, shownFactor } from '../charts/quantities.ts';
import { type TextPoint, textChart } from '../charts/text.ts';
import {
  type Colours,
  dataSize,
  formatBytes,
  formatClock,
  formatCount,
  formatIfKnown,
  formatNumber,
  formatPercent,
  formatSeconds,
  formatWhen,
  lineText,
  plural,
} from '../format.ts';
import { commandLine, leastBound, solverName, statusText } from '../records/labels.ts';
import type { RunDetail, RunSeries, RunSummary, SampleLine } from '../records/record.ts';
import { type LabelledLine, twoColumns } from '../table.ts';
import { describeMetrics } from './metrics.ts';
import { describeCertificate, describeEffort, describeThreads, describeZeros } from './summary.ts';

/** How charts are drawn: characters that there is room for, colours, horizontal axis. */
interface ChartStyle {
  readonly width: number;
  readonly colours: Colours;
  readonly ascii: boolean;
  /** Default: time. */
  readonly over?: 'time' | 'epochs' | undefined;
}

interface RunTextOptions extends ChartStyle {
  readonly now: Date;
  /** Of the records. */
  readonly folder: string;
}

/** Lines for the charts, all of them one below the other. */
const chartLines = 48;
const reportLines = 12;
const mostThreads = 16;
const mostFeatures = 10;
const fewClasses = 2;

/** Everything about a run, for people. */
export function runText(detail: RunDetail, options: RunTextOptions): string {
  const { summary, samples, notices } = detail;
  const { bold } = options.colours;
  const { test, classes } = summary.result ?? {};
  const sample = samples.at(-1);
  const section = (title: string, text = '') => text && `${bold(title)}\n${text}`;
  const tested = section('test data', test && describeMetrics(test, classes));
  // Many classes make a table that would push everything else off the screen.
  const isLong = (classes?.length ?? 0) > fewClasses;
  const blocks = [
    `${bold(`run ${summary.id}`)}: ${describeState(summary, options.now)}`,
    twoColumns([
      ...requestLines(summary),
      ...problemLines(summary),
      ...outcomeLines(detail),
      ...effortLines(summary, sample),
      ...originLines(summary, options.folder),
    ]),
    isLong ? '' : tested,
    section('threads', sample && threadTable(sample)),
    section('largest weights', sample && featureList(sample)),
    section('notes', notices.map(lineText).join('\n')),
    chartText(detail, options),
    isLong ? tested : '',
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function describeState(summary: RunSummary, now: Date): string {
  const { started } = summary.start;
  const when = formatWhen(started, now);
  const clock = formatClock(new Date(started));
  return `${statusText(summary)}, started ${when === clock ? when : `${when} (${clock})`}`;
}

function requestLines(summary: RunSummary): LabelledLine[] {
  const { start, report } = summary;
  const limits = [
    `tolerance ${formatNumber(start.tolerance)}`,
    formatIfKnown(start.epochs, (count) => `at most ${plural(count, 'epoch')}`),
    formatIfKnown(start.time, (seconds) => `at most ${formatSeconds(seconds)}`),
  ];
  return [
    ['name', formatIfKnown(start.name, lineText)],
    ['command', commandLine(summary, 'dso')],
    // A stream has no goal: training lasts as long as it does.
    ['goal', report ? undefined : limits.filter(Boolean).join(', ')],
  ];
}

function problemLines(summary: RunSummary): LabelledLine[] {
  const { start, begin, result } = summary;
  const { rows, columns, nonzeros, lambda } = begin ?? result ?? {};
  const isSized = rows !== undefined && columns !== undefined;
  const size = isSized ? `: ${dataSize(rows, columns, nonzeros)}` : '';
  const weight = lambda === undefined ? '' : `, lambda ${formatNumber(lambda)}`;
  const { grid = 1, vectors = 1, imbalance } = begin ?? {};
  const solver = lineText(solverName(summary));
  const share = (part: 'rows' | 'columns' | 'nonzeros') => formatPercent(imbalance![part]);
  return [
    ['data', `${lineText(start.data)}${size}`],
    ['problem', lineText(`${start.loss} loss, ${start.penalty} penalty${weight}`)],
    [
      'solver',
      begin ? `${solver} on ${describeThreads(begin)}, grid of ${grid} × ${grid}` : solver,
    ],
    ['vectors', vectors > 1 ? `${formatCount(vectors)} of weights, one for each class` : undefined],
    [
      'imbalance',
      grid > 1
        ? `the fullest is over its fair share by ${share('rows')} of rows, ` +
          `${share('columns')} of columns, ${share('nonzeros')} of non-zeros`
        : undefined,
    ],
  ];
}

function outcomeLines({ summary, vector, epochs }: RunDetail): LabelledLine[] {
  const { start, begin, latest, report, result, failure } = summary;
  const failed: LabelledLine = ['failure', formatIfKnown(failure?.message, lineText)];
  if (report) {
    const { rows, loss, recentLoss, error, recentError } = report;
    return [
      failed,
      ['stream', plural(rows, 'row')],
      ['mean loss', `${numberText(loss)}, lately ${numberText(recentLoss)}`],
      ['error', `${numberText(error)}, lately ${numberText(recentError)}`],
    ];
  }
  const { primal, dual, relativeGap } = result?.primal === undefined ? (latest ?? {}) : result;
  const count = result?.epochs ?? latest?.epoch;
  if (count === undefined || primal === undefined) return [failed];
  const { vectors = 1 } = begin ?? {};
  const passes = (result?.passes ?? latest?.passes ?? 0).toFixed(1);
  const proof = {
    relativeGap: relativeGap ?? Infinity,
    ...(primal !== null && { primal }),
    ...(dual !== null && dual !== undefined && { dual }),
    ...(result?.stopped && { stopped: result.stopped }),
  };
  const least = leastBound(start);
  const bound = typeof dual === 'number' ? Math.max(dual, least) : dual;
  const weights = vectors * (begin?.columns ?? result?.columns ?? 0);
  const curves = `class ${vector + 1} of ${vectors}, ${plural(epochs, 'epoch')}`;
  return [
    failed,
    ['epochs', `${formatCount(count)} (${passes} passes over the data)`],
    ['objective', `${numberText(primal)}, lower bound ${numberText(bound)}`],
    ['certificate', describeCertificate(proof, least)],
    ['zeros', result?.provedZeros === undefined ? undefined : describeZeros(result, weights)],
    ['curves', vectors > 1 ? curves : undefined],
  ];
}

function numberText(value: number | null | undefined): string {
  return formatNumber(value ?? Number.NaN);
}

function effortLines({ result }: RunSummary, sample: SampleLine | undefined): LabelledLine[] {
  const time = formatIfKnown(result?.seconds, ({ read, partition, train, total }) => {
    const [all, ...parts] = [total, read, partition, train].map(formatSeconds);
    return `${all}: read ${parts[0]}, lay out ${parts[1]}, train ${parts[2]}`;
  });
  return [
    ['time', time],
    ['effort', result?.effort && describeEffort(result as TrainReport)],
    ['memory', formatIfKnown(sample?.memory, formatBytes)],
  ];
}

function originLines({ start, result, status }: RunSummary, folder: string): LabelledLine[] {
  const model = result?.model ?? start.model;
  return [
    ['model', `${lineText(model)} (${describeFile(model, folder, status === 'running')})`],
    ['by', `dso ${lineText(start.version)}, process ${start.pid} on ${lineText(start.host)}`],
  ];
}

/** Paths are as they were given where the run was started: usually here, else above the records. */
function describeFile(path: string, folder: string, running: boolean): string {
  if (path === '-') return 'standard output';
  for (const parent of ['', resolve(folder, '..', '..')]) {
    try {
      return formatBytes(statSync(resolve(parent, path)).size);
    } catch {
      // There is no such file, or no file could have such a name.
    }
  }
  return running ? 'not yet written' : 'not there';
}

function threadTable({ threads }: SampleLine): string {
  if (threads.length < 2) return '';
  const lines = threads.slice(0, mostThreads).map((thread): LabelledLine => {
    const all = thread.computing + thread.waiting;
    const share = (part: number) => (all > 0 ? formatPercent(part / all) : '–');
    const sent = thread.bytes > 0 ? `, sent ${formatBytes(thread.bytes)}` : '';
    return [
      `from worker ${thread.first}`,
      `computed ${share(thread.computing)}, waited ${share(thread.waiting)}${sent}`,
    ];
  });
  const more = threads.length - lines.length;
  return `${twoColumns(lines)}${more > 0 ? `\nand ${formatCount(more)} more` : ''}`;
}

function featureList({ features }: SampleLine): string {
  return twoColumns(
    features
      .slice(0, mostFeatures)
      .map(({ name, weight }) => [lineText(name), formatNumber(weight)]),
  );
}

function chartText(detail: RunDetail, { width, colours, ascii, over }: RunTextOptions): string {
  const { summary, series, reports } = detail;
  const style = { width, colours, ascii, over };
  const { task, tolerance } = summary.start;
  const { vectors = 1 } = summary.begin ?? {};
  if (series.epoch.length > 0) {
    const vector = vectors > 1 ? { index: detail.vector, count: vectors } : undefined;
    return runCharts(series, { ...style, height: chartLines, task, tolerance, vector }).join('\n');
  }
  const points = (key: 'loss' | 'recentLoss') =>
    reports.map((report): TextPoint => [report.rows, report[key]]);
  return textChart({
    ...style,
    series: [
      { name: 'all rows', points: points('loss') },
      { name: 'lately', points: points('recentLoss') },
    ],
    x: { label: 'rows', zero: 'near' },
    y: { label: 'mean loss' },
    height: reportLines,
  }).join('\n');
}

type Curves = Omit<RunSeries, 'passes' | 'bytes'>;
type Values = readonly (number | null)[];

interface RunChartsOptions extends ChartStyle {
  /** Lines that there is room for. */
  readonly height: number;
  readonly task: Task;
  /** The relative gap to reach. */
  readonly tolerance: number;
  /** Which of several vectors this is, from 0. */
  readonly vector?: { readonly index: number; readonly count: number } | undefined;
}

/** From this width on charts are side by side, each with at least `narrowest` columns. */
const sideBySideWidth = 120;
const narrowest = 38;
const between = 2;
/** Lines of a chart. */
const highest = 12;
const lowest = 9;

/** Gap, objective and bound, test error: as many of them as there is room for, at least the first. */
export function runCharts(curves: Curves, options: RunChartsOptions): string[] {
  const { width, height, colours, ascii, over } = options;
  const plots = plotsOf(curves, options);
  const fitting = Math.floor((width + between) / (narrowest + between));
  const perBand = width >= sideBySideWidth ? Math.min(plots.length, fitting) : 1;
  const bands = Math.min(
    Math.ceil(plots.length / perBand),
    Math.max(1, Math.floor(height / lowest)),
  );
  const size = {
    width: Math.floor((width - (perBand - 1) * between) / perBand),
    height: Math.min(highest, Math.floor(height / bands)),
  };
  const x = { label: 'epochs', zero: 'near', time: over !== 'epochs' } as const;
  const charts = plots.map((plot) => textChart({ ...plot, ...size, x, colours, ascii }));
  return Array.from({ length: bands }, (_, band) =>
    sideBySide(charts.slice(band * perBand, (band + 1) * perBand), size.width + between),
  ).flat();
}

/** A tolerance this many times below the smallest gap is not drawn. */
const farthest = 1e6;

const plotted = (['gap', 'objective', 'testError', 'testAuprc'] as const).map(quantityOf);

function plotsOf(curves: Curves, options: RunChartsOptions) {
  const tolerance = visibleTolerance(curves.relativeGap, options.tolerance);
  const x = options.over === 'epochs' ? curves.epoch : curves.seconds;
  const valuesOf = (column: string): Values | undefined => curves[column as keyof Curves];
  return plotted
    .filter(({ columns }) => valuesOf(columns[0]) !== undefined)
    .map((quantity) => {
      const factor = shownFactor(quantity, options.task);
      const pointOf = (y: number | null, index: number): TextPoint => [x[index], y && factor * y];
      const label = `tolerance ${formatNumber(tolerance)}`;
      return {
        series: quantity.columns.map((column, index) => ({
          name: index === 0 ? quantity.noun : 'lower bound',
          points: (valuesOf(column) ?? []).map(pointOf),
        })),
        y: yAxis(quantity, curves, options, tolerance),
        rules: quantity.key === 'gap' && tolerance > 0 ? [{ y: tolerance, label }] : [],
      };
    });
}

function yAxis(
  quantity: Quantity,
  { relativeGap, primal, dual }: Curves,
  { task, vector }: RunChartsOptions,
  tolerance: number,
): Axis {
  switch (quantity.key) {
    case 'gap': {
      const part = vector ? `, class ${vector.index + 1} of ${vector.count}` : '';
      const focus = provenRange(relativeGap, tolerance);
      return { label: `${quantity.noun}${part}`, log: true, focus };
    }
    case 'objective':
      return { label: quantity.noun, focus: visibleRange([primal], [dual], false) };
    default:
      return { label: axisLabel(quantity, task, vector?.index) };
  }
}

/** A tolerance that is far from being reached would leave no room for the curve: 0 then. */
function visibleTolerance(gaps: Values, tolerance: number): number {
  const least = gaps.reduce<number>((low, gap) => (gap ? Math.min(low, gap) : low), Infinity);
  return tolerance * farthest < least ? 0 : tolerance;
}

/** A gap of 1 or more proves nothing: the chart ends there once there is less. */
function provenRange(gaps: Values, tolerance: number): Range | undefined {
  const proven = visibleRange([gaps.filter((gap) => gap !== null && gap < 1)], [], true);
  if (!proven) return undefined;
  const low = tolerance > 0 ? Math.min(tolerance, proven[0]) : proven[0];
  const unproven = gaps.some((gap) => gap !== null && gap >= 1);
  return low < proven[1] ? [low, unproven ? 1 : proven[1]] : undefined;
}

function sideBySide(charts: readonly (readonly string[])[], pitch: number): string[] {
  const lines = Math.max(...charts.map((chart) => chart.length));
  return Array.from({ length: lines }, (_, index) => {
    let text = '';
    for (const [position, chart] of charts.entries()) {
      const missing = position * pitch - stripVTControlCharacters(text).length;
      if (chart[index] !== undefined) text += ' '.repeat(Math.max(0, missing)) + chart[index];
    }
    return text;
  });
}

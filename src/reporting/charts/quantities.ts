/** What can be drawn of a run, and over what: one list for figures, terminal and page. */
import type { Task } from '../../problem/losses/loss.ts';
import type { ReportLine, RunDetail, RunSeries } from '../records/record.ts';

export type Point = readonly [x: number, y: number];
type Value = number | null;
type ReportColumn = 'recentLoss' | 'recentError';

/** The curves of a run: of epochs, or of the reports of a stream, which have time alone. */
export type ChartSeries = RunSeries & { readonly [name in ReportColumn]?: readonly Value[] };

export type Column =
  | ReportColumn
  | keyof Pick<RunSeries, 'primal' | 'dual' | 'relativeGap' | 'testError' | 'testAuprc'>;

export const axes = [
  { key: 'seconds', title: 'time', label: 'seconds of training' },
  { key: 'epoch', title: 'epochs', label: 'epochs' },
  { key: 'passes', title: 'passes', label: 'passes over the data' },
] as const;
export type FigureAxis = (typeof axes)[number]['key'];

interface Entry {
  /** Of a chart. */
  readonly title: string;
  /** Its name in a sentence or a table. */
  readonly noun: string;
  /** Of the y axis. */
  readonly label: string;
  /** Of an error: the label in regression, where it is a mean square and not a rate. */
  readonly regression?: string;
  /** The second column, if any, is a lower bound on the first. */
  readonly columns: readonly Column[];
  /** Whether the y axis is logarithmic unless chosen otherwise. */
  readonly log: boolean;
  /** Which value is the best, where the last need not be. */
  readonly best?: 'least' | 'most';
}

function entry(title: string, noun: string, label: string, columns: readonly Column[] = []): Entry {
  return { title, noun, label, columns, log: false };
}

const table = {
  objective: entry('Objective and bound', 'objective', 'objective P(w)', ['primal', 'dual']),
  gap: { ...entry('Relative gap', 'relative gap', '(P − D) / P', ['relativeGap']), log: true },
  testError: {
    ...entry('Test error', 'test error', 'test error (%)', ['testError']),
    regression: 'test mean squared error',
    best: 'least',
  },
  testAuprc: { ...entry('Test AUPRC', 'test AUPRC', 'test AUPRC', ['testAuprc']), best: 'most' },
  progressiveLoss: entry(
    'Progressive loss',
    'loss on recent rows',
    'loss on recent rows, before they were learned',
    ['recentLoss'],
  ),
  progressiveError: {
    ...entry('Progressive error', 'error on recent rows', 'error on recent rows (%)', [
      'recentError',
    ]),
    regression: 'mean squared error on recent rows',
  },
  updates: entry('Throughput', 'updates per second', 'million updates per second'),
  memory: entry('Memory', 'memory', 'memory of all processes (MiB)'),
} satisfies Record<string, Entry>;

export type FigureQuantity = keyof typeof table;
/** Those that the page shows charts of. */
export type QuantityKey = Exclude<FigureQuantity, 'updates' | 'memory'>;

export interface Quantity<Key extends FigureQuantity = FigureQuantity> extends Entry {
  readonly key: Key;
}

export const figureQuantities = Object.keys(table) as FigureQuantity[];

export function quantityOf<Key extends FigureQuantity>(key: Key): Quantity<Key> {
  return { key, ...table[key] };
}

export type ChartQuantity = Quantity<QuantityKey>;
export const quantities: readonly ChartQuantity[] = figureQuantities
  .filter((key): key is QuantityKey => key !== 'updates' && key !== 'memory')
  .map(quantityOf);

/** The label of the y axis; `vector` is the class, from 0, whose error or AUPRC is shown. */
export function axisLabel({ label, regression, best }: Quantity, task: Task, vector?: number) {
  const text = task === 'regression' ? (regression ?? label) : label;
  return vector === undefined || !best ? text : `${text}, class ${vector + 1} against the rest`;
}

/** Error rates are shown as percentages. */
export function shownFactor({ regression }: Quantity, task: Task): number {
  return regression !== undefined && task === 'classification' ? 100 : 1;
}

const noEpochs = { epoch: [], passes: [], primal: [], dual: [], relativeGap: [] };

export function reportSeries(reports: readonly ReportLine[]): ChartSeries {
  return {
    ...noEpochs,
    seconds: reports.map(({ seconds }) => seconds),
    recentLoss: reports.map(({ recentLoss }) => recentLoss),
    recentError: reports.map(({ recentError }) => recentError),
  };
}

export interface Curve {
  /** Whether it is below the values of interest and rises to them. */
  readonly isBound: boolean;
  readonly points: readonly Point[];
}

/** The curves of a run, in the units of the axis. */
export function curvesOf(quantity: Quantity, run: RunDetail, x: FigureAxis): Curve[] {
  const { key, columns } = quantity;
  if (key === 'memory') return [{ isBound: false, points: memoryPoints(run, x) }];
  const isStream = key.startsWith('progressive');
  const series: ChartSeries = isStream ? reportSeries(run.reports) : run.series;
  const factor = shownFactor(quantity, run.summary.start.task);
  const values = key === 'updates' ? [throughput(run)] : columns.map((name) => series[name] ?? []);
  return values.map((column, line) => ({
    isBound: line > 0,
    points: column.flatMap((value, index): Point[] =>
      value == null ? [] : [[series[isStream ? 'seconds' : x][index], factor * value]],
    ),
  }));
}

/** Millions of non-zeros per second, between one shown epoch and the next. */
function throughput({ series, summary }: RunDetail): (number | undefined)[] {
  const { passes, seconds } = series;
  const nonzeros = summary.begin?.nonzeros;
  return passes.map((pass, index) => {
    const time = seconds[index] - (seconds[index - 1] ?? 0);
    const work = pass - (passes[index - 1] ?? 0);
    return nonzeros === undefined || !(time > 0) ? undefined : (work * nonzeros) / time / 1e6;
  });
}

const mebibyte = 2 ** 20;

/** Samples have an epoch and a second; the passes are those of the epoch. */
function memoryPoints({ series, samples, vector }: RunDetail, x: FigureAxis): Point[] {
  return samples.flatMap((sample): Point[] => {
    if ((sample.vector ?? 0) !== vector) return [];
    const after = series.epoch.findIndex((epoch) => epoch >= sample.epoch);
    const position = x === 'passes' ? series.passes.at(after) : sample[x];
    return position === undefined ? [] : [[position, sample.memory / mebibyte]];
  });
}

/** A figure to draw, apart from the runs in it. */
export interface FigureSpec {
  readonly y: FigureQuantity;
  readonly x: FigureAxis;
  readonly scale?: 'linear' | 'log';
  readonly xscale?: 'linear' | 'log';
  /** The part of the x axis to show. */
  readonly from?: number;
  readonly to?: number;
}

/** What can be drawn of a run, and over what: one list for figures, terminal and page. */
import type { ReportLine, RunDetail, RunSeries } from '../records/record.ts';

export type Task = 'classification' | 'regression';
export type Point = readonly [x: number, y: number];
type Value = number | null;
type ReportColumn = 'recentLoss' | 'recentError';

/** The curves of a run: of epochs, or of the reports of a stream, which have time alone. */
export type ChartSeries = RunSeries & { readonly [name in ReportColumn]?: readonly Value[] };

export type Column =
  | ReportColumn
  | keyof Pick<RunSeries, 'primal' | 'dual' | 'relativeGap' | 'testError' | 'testAuprc'>;

export type FigureAxis = 'seconds' | 'epoch' | 'passes';

export const axes: readonly {
  readonly key: FigureAxis;
  readonly title: string;
  readonly label: string;
}[] = [
  { key: 'seconds', title: 'time', label: 'seconds of training' },
  { key: 'epoch', title: 'epochs', label: 'epochs' },
  { key: 'passes', title: 'passes', label: 'passes over the data' },
];

export interface Quantity<Key extends FigureQuantity = FigureQuantity> {
  readonly key: Key;
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

export type FigureQuantity = QuantityKey | 'updates' | 'memory';
export type QuantityKey = (typeof keys)[number];
const keys = [
  'objective',
  'gap',
  'testError',
  'testAuprc',
  'progressiveLoss',
  'progressiveError',
] as const;

const table: Readonly<Record<FigureQuantity, Omit<Quantity, 'key'>>> = {
  objective: {
    title: 'Objective and bound',
    noun: 'objective',
    label: 'objective P(w)',
    columns: ['primal', 'dual'],
    log: false,
  },
  gap: {
    title: 'Relative gap',
    noun: 'relative gap',
    label: '(P − D) / P',
    columns: ['relativeGap'],
    log: true,
  },
  testError: {
    title: 'Test error',
    noun: 'test error',
    label: 'test error (%)',
    regression: 'test mean squared error',
    columns: ['testError'],
    log: false,
    best: 'least',
  },
  testAuprc: {
    title: 'Test AUPRC',
    noun: 'test AUPRC',
    label: 'test AUPRC',
    columns: ['testAuprc'],
    log: false,
    best: 'most',
  },
  progressiveLoss: {
    title: 'Progressive loss',
    noun: 'loss on recent rows',
    label: 'loss on recent rows, before they were learned',
    columns: ['recentLoss'],
    log: false,
  },
  progressiveError: {
    title: 'Progressive error',
    noun: 'error on recent rows',
    label: 'error on recent rows (%)',
    regression: 'mean squared error on recent rows',
    columns: ['recentError'],
    log: false,
  },
  updates: {
    title: 'Throughput',
    noun: 'updates per second',
    label: 'million updates per second',
    columns: [],
    log: false,
  },
  memory: {
    title: 'Memory',
    noun: 'memory',
    label: 'memory of all processes (MiB)',
    columns: [],
    log: false,
  },
};

export const figureQuantities = Object.keys(table) as FigureQuantity[];

export function quantityOf<Key extends FigureQuantity>(key: Key): Quantity<Key> {
  return { key, ...table[key] };
}

/** Those that the page shows charts of. */
export const quantities: readonly ChartQuantity[] = keys.map((key) => quantityOf(key));
export type ChartQuantity = Quantity<QuantityKey>;

/** The label of the y axis; `vector` is the class, from 0, whose error or AUPRC is shown. */
export function axisLabel({ label, regression, best }: Quantity, task: Task, vector?: number) {
  const text = task === 'regression' ? (regression ?? label) : label;
  return vector === undefined || !best ? text : `${text}, class ${vector + 1} against the rest`;
}

/** Error rates are shown as percentages. */
export function shownFactor({ regression }: Quantity, task: Task): number {
  return regression !== undefined && task === 'classification' ? 100 : 1;
}

export function reportSeries(reports: readonly ReportLine[]): ChartSeries {
  return {
    epoch: [],
    seconds: reports.map(({ seconds }) => seconds),
    passes: [],
    primal: [],
    dual: [],
    relativeGap: [],
    recentLoss: reports.map(({ recentLoss }) => recentLoss),
    recentError: reports.map(({ recentError }) => recentError),
  };
}

export interface Curve {
  /** Whether it lies below the values of interest and rises to them. */
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
  return values.map((column, index) => ({
    isBound: index > 0,
    points: column.flatMap((value, place): Point[] =>
      value == null ? [] : [[series[isStream ? 'seconds' : x][place], factor * value]],
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

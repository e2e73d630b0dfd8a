import type { FigureAxis, FigureQuantity } from '../../src/apps/dashboard/api.ts';
import type { ReportLine, RunSeries } from '../../src/reporting/records/record.ts';

/** A chart: what it shows over the x axis. */
export interface Quantity {
  readonly key: QuantityKey;
  readonly title: string;
  /** Columns of a track, the first of which is what a legend or a table speaks of. */
  readonly columns: readonly Column[];
  /** The name of a column's values in a sentence. */
  readonly noun: string;
  /** Which of its values is the best, where the last need not be. */
  readonly best?: 'least' | 'most';
  /** The y axis that it has when nobody has chosen one. */
  readonly log: boolean;
}

export type QuantityKey = Exclude<FigureQuantity, 'updates' | 'memory'>;

/** The course of a run as charts see it: of epochs, or of the reports of a stream. */
export type ChartSeries = RunSeries & { readonly [name in ReportColumn]?: readonly Value[] };
export type Column =
  | ReportColumn
  | keyof Pick<RunSeries, 'primal' | 'dual' | 'relativeGap' | 'testError' | 'testAuprc'>;

type ReportColumn = 'recentLoss' | 'recentError';
type Value = number | null;

/** A stream knows time alone: neither epochs nor passes. */
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

export const quantities: readonly Quantity[] = [
  {
    key: 'objective',
    title: 'Objective and bound',
    columns: ['primal', 'dual'],
    noun: 'objective',
    log: false,
  },
  {
    key: 'gap',
    title: 'Relative gap',
    columns: ['relativeGap'],
    noun: 'relative gap',
    log: true,
  },
  {
    key: 'testError',
    title: 'Test error',
    columns: ['testError'],
    noun: 'test error',
    best: 'least',
    log: false,
  },
  {
    key: 'testAuprc',
    title: 'Area under precision-recall (AUPRC)',
    columns: ['testAuprc'],
    noun: 'AUPRC',
    best: 'most',
    log: false,
  },
  {
    key: 'progressiveLoss',
    title: 'Progressive loss',
    columns: ['recentLoss'],
    noun: 'loss of recent rows',
    log: false,
  },
  {
    key: 'progressiveError',
    title: 'Progressive error',
    columns: ['recentError'],
    noun: 'error on recent rows',
    log: false,
  },
];

export const axes: readonly { readonly key: FigureAxis; readonly title: string }[] = [
  { key: 'seconds', title: 'time' },
  { key: 'epoch', title: 'epochs' },
  { key: 'passes', title: 'passes' },
];

import type { FigureAxis, FigureQuantity } from '../apps/dashboard/api.ts';
import type { Point } from '../reporting/charts/svg.ts';
import type { RunDetail } from '../reporting/records/record.ts';

/** What can be drawn of a run. */
export interface Quantity {
  readonly title: string;
  readonly scale: 'linear' | 'log';
  /** Runs whose values are of different units cannot share an axis; default: they never are. */
  unit?(run: RunDetail): string;
  /** Of the runs that are drawn. */
  label(runs: readonly RunDetail[]): string;
  curves(run: RunDetail, x: FigureAxis): readonly Curve[];
}

export interface Curve {
  /** Whether it is below what matters and comes up to it. */
  readonly isBound?: boolean;
  readonly points: readonly Point[];
}

const megabyte = 2 ** 20;

export const quantities: Readonly<Record<FigureQuantity, Quantity>> = {
  objective: {
    title: 'Objective and lower bound',
    scale: 'linear',
    label: () => 'objective P(w)',
    curves: (run, x) => [
      { points: columnOf(run, x, run.series.primal) },
      { isBound: true, points: columnOf(run, x, run.series.dual) },
    ],
  },
  gap: {
    title: 'Relative duality gap',
    scale: 'log',
    label: () => '(P − D) / P',
    curves: (run, x) => [{ points: columnOf(run, x, run.series.relativeGap) }],
  },
  testError: {
    title: 'Test error',
    scale: 'linear',
    unit: ({ summary }) => summary.start.task,
    label: (runs) =>
      runs.some(isRegression) ? 'test mean squared error' : `test error (%)${classText(runs)}`,
    curves: (run, x) => {
      const factor = isRegression(run) ? 1 : 100;
      const values = (run.series.testError ?? []).map((value) => value && factor * value);
      return [{ points: columnOf(run, x, values) }];
    },
  },
  testAuprc: {
    title: 'Test AUPRC',
    scale: 'linear',
    label: (runs) => `area under the precision-recall curve${classText(runs)}`,
    curves: (run, x) => [{ points: columnOf(run, x, run.series.testAuprc ?? []) }],
  },
  progressiveLoss: {
    title: 'Progressive loss',
    scale: 'linear',
    label: () => 'loss of recent rows, before they were learned',
    curves: ({ reports }) => [
      { points: reports.flatMap(({ seconds, recentLoss }) => pointOf(seconds, recentLoss)) },
    ],
  },
  progressiveError: {
    title: 'Progressive error',
    scale: 'linear',
    unit: ({ summary }) => summary.start.task,
    label: (runs) =>
      runs.some(isRegression) ? 'mean squared error on recent rows' : 'error on recent rows (%)',
    curves: (run) => {
      const factor = isRegression(run) ? 1 : 100;
      const points = run.reports.flatMap(({ seconds, recentError }) =>
        pointOf(seconds, recentError && factor * recentError),
      );
      return [{ points }];
    },
  },
  updates: {
    title: 'Throughput',
    scale: 'linear',
    label: () => 'million updates per second',
    curves: (run, x) => [{ points: columnOf(run, x, throughput(run)) }],
  },
  memory: {
    title: 'Memory',
    scale: 'linear',
    label: () => 'memory of all processes (MiB)',
    curves: (run, x) => [{ points: memoryOf(run, x) }],
  },
};

function isRegression({ summary }: RunDetail): boolean {
  return summary.start.task === 'regression';
}

/** A class has an error of its own: how often it is told wrongly from all others together. */
function classText(runs: readonly RunDetail[]): string {
  const several = runs.filter(({ summary }) => (summary.begin?.vectors ?? 1) > 1);
  if (several.length === 0) return '';
  const text = `class ${several[0].vector + 1} against the rest`;
  return several.length === runs.length ? `, ${text}` : ` (of several classes: ${text})`;
}

function pointOf(x: number, y: number | null): Point[] {
  return y === null ? [] : [[x, y]];
}

function columnOf(
  run: RunDetail,
  x: FigureAxis,
  values: readonly (number | null | undefined)[],
): Point[] {
  return values.flatMap((value, index): Point[] =>
    value == null ? [] : [[run.series[x][index], value]],
  );
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

/** Samples know their epoch and second; the passes are those of the epoch. */
function memoryOf({ series, samples, vector }: RunDetail, x: FigureAxis): Point[] {
  return samples.flatMap((sample): Point[] => {
    if ((sample.vector ?? 0) !== vector) return [];
    const after = series.epoch.findIndex((epoch) => epoch >= sample.epoch);
    const place = x === 'passes' ? series.passes.at(after) : sample[x];
    return place === undefined ? [] : [[place, sample.memory / megabyte]];
  });
}

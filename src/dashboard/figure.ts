import { basename } from 'node:path';
import type { LineChart, Point, Series } from '../compare/figure.ts';
import { formatNumber } from '../compare/numbers.ts';
import { styleOf } from '../compare/style.ts';
import type { RunDetail } from '../runs/record.ts';
import type { FigureAxis, FigureQuantity } from './api.ts';
import type { FigureRequest } from './figure-request.ts';

const axisLabels: Readonly<Record<FigureAxis, string>> = {
  seconds: 'seconds of training',
  epoch: 'epochs',
  passes: 'passes over the data',
};

interface Quantity {
  readonly title: string;
  readonly scale: 'linear' | 'log';
  label(runs: readonly RunDetail[]): string;
  /** Curves of a run; the second one, if any, is drawn as a bound. */
  curves(run: RunDetail, x: FigureAxis): readonly Curve[];
}

interface Curve {
  /** What is added to the name of the run. */
  readonly suffix?: string;
  readonly points: readonly Point[];
}

const megabyte = 2 ** 20;

const quantities: Readonly<Record<FigureQuantity, Quantity>> = {
  objective: {
    title: 'Objective and lower bound',
    scale: 'linear',
    label: () => 'P(w), and D(α) dashed',
    curves: (run, x) => [
      { points: columnOf(run, x, run.series.primal) },
      { suffix: ', bound', points: columnOf(run, x, run.series.dual) },
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
    label: (runs) => (runs.some(isRegression) ? 'test mean squared error' : 'test error (%)'),
    curves: (run, x) => {
      const factor = isRegression(run) ? 1 : 100;
      const values = (run.series.testError ?? []).map((value) => value && factor * value);
      return [{ points: columnOf(run, x, values) }];
    },
  },
  testAuprc: {
    title: 'Test AUPRC',
    scale: 'linear',
    label: () => 'area under the precision-recall curve',
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

/**
 * The curves of some runs over one another, each in the style of its place. Runs that have nothing
 * to show are left out.
 */
export function figureOf(
  runs: readonly RunDetail[],
  request: FigureRequest,
  places: readonly number[] = [...runs.keys()],
): LineChart {
  const { y, scale, xscale, from, to } = request;
  // A stream knows time alone.
  const x = y.startsWith('progressive') ? 'seconds' : request.x;
  const quantity = quantities[y];
  const names = runNames(runs);
  const series = runs.flatMap((run, index) =>
    quantity
      .curves(run, x)
      .map((curve, rank) =>
        seriesOf(names[index] + (curve.suffix ?? ''), curve, places[index], rank),
      ),
  );
  const shown = series
    .map((one) => ({ ...one, points: cutOut(one.points, from, to) }))
    .filter(({ points }) => points.length > 0);
  const log = (scale ?? quantity.scale) === 'log';
  const xs = shown.flatMap(({ points }) => points.map((point) => point[0]));
  const part = from !== undefined || to !== undefined;
  const seen = settled(shown, from, to);
  return {
    title: quantity.title,
    subtitle: commonText(runs),
    x: {
      label: axisLabels[x],
      log: xscale === 'log',
      zero: from === undefined,
      ...(part && xs.length > 0 && { focus: [from ?? 0, to ?? largest(xs)] }),
    },
    y: {
      label: quantity.label(runs),
      log,
      zero: !log && (y === 'updates' || y === 'memory'),
      ...(seen.length > 0 && !log && { focus: [smallest(seen), largest(seen)] }),
    },
    series: shown,
    ...(y === 'gap' && { rules: toleranceOf(runs) }),
  };
}

/** Names above the plot take room that the plot should not lose. */
export function figureHeight({ series }: LineChart): number {
  const characters = series.reduce((sum, { name }) => sum + name.length + 8, 0);
  return 420 + 18 * Math.floor(characters / 85);
}

/** dso-gap-seconds-20261115-212345-3f9c.svg, dso-gap-seconds-3-runs.png */
export function figureFileName(
  ids: readonly string[],
  { y, x }: FigureRequest,
  format: 'svg' | 'png',
): string {
  const whose = ids.length === 1 ? ids[0].replace(/[^\w.-]+/g, '-') : `${ids.length}-runs`;
  return `dso-${y}-${x}-${whose}.${format}`;
}

/** By the place among the runs, whatever their names are; a bound has its run's colour, dashed. */
function seriesOf(name: string, { points }: Curve, place: number, rank: number): Series {
  // The name is nobody's, so that the place alone decides.
  const style = styleOf('', place);
  if (rank === 0) return { name, points, style, marks: points.length > 1 };
  return { name, points, style: { ...style, dash: '3 3' }, marks: false };
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

/** Points of the part that is shown, with a neighbour on either side so that lines reach the edge. */
function cutOut(points: readonly Point[], from = -Infinity, to = Infinity): readonly Point[] {
  return points.filter(
    (point, index) =>
      (point[0] >= from || (points[index + 1]?.[0] ?? -Infinity) > from) &&
      (point[0] <= to || (points[index - 1]?.[0] ?? Infinity) < to),
  );
}

/** Values that an axis has to show: those of the part, or all but the wild ones of the beginning. */
function settled(series: readonly Series[], from = -Infinity, to = Infinity): number[] {
  const whole = from === -Infinity && to === Infinity;
  return series.flatMap(({ points }) => {
    const skipped = whole ? Math.min(3, Math.floor(points.length / 4)) : 0;
    return points
      .slice(skipped)
      .filter((point) => point[0] >= from && point[0] <= to)
      .map((point) => point[1]);
  });
}

/** A rule where all runs have the same tolerance. */
function toleranceOf(runs: readonly RunDetail[]): NonNullable<LineChart['rules']> {
  const tolerances = [...new Set(runs.map(({ summary }) => summary.start.tolerance))];
  return tolerances
    .slice(0, tolerances.length === 1 ? 1 : 0)
    .map((y) => ({ y, label: `tolerance ${formatNumber(y)}` }));
}

/** What may tell one run from another, in the order in which it is tried. */
const traits: readonly ((run: RunDetail) => string)[] = [
  ({ summary }) => summary.begin?.solver ?? 'dso',
  ({ summary }) => summary.start.loss,
  ({ summary }) => (summary.begin ? `λ = ${formatNumber(summary.begin.lambda)}` : ''),
  ({ summary }) => summary.start.penalty,
  ({ summary }) => basename(summary.start.data),
];

/** The solver, and as much more as it takes; runs that are alike in everything have their ids. */
function runNames(runs: readonly RunDetail[]): string[] {
  const [solver, ...others] = traits;
  const telling = others.filter((trait) => new Set(runs.map(trait)).size > 1);
  const names = runs.map((run) => [solver, ...telling].map((trait) => trait(run)).join(', '));
  const ids = shortIds(runs.map(({ summary }) => summary.id));
  return names.map((name, index) =>
    names.filter((other) => other === name).length > 1 ? `${name}, ${ids[index]}` : name,
  );
}

/** The last digits, by which commands find a run too, unless two have the same. */
function shortIds(ids: readonly string[]): readonly string[] {
  const endings = ids.map((id) => id.slice(id.lastIndexOf('-') + 1));
  return new Set(endings).size === ids.length ? endings : ids;
}

/** What all runs have in common: data, loss, penalty, λ. */
function commonText(runs: readonly RunDetail[]): string {
  const [, loss, lambda, penalty, data] = traits;
  return [data, loss, penalty, lambda]
    .flatMap((trait) => {
      const values = [...new Set(runs.map(trait))];
      return values.length === 1 && values[0] !== '' ? values : [];
    })
    .join(', ');
}

function isRegression({ summary }: RunDetail): boolean {
  return summary.start.task === 'regression';
}

function smallest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b));
}

function largest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b));
}

import { formatNumber } from '../../math/format-number.ts';
import { dataName, runLabels } from '../records/labels.ts';
import type { RunDetail } from '../records/record.ts';
import { type Range, visibleRange } from './axis.ts';
import {
  axes,
  axisLabel,
  type Curve,
  curvesOf,
  type FigureSpec,
  type Point,
  type Quantity,
  quantityOf,
} from './quantities.ts';
import { styleOf } from './series-style.ts';
import { type LineChart, legendRows, type Series } from './svg.ts';

const boundDash = '3 3';
/** Stands for the bounds of all runs. */
const boundKey = {
  name: 'lower bound D(α)',
  style: { color: '#6b6b6b', dash: boundDash, symbol: 'circle' },
  marks: false,
} as const;

interface Drawn {
  readonly run: RunDetail;
  readonly name: string;
  readonly place: number;
  readonly curves: readonly Curve[];
}

/**
 * The curves of some runs over one another, each in the style of its place. Runs that have nothing
 * to show are left out, and so are those whose values are of another unit than the first ones.
 */
export function figureOf(
  runs: readonly RunDetail[],
  request: FigureSpec,
  places: readonly number[] = [...runs.keys()],
): LineChart {
  const { y, xscale, from, to } = request;
  // A stream knows time alone.
  const x = y.startsWith('progressive') ? 'seconds' : request.x;
  const quantity = quantityOf(y);
  const drawn = drawnRuns(runs, places, quantity, { ...request, x });
  const curves = drawn.flatMap((one) => one.curves);
  const log = request.scale === undefined ? quantity.log : request.scale === 'log';
  const xs = curves.flatMap(({ points }) => points.map((point) => point[0]));
  const isPart = from !== undefined || to !== undefined;
  const hasBounds = curves.some(({ isBound }) => isBound);
  const seen = isPart || hasBounds ? seenValues(curves, log, from, to) : undefined;
  return {
    title: quantity.title,
    subtitle: commonText(runs),
    x: {
      label: axes.find(({ key }) => key === x)!.label,
      log: xscale === 'log',
      zero: from === undefined,
      tight: true,
      ...(isPart && xs.length > 0 && { focus: [from ?? 0, to ?? largest(xs)] }),
    },
    y: {
      label: labelOf(
        quantity,
        drawn.map(({ run }) => run),
      ),
      log,
      zero: !log && (y === 'updates' || y === 'memory'),
      ...(seen !== undefined && { focus: seen }),
    },
    series: drawn.flatMap((one) => one.curves.map((curve) => seriesOf(one, curve))),
    ...(hasBounds && { keys: [boundKey] }),
    ...(y === 'gap' && { rules: toleranceOf(runs) }),
  };
}

function drawnRuns(
  runs: readonly RunDetail[],
  places: readonly number[],
  quantity: Quantity,
  { x, from, to }: FigureSpec,
): Drawn[] {
  const names = runLabels(runs.map(({ summary }) => summary));
  const drawn = runs
    .map((run, index) => ({
      run,
      name: names.get(run.summary.id)!,
      place: places[index],
      curves: curvesOf(quantity, run, x)
        .map((curve) => ({ ...curve, points: cutOut(curve.points, from, to) }))
        .filter(({ points }) => points.length > 0),
    }))
    .filter(({ curves }) => curves.length > 0);
  // Error rates and mean squares cannot share an axis.
  const taskOf = ({ run }: Drawn) => run.summary.start.task;
  return drawn.filter((one) => !quantity.regression || taskOf(one) === taskOf(drawn[0]));
}

/** A class has an error of its own: of telling it from all others together. */
function labelOf(quantity: Quantity, runs: readonly RunDetail[]): string {
  const task = runs[0]?.summary.start.task ?? 'classification';
  const several = runs.filter(({ summary }) => (summary.begin?.vectors ?? 1) > 1);
  if (several.length === 0) return axisLabel(quantity, task);
  const label = axisLabel(quantity, task, several[0].vector);
  // Only some of the runs have several classes.
  return several.length === runs.length
    ? label
    : label.replace(/, (class .*)$/, ' (of several classes: $1)');
}

const usualHeight = 420;
const legendRow = 18;

/** Names above the plot take room that the plot should not lose. */
export function figureHeight(chart: LineChart): number {
  return usualHeight + legendRow * (Math.max(1, legendRows(chart)) - 1);
}

/** dso-gap-seconds-20261115-212345-3f9c.svg, dso-gap-seconds-3-runs.png */
export function figureFileName(
  ids: readonly string[],
  { y, x }: FigureSpec,
  format: 'svg' | 'png',
): string {
  const whose = ids.length === 1 ? ids[0].replace(/[^\w.-]+/g, '-') : `${ids.length}-runs`;
  return `dso-${y}-${x}-${whose}.${format}`;
}

/** By the place among the runs, whatever their names are; a bound has its run's colour, dashed. */
function seriesOf({ name, place }: Drawn, { points, isBound }: Curve): Series {
  // The name is nobody's, so that the place alone decides.
  const style = styleOf('', place);
  if (!isBound) return { name, points, style };
  const dashed = { ...style, dash: boundDash };
  // One point is no line: its symbol is all that can be seen of it.
  const marks = points.length === 1;
  return { name: `${name}, bound`, points, style: dashed, marks, listed: false };
}

/** Points of the part that is shown, with a neighbour on either side so that lines reach the edge. */
function cutOut(points: readonly Point[], from = -Infinity, to = Infinity): readonly Point[] {
  return points.filter(
    (point, index) =>
      (point[0] >= from || (points[index + 1]?.[0] ?? -Infinity) > from) &&
      (point[0] <= to || (points[index - 1]?.[0] ?? Infinity) < to),
  );
}

/** What the y axis has to show of the part. */
function seenValues(
  curves: readonly Curve[],
  log: boolean,
  from = -Infinity,
  to = Infinity,
): Range | undefined {
  const valuesOf = (bounds: boolean) =>
    curves
      .filter(({ isBound }) => isBound === bounds)
      .map(({ points }) =>
        points.flatMap(([place, value]) => (place >= from && place <= to ? [value] : [])),
      );
  return visibleRange(valuesOf(false), valuesOf(true), log);
}

/** A rule where all runs have the same tolerance. */
function toleranceOf(runs: readonly RunDetail[]): NonNullable<LineChart['rules']> {
  const tolerances = [...new Set(runs.map(({ summary }) => summary.start.tolerance))];
  return tolerances
    .slice(0, tolerances.length === 1 ? 1 : 0)
    .map((y) => ({ y, label: `tolerance ${formatNumber(y)}` }));
}

const commonTraits: readonly ((run: RunDetail) => string)[] = [
  ({ summary }) => dataName(summary),
  ({ summary }) => `${summary.start.loss} loss`,
  ({ summary }) => `${summary.start.penalty} penalty`,
  ({ summary }) => (summary.begin ? `λ = ${formatNumber(summary.begin.lambda)}` : ''),
  ({ summary, vector }) => {
    const { vectors = 1 } = summary.begin ?? {};
    return vectors > 1 ? `class ${vector + 1} of ${vectors}` : '';
  },
];

/** What all runs have in common: data, loss, penalty, λ, and the class that is shown. */
function commonText(runs: readonly RunDetail[]): string {
  return commonTraits
    .flatMap((trait) => {
      const values = [...new Set(runs.map(trait))];
      return values.length === 1 && values[0] !== '' ? values : [];
    })
    .join(', ');
}

function largest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b));
}

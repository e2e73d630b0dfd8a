import { formatNumber } from '../../math/format-number.ts';
import { dataName, runLabels } from '../records/labels.ts';
import type { RunDetail } from '../records/record.ts';
import { extentOf, type Range, visibleRange } from './axis.ts';
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
import type { LineChart, Series } from './svg.ts';

const boundDash = '3 3';
/** In the legend, for the bounds of all runs. */
const boundKey = {
  name: 'lower bound D(α)',
  style: { color: '#6b6b6b', dash: boundDash, symbol: 'circle' },
  marks: false,
} as const;

interface Drawn {
  readonly run: RunDetail;
  readonly name: string;
  /** Decides on the style. */
  readonly index: number;
  readonly curves: readonly Curve[];
}

/**
 * The curves of some runs in one chart, each in the style of its index. Runs that have nothing to
 * show are left out, and so are those whose values are of another unit than the first ones.
 */
export function figureOf(
  runs: readonly RunDetail[],
  request: FigureSpec,
  indices: readonly number[] = [...runs.keys()],
): LineChart {
  const { y, xscale, from, to } = request;
  // A stream knows time alone.
  const x = y.startsWith('progressive') ? 'seconds' : request.x;
  const quantity = quantityOf(y);
  const drawn = drawnRuns(runs, indices, quantity, { ...request, x });
  const curves = drawn.flatMap((one) => one.curves);
  const log = request.scale === undefined ? quantity.log : request.scale === 'log';
  const xs = extentOf(curves.map(({ points }) => points.map((point) => point[0])));
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
      ...(isPart && xs && { focus: [from ?? 0, to ?? xs[1]] }),
    },
    y: {
      label: labelOf(quantity, drawn),
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
  indices: readonly number[],
  quantity: Quantity,
  { x, from, to }: FigureSpec,
): Drawn[] {
  const names = runLabels(runs.map(({ summary }) => summary));
  const drawn = runs
    .map((run, position) => ({
      run,
      name: names.get(run.summary.id)!,
      index: indices[position],
      curves: curvesOf(quantity, run, x)
        .map((curve) => ({ ...curve, points: cutOut(curve.points, from, to) }))
        .filter(({ points }) => points.length > 0),
    }))
    .filter(({ curves }) => curves.length > 0);
  // Error rates and mean squares cannot share an axis.
  const taskOf = ({ run }: Drawn) => run.summary.start.task;
  return drawn.filter((one) => !quantity.regression || taskOf(one) === taskOf(drawn[0]));
}

/** A class has an error of its own: of its classification against all others. */
function labelOf(quantity: Quantity, drawn: readonly Drawn[]): string {
  const task = drawn[0]?.run.summary.start.task ?? 'classification';
  const several = drawn.filter(({ run }) => (run.summary.begin?.vectors ?? 1) > 1);
  const label = axisLabel(quantity, task, several[0]?.run.vector);
  // Only some of the runs have several classes.
  const isMixed = several.length > 0 && several.length < drawn.length;
  return isMixed ? label.replace(/, (class .*)$/, ' (of several classes: $1)') : label;
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

/** In the style of its index, whatever the run's name; a bound has its run's colour, dashed. */
function seriesOf({ name, index }: Drawn, { points, isBound }: Curve): Series {
  // No solver has this name, so the index alone decides.
  const style = styleOf('', index);
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

/** The values of the part that the y axis must show. */
function seenValues(
  curves: readonly Curve[],
  log: boolean,
  from = -Infinity,
  to = Infinity,
): Range | undefined {
  const isSeen = ([x]: Point) => x >= from && x <= to;
  const valuesOf = (bounds: boolean) =>
    curves
      .filter(({ isBound }) => isBound === bounds)
      .map(({ points }) => points.filter(isSeen).map((point) => point[1]));
  return visibleRange(valuesOf(false), valuesOf(true), log);
}

/** A rule where all runs have the same tolerance. */
function toleranceOf(runs: readonly RunDetail[]): NonNullable<LineChart['rules']> {
  const [y, ...others] = new Set(runs.map(({ summary }) => summary.start.tolerance));
  return y === undefined || others.length > 0 ? [] : [{ y, label: `tolerance ${formatNumber(y)}` }];
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

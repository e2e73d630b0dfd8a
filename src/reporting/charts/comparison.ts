import { basename } from 'node:path';
import { formatNumber } from '../../math/format-number.ts';
import {
  bestLowerBound,
  type Comparison,
  competitorsOf,
  type Problem,
  problemsOf,
} from '../../train/compare/comparison.ts';
import type { EpochEvent } from '../../train/events.ts';
import { extentOf, type Range } from './axis.ts';
import { axes, axisLabel, type Column, type Point, quantityOf, shownFactor } from './quantities.ts';
import { styleOf } from './series-style.ts';
import type { LineChart, Series } from './svg.ts';

const quantities = {
  objective: quantityOf('objective'),
  gap: quantityOf('gap'),
  error: quantityOf('testError'),
  auprc: quantityOf('testAuprc'),
};

/** What is measured: the vertical axis. */
interface Measure {
  readonly key: 'distance' | keyof typeof quantities;
  readonly name: string;
}

export const measures: readonly Measure[] = [
  { key: 'distance', name: 'distance to the optimum' },
  ...Object.entries(quantities).map(([key, { noun }]) => ({
    key: key as keyof typeof quantities,
    name: noun,
  })),
];

/** Against what: the horizontal axis. */
export const abscissas = axes.map(({ key, label }) => ({
  key: key === 'epoch' ? 'epochs' : key,
  name: label,
  column: key,
}));
type Abscissa = (typeof abscissas)[number];

/** A chart and the name of its files, without an ending. */
export interface NamedChart {
  readonly name: string;
  readonly chart: LineChart;
}

export interface ProblemChart extends NamedChart {
  readonly problem: Problem;
  readonly measure: Measure;
  readonly abscissa: Abscissa;
}

/** A chart per problem, measure and horizontal axis, as far as there is something to show. */
export function chartsOf(comparison: Comparison): ProblemChart[] {
  return problemsOf(comparison).flatMap((problem) =>
    measures.flatMap((measure) =>
      abscissas.flatMap((abscissa) => {
        const chart = chartOf(comparison, problem, measure, abscissa);
        if (chart.series.length === 0) return [];
        const parts = [fileName(problem), measure.key, abscissa.key];
        return [{ name: parts.join('-'), problem, measure, abscissa, chart }];
      }),
    ),
  );
}

/** hinge, 1e-5 → "hinge-1e-5"; parameters of losses keep only what file systems like. */
function fileName({ loss, lambda }: Problem): string {
  const safe = loss.replace(/[^\w.-]+/g, '-').replace(/^[-.]+|-+$/g, '');
  return `${safe}-${formatNumber(lambda)}`;
}

interface Ordinate {
  readonly title: string;
  readonly label: string;
  readonly log: 'always' | 'never' | 'large range';
  /** To be said below the title. */
  readonly note?: string;
  value(event: EpochEvent): number | undefined;
}

function ordinateOf(key: Measure['key'], problem: Problem): Ordinate {
  if (key === 'distance') {
    const bound = bestLowerBound(problem);
    return {
      title: 'Distance to the optimum',
      label: 'P(w) − best lower bound',
      note: `best lower bound ${formatNumber(bound)}`,
      log: 'always',
      value: (event) => event.primal - bound,
    };
  }
  const quantity = quantities[key];
  const [column] = quantity.columns as readonly Exclude<Column, 'recentLoss' | 'recentError'>[];
  const factor = shownFactor(quantity, problem.task);
  const isBounded = key === 'auprc' || factor !== 1;
  return {
    title: quantity.noun.replace(/^./, (letter) => letter.toUpperCase()),
    label: axisLabel(quantity, problem.task),
    log: quantity.log ? 'always' : isBounded ? 'never' : 'large range',
    value: ({ [column]: value }) => value && factor * value,
  };
}

function chartOf(
  comparison: Comparison,
  problem: Problem,
  measure: Measure,
  abscissa: Abscissa,
): LineChart {
  const ordinate = ordinateOf(measure.key, problem);
  const competitors = competitorsOf(comparison);
  const series = problem.runs.flatMap((run): Series[] => {
    const points = run.events
      .map((event): Point => [event[abscissa.column], ordinate.value(event) ?? Number.NaN])
      .filter((point) => Number.isFinite(point[1]));
    const style = styleOf(run.solver, competitors.indexOf(run.solver));
    return points.length === 0 ? [] : [{ name: run.solver, points, style }];
  });
  const { tolerance, penalty } = comparison.conditions;
  const xs = extentOf(series.map(({ points }) => points.map((point) => point[0])));
  const focus = extentOf(series.map(({ points }) => withoutStart(points).map((point) => point[1])));
  const log = ordinate.log === 'always' || (ordinate.log === 'large range' && ratio(focus) > 20);
  const name = basename(comparison.data.name);
  return {
    title: `${ordinate.title}: ${problem.loss}, ${penalty}, λ = ${formatNumber(problem.lambda)}`,
    subtitle: ordinate.note === undefined ? name : `${name}; ${ordinate.note}`,
    x: { label: abscissa.name, log: ratio(xs) > 50, zero: true },
    y: { label: ordinate.label, log, ...(ordinate.log !== 'always' && { focus }) },
    series,
    ...(measure.key === 'gap' && {
      rules: [{ y: tolerance, label: `tolerance ${formatNumber(tolerance)}` }],
    }),
  };
}

const wildEpochs = 3;

/** The first epochs may be so far off that a linear axis with them would show nothing else. */
function withoutStart<T>(points: readonly T[]): readonly T[] {
  return points.slice(Math.min(wildEpochs, Math.floor(points.length / 4)));
}

/** The largest value divided by the smallest; 0 where one is not positive. */
function ratio([low, high]: Range = [0, 0]): number {
  return low > 0 ? high / low : 0;
}

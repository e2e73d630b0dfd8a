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
import {
  axes,
  axisLabel,
  type Column,
  type FigureAxis,
  quantityOf,
  shownFactor,
} from './quantities.ts';
import { styleOf } from './series-style.ts';
import type { LineChart, Series } from './svg.ts';

/** What is measured: the vertical axis. */
export interface Measure {
  readonly key: 'objective' | 'distance' | 'gap' | 'error' | 'auprc';
  readonly name: string;
}

/** Against what: the horizontal axis. */
export interface Abscissa {
  readonly key: 'seconds' | 'epochs' | 'passes';
  readonly name: string;
  readonly column: FigureAxis;
}

const quantityKeys = {
  objective: 'objective',
  gap: 'gap',
  error: 'testError',
  auprc: 'testAuprc',
} as const;

export const measures: readonly Measure[] = [
  { key: 'distance', name: 'distance to the optimum' },
  ...(['objective', 'gap', 'error', 'auprc'] as const).map((key) => ({
    key,
    name: quantityOf(quantityKeys[key]).noun,
  })),
];

export const abscissas: readonly Abscissa[] = axes.map(({ key, label }) => ({
  key: key === 'epoch' ? 'epochs' : key,
  name: label,
  column: key,
}));

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
  readonly log: 'always' | 'never' | 'wide';
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
  const quantity = quantityOf(quantityKeys[key]);
  const [column] = quantity.columns as readonly Exclude<Column, 'recentLoss' | 'recentError'>[];
  const factor = shownFactor(quantity, problem.task);
  const isBounded = key === 'auprc' || factor !== 1;
  return {
    title: quantity.noun.replace(/^./, (letter) => letter.toUpperCase()),
    label: axisLabel(quantity, problem.task),
    log: quantity.log ? 'always' : isBounded ? 'never' : 'wide',
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
  const entrants = competitorsOf(comparison);
  const series = problem.runs.flatMap((run): Series[] => {
    const points = run.events
      .map((event) => [event[abscissa.column], ordinate.value(event) ?? Number.NaN] as const)
      .filter((point) => Number.isFinite(point[1]));
    const style = styleOf(run.solver, entrants.indexOf(run.solver));
    return points.length === 0 ? [] : [{ name: run.solver, points, style }];
  });
  const { tolerance, penalty } = comparison.conditions;
  const xs = series.flatMap(({ points }) => points.map((point) => point[0]));
  const settled = series.flatMap(({ points }) => withoutStart(points).map((point) => point[1]));
  const log = ordinate.log === 'always' || (ordinate.log === 'wide' && spread(settled) > 20);
  const name = basename(comparison.data.name);
  return {
    title: `${ordinate.title}: ${problem.loss}, ${penalty}, λ = ${formatNumber(problem.lambda)}`,
    subtitle: ordinate.note === undefined ? name : `${name}; ${ordinate.note}`,
    x: { label: abscissa.name, log: spread(xs) > 50, zero: true },
    y: {
      label: ordinate.label,
      log,
      ...(ordinate.log !== 'always' && series.length > 0 && { focus: extent(settled) }),
    },
    series,
    ...(measure.key === 'gap' && {
      rules: [{ y: tolerance, label: `tolerance ${formatNumber(tolerance)}` }],
    }),
  };
}

const wildEpochs = 3;

/** The first epochs may lie so far off that a linear axis with them would show nothing else. */
function withoutStart<T>(points: readonly T[]): readonly T[] {
  return points.slice(Math.min(wildEpochs, Math.floor(points.length / 4)));
}

function extent(values: readonly number[]): [number, number] {
  return values.reduce<[number, number]>(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
}

/** The largest value divided by the smallest positive one; 0 where one is not positive. */
function spread(values: readonly number[]): number {
  let low = Infinity;
  let high = 0;
  for (const value of values) {
    if (!(value > 0)) return 0;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return high === 0 ? 0 : high / low;
}

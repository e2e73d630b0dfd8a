import type { Task } from '../../problem/losses/loss.ts';
import type { ValidatedLambda, Validation } from '../../train/select/cross-validate.ts';
import type { MeasureName } from '../../train/select/measure.ts';
import type { Search } from '../../train/select/search.ts';
import { penaltyName } from '../format.ts';
import { lambdaText, measureTitles, type Trace } from '../text/selection.ts';
import type { Point } from './quantities.ts';
import type { SeriesStyle } from './series-style.ts';
import { stacked } from './stacked.ts';
import { lineChart, type Series } from './svg.ts';

const lambdaAxis = { label: 'λ', log: true } as const;
const accent = { color: '#D55E00', symbol: 'diamond' } as const;
const plain = { color: '#0072B2', symbol: 'circle' } as const;
const other = { color: '#009E73', symbol: 'square' } as const;

/** Errors are shown as percentages. */
const factorOf = (metric: MeasureName) => (metric === 'error' ? 100 : 1);

function measureAxes(metric: MeasureName) {
  const unit = metric === 'error' ? ' (%)' : '';
  return { x: lambdaAxis, y: { label: `${measureTitles[metric]}${unit} on the rows held out` } };
}

const pointOf = ({ lambda, mean }: ValidatedLambda, factor: number): Point => [
  lambda,
  factor * mean,
];

/** The means over λ, with a bar for the standard error of each. */
function meansOf({ lambdas }: Validation, factor: number) {
  const ascending = lambdas.toReversed();
  const bars = ascending.map(
    ({ mean, standardError }) =>
      [factor * (mean - standardError), factor * (mean + standardError)] as const,
  );
  return { points: ascending.map((one) => pointOf(one, factor)), bars };
}

function marked(name: string, one: ValidatedLambda, factor: number, style: SeriesStyle): Series {
  return { name: `${name}: λ = ${lambdaText(one.lambda)}`, points: [pointOf(one, factor)], style };
}

/** The mean over λ with a bar for its standard error, and the λs to choose from. */
export function validationChart(validation: Validation, title: string): string {
  const { metric, lambdas, best, simplest } = validation;
  const factor = factorOf(metric);
  return lineChart({
    title,
    subtitle: `${lambdas[0].folds.length} folds; bars are one standard error of the mean`,
    ...measureAxes(metric),
    series: [
      { name: 'mean', ...meansOf(validation, factor), style: plain, marks: false },
      ...(simplest === best ? [] : [marked('simplest', simplest, factor, other)]),
      marked('best', best, factor, accent),
    ],
  });
}

/** The means of all candidates over λ, the best first; the winner has bars. */
export function searchChart({ metric, ranking, winner }: Search, title: string): string {
  const factor = factorOf(metric);
  const series = ranking.map(({ loss, penalty, validation }, index): Series => {
    const { points, bars } = meansOf(validation, factor);
    const name = `${loss.name}, ${penaltyName(penalty)}`;
    return { name, points, ...(index === 0 && { bars }) };
  });
  const { best } = winner.validation;
  return lineChart({
    title,
    subtitle: `${best.folds.length} folds; bars of the best candidate are one standard error`,
    ...measureAxes(metric),
    series: [...series, marked('best', best, factor, { color: '#222222', symbol: 'star' })],
  });
}

/** Weights of the features that matter most, and below them the error on the test rows. */
export function pathChart(
  traces: readonly Trace[],
  errors: readonly Point[],
  task: Task,
  title: string,
): string {
  const weights = lineChart({
    title,
    subtitle: `weights along the path${traces.length === 0 ? ': all are 0' : ''}`,
    x: lambdaAxis,
    y: { label: 'weight' },
    series: traces.map(({ name, points }) => ({ name, points, marks: false })),
  });
  if (errors.length === 0) return weights;
  const isPart = task === 'classification';
  // Of equal ones the largest λ, which comes last.
  const least = errors.reduce((best, one) => (one[1] <= best[1] ? one : best));
  const inUnits = ([lambda, error]: Point): Point => [lambda, (isPart ? 100 : 1) * error];
  const test = lineChart({
    title: 'Error on the test rows',
    x: lambdaAxis,
    y: { label: isPart ? 'error (%)' : 'mean squared error' },
    series: [
      { name: 'test rows', points: errors.map(inUnits), style: plain },
      { name: `best: λ = ${lambdaText(least[0])}`, points: [inUnits(least)], style: accent },
    ],
  });
  return stacked([weights, test], title);
}

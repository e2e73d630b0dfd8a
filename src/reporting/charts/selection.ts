import type { Task } from '../../problem/losses/loss.ts';
import type { ValidatedLambda, Validation } from '../../train/select/cross-validate.ts';
import type { MeasureName } from '../../train/select/measure.ts';
import type { Search } from '../../train/select/search.ts';
import { penaltyName } from '../format.ts';
import type { Trace } from '../text/selection.ts';
import { lambdaText, measureTitle } from '../text/selection.ts';
import type { Point } from './quantities.ts';
import { type LineChart, lineChart, type Series } from './svg.ts';
import { escapeMarkup } from './svg-style.ts';

const lambdaAxis = { label: 'λ', log: true } as const;
const accent = { color: '#D55E00', symbol: 'diamond' } as const;
const plain = { color: '#0072B2', symbol: 'circle' } as const;
const other = { color: '#009E73', symbol: 'square' } as const;

/** Errors are shown in per cent. */
const factorOf = (metric: MeasureName) => (metric === 'error' ? 100 : 1);

function measureAxis(metric: MeasureName) {
  const unit = metric === 'error' ? ' (%)' : '';
  return { label: `${measureTitle(metric)}${unit} on the rows held out` };
}

const placeOf = ({ lambda, mean }: ValidatedLambda, factor: number): Point => [
  lambda,
  factor * mean,
];

/** The mean over λ with a bar for its standard error, and the λs to choose from. */
export function validationChart(validation: Validation, title: string): string {
  const { metric, lambdas, best, simplest } = validation;
  const factor = factorOf(metric);
  const ascending = lambdas.toReversed();
  const marked = (name: string, one: ValidatedLambda, style: Series['style']): Series => ({
    name: `${name}: λ = ${lambdaText(one.lambda)}`,
    points: [placeOf(one, factor)],
    ...(style && { style }),
  });
  const chart: LineChart = {
    title,
    subtitle: `${lambdas[0].folds.length} folds; bars are one standard error of the mean`,
    x: lambdaAxis,
    y: measureAxis(metric),
    series: [
      {
        name: 'mean',
        points: ascending.map((one) => placeOf(one, factor)),
        bars: ascending.map(({ mean, standardError }) => [
          factor * (mean - standardError),
          factor * (mean + standardError),
        ]),
        style: plain,
        marks: false,
      },
      ...(simplest === best ? [] : [marked('simplest', simplest, other)]),
      marked('best', best, accent),
    ],
  };
  return lineChart(chart);
}

/** The means of all candidates over λ, the best first; the winner has bars. */
export function searchChart({ metric, ranking, winner }: Search, title: string): string {
  const factor = factorOf(metric);
  const series = ranking.map(({ loss, penalty, validation }, place): Series => {
    const ascending = validation.lambdas.toReversed();
    return {
      name: `${loss.name}, ${penaltyName(penalty)}`,
      points: ascending.map((one) => placeOf(one, factor)),
      ...(place === 0 && {
        bars: ascending.map(({ mean, standardError }): [number, number] => [
          factor * (mean - standardError),
          factor * (mean + standardError),
        ]),
      }),
    };
  });
  const { best } = winner.validation;
  const mark: Series = {
    name: `best: λ = ${lambdaText(best.lambda)}`,
    points: [placeOf(best, factor)],
    style: { color: '#222222', symbol: 'star' },
  };
  const subtitle = `${best.folds.length} folds; bars of the best candidate are one standard error`;
  const axes = { x: lambdaAxis, y: measureAxis(metric) };
  return lineChart({ title, subtitle, ...axes, series: [...series, mark] });
}

const chartHeight = 420;
const chartWidth = 640;

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

/** Charts in one picture, below one another. */
function stacked(charts: readonly string[], title: string): string {
  const height = chartHeight * charts.length;
  const placed = charts.map((svg, place) =>
    svg.replace('<svg ', `<svg y="${place * chartHeight}" `),
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${chartWidth} ${height}" ` +
    `width="${chartWidth}" height="${height}" role="img" aria-label="${escapeMarkup(title)}">\n` +
    `${placed.join('')}</svg>\n`
  );
}

import { stripVTControlCharacters } from 'node:util';
import { type Axis, visibleRange } from '../charts/axis.ts';
import { axisLabel, type Quantity, quantityOf, shownFactor } from '../charts/quantities.ts';
import { type TextChart, type TextPoint, type TextSeries, textChart } from '../charts/text.ts';
import { type Colours, formatNumber } from '../format.ts';
import type { RunSeries } from '../records/record.ts';

/** What is drawn of a run. */
export type Curves = Omit<RunSeries, 'passes' | 'bytes'>;

export interface RunChartsOptions {
  /** Characters and lines that there is room for. */
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
  readonly ascii: boolean;
  readonly task: 'classification' | 'regression';
  /** The relative gap to reach. */
  readonly tolerance: number;
  /** Default: time. */
  readonly over?: 'time' | 'epochs';
  /** Which of several vectors this is, from 0. */
  readonly vector?: { readonly index: number; readonly count: number } | undefined;
}

/** From this width on charts stand side by side, each of them at least so wide. */
const wide = 120;
const narrowest = 38;
const between = 2;
/** Lines of a chart. */
const highest = 12;
const lowest = 9;

type Plot = Pick<TextChart, 'series' | 'y' | 'rules'>;

/** Gap, objective and bound, test error: as many of them as there is room for, at least the first. */
export function runCharts(curves: Curves, options: RunChartsOptions): string[] {
  const { width, height } = options;
  const plots = plotsOf(curves, options);
  const beside = Math.floor((width + between) / (narrowest + between));
  const abreast = width >= wide ? Math.min(plots.length, beside) : 1;
  const bands = Math.min(
    Math.ceil(plots.length / abreast),
    Math.max(1, Math.floor(height / lowest)),
  );
  const size = {
    width: Math.floor((width - (abreast - 1) * between) / abreast),
    height: Math.min(highest, Math.floor(height / bands)),
  };
  const charts = plots.map((plot) => textChart(chartOf(plot, size, options)));
  return Array.from({ length: bands }, (_, band) =>
    sideBySide(charts.slice(band * abreast, (band + 1) * abreast), size.width + between),
  ).flat();
}

function chartOf(
  plot: Plot,
  size: Pick<TextChart, 'width' | 'height'>,
  { colours, ascii, over }: RunChartsOptions,
): TextChart {
  const time = over !== 'epochs';
  return {
    ...plot,
    ...size,
    x: { label: 'epochs', zero: 'near', time },
    colours,
    ascii,
  };
}

/** How many times less than the smallest gap a tolerance may be that is drawn. */
const farthest = 1e6;

const plotted = (['gap', 'objective', 'testError', 'testAuprc'] as const).map(quantityOf);

function plotsOf(curves: Curves, options: RunChartsOptions): Plot[] {
  const tolerance = visibleTolerance(curves.relativeGap, options.tolerance);
  const x = options.over === 'epochs' ? curves.epoch : curves.seconds;
  return plotted
    .filter(({ columns }) => curves[columns[0] as keyof Curves] !== undefined)
    .map((quantity) => {
      const factor = shownFactor(quantity, options.task);
      const series = quantity.columns.map((column, index): TextSeries => {
        const values: readonly (number | null)[] = curves[column as keyof Curves] ?? [];
        return {
          name: index === 0 ? quantity.noun : 'lower bound',
          points: values.map((y, k): TextPoint => [x[k], y && factor * y]),
        };
      });
      const isGap = quantity.key === 'gap';
      const label = `tolerance ${formatNumber(tolerance)}`;
      return {
        series,
        y: yAxis(quantity, curves, options, tolerance),
        rules: isGap && tolerance > 0 ? [{ y: tolerance, label }] : [],
      };
    });
}

function yAxis(
  quantity: Quantity,
  { relativeGap, primal, dual }: Curves,
  { task, vector }: RunChartsOptions,
  tolerance: number,
): Axis {
  switch (quantity.key) {
    case 'gap': {
      const part = vector ? `, class ${vector.index + 1} of ${vector.count}` : '';
      const focus = provenRange(relativeGap, tolerance);
      return { label: `${quantity.noun}${part}`, log: true, focus };
    }
    case 'objective':
      return { label: quantity.noun, focus: visibleRange([primal], [dual], false) };
    default:
      return { label: axisLabel(quantity, task, vector?.index) };
  }
}

/** A tolerance that is far from being reached would leave no room for the curve: 0 then. */
function visibleTolerance(gaps: readonly (number | null)[], tolerance: number): number {
  const least = gaps.reduce<number>((low, gap) => (gap ? Math.min(low, gap) : low), Infinity);
  return tolerance * farthest < least ? 0 : tolerance;
}

/** A gap of 1 or more proves nothing: the picture ends there once there is less. */
function provenRange(
  gaps: readonly (number | null)[],
  tolerance: number,
): [number, number] | undefined {
  let [low, high] = [tolerance > 0 ? tolerance : Infinity, 0];
  for (const gap of gaps) {
    if (gap === null || !(gap > 0) || gap >= 1) continue;
    low = Math.min(low, gap);
    high = Math.max(high, gap);
  }
  if (high === 0) return undefined;
  const unproven = gaps.some((gap) => gap !== null && gap >= 1);
  return low < high ? [low, unproven ? 1 : high] : undefined;
}

function sideBySide(charts: readonly (readonly string[])[], pitch: number): string[] {
  const lines = Math.max(...charts.map((chart) => chart.length));
  return Array.from({ length: lines }, (_, index) => {
    let text = '';
    for (const [place, chart] of charts.entries()) {
      const missing = place * pitch - stripVTControlCharacters(text).length;
      if (chart[index] !== undefined) text += ' '.repeat(Math.max(0, missing)) + chart[index];
    }
    return text;
  });
}

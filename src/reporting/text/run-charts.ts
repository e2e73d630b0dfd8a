import { stripVTControlCharacters } from 'node:util';
import type { Colours } from '../../cli/terminal.ts';
import type { Task } from '../../problem/losses/loss.ts';
import { seenRange } from '../../runs/range.ts';
import type { TextChart, TextPoint, TextSeries } from '../charts/text.ts';
import { textChart } from '../charts/text.ts';
import { formatNumber } from '../format.ts';
import type { RunSeries } from '../records/record.ts';

/** What is drawn of a run. */
export type Curves = Omit<RunSeries, 'passes' | 'bytes'>;

export interface RunChartsOptions {
  /** Characters and lines that there is room for. */
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
  readonly ascii: boolean;
  readonly task: Task;
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
    x: { label: 'epochs', scale: 'linear', zero: true, time },
    colours,
    ascii,
  };
}

/** How many times less than the smallest gap a tolerance may be that is drawn. */
const farthest = 1e6;

function plotsOf(curves: Curves, options: RunChartsOptions): Plot[] {
  const { task, vector } = options;
  const tolerance = visibleTolerance(curves.relativeGap, options.tolerance);
  const across = options.over === 'epochs' ? curves.epoch : curves.seconds;
  const line = (name: string, values: readonly (number | null)[]): TextSeries => ({
    name,
    points: values.map((y, index): TextPoint => [across[index], y]),
  });
  const part = vector ? `, class ${vector.index + 1} of ${vector.count}` : '';
  const plots: Plot[] = [
    {
      series: [line('relative gap', curves.relativeGap)],
      y: {
        label: `relative gap${part}`,
        scale: 'log',
        focus: provenRange(curves.relativeGap, tolerance),
      },
      rules: tolerance > 0 ? [{ y: tolerance, label: `tolerance ${formatNumber(tolerance)}` }] : [],
    },
    {
      series: [line('objective', curves.primal), line('lower bound', curves.dual)],
      y: {
        label: 'objective',
        scale: 'linear',
        focus: seenRange([curves.primal], [curves.dual], false),
      },
    },
  ];
  const { testError, testAuprc } = curves;
  if (testError) {
    const isError = task === 'classification';
    const values = testError.map((error) => error && (isError ? 100 : 1) * error);
    plots.push(testPlot(isError ? 'error' : 'mse', isError ? ', %' : '', line('test', values)));
  }
  if (testAuprc) plots.push(testPlot('AUPRC', '', line('test', testAuprc)));
  return plots;

  /** Of several vectors each is tested by itself: its class is told from all others together. */
  function testPlot(what: string, unit: string, series: TextSeries): Plot {
    const name = vector ? `${what} of class ${vector.index + 1} against the rest` : `test ${what}`;
    return { series: [series], y: { label: `${name}${unit}`, scale: 'linear' } };
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

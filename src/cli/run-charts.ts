import { stripVTControlCharacters } from 'node:util';
import type { Task } from '../losses/loss.ts';
import type { RunSeries } from '../runs/record.ts';
import type { Colours } from './terminal.ts';
import { formatNumber } from './text.ts';
import type { TextChart, TextPoint, TextSeries } from './text-chart.ts';
import { textChart } from './text-chart.ts';

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
  /** Which of several vectors this is, "class 2 of 5". */
  readonly part?: string | undefined;
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

function plotsOf(curves: Curves, options: RunChartsOptions): Plot[] {
  const { tolerance, task, part } = options;
  const across = options.over === 'epochs' ? curves.epoch : curves.seconds;
  const line = (name: string, values: readonly (number | null)[]): TextSeries => ({
    name,
    points: values.map((y, index): TextPoint => [across[index], y]),
  });
  const label = part === undefined ? 'relative gap' : `relative gap, ${part}`;
  const plots: Plot[] = [
    {
      series: [line('relative gap', curves.relativeGap)],
      y: { label, scale: 'log', focus: provenRange(curves.relativeGap, tolerance) },
      rules: tolerance > 0 ? [{ y: tolerance, label: `tolerance ${formatNumber(tolerance)}` }] : [],
    },
    {
      series: [line('objective', curves.primal), line('lower bound', curves.dual)],
      y: {
        label: 'objective',
        scale: 'linear',
        focus: settledRange(curves, curves.primal, curves.dual),
      },
    },
  ];
  if (curves.testError) {
    const [name, factor] =
      task === 'classification' ? (['test error, %', 100] as const) : (['test mse', 1] as const);
    const values = curves.testError.map((error) => (error === null ? null : factor * error));
    const focus = settledRange(curves, values);
    plots.push({ series: [line(name, values)], y: { label: name, scale: 'linear', focus } });
  }
  if (curves.testAuprc) {
    const focus = settledRange(curves, curves.testAuprc);
    const series = [line('test AUPRC', curves.testAuprc)];
    plots.push({ series, y: { label: 'test AUPRC', scale: 'linear', focus } });
  }
  return plots;
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

/** Part of the time that may lie outside of the picture: the first epochs begin far away. */
const start = 0.2;
/** Of fewer points all are worth seeing. */
const fewPoints = 10;

/** From the least to the largest value once a run has begun in earnest. */
function settledRange(
  { seconds }: Curves,
  ...lines: readonly (readonly (number | null)[])[]
): [number, number] | undefined {
  if (seconds.length < fewPoints) return undefined;
  const [first, last] = [seconds[0], seconds[seconds.length - 1]];
  const begun = first + start * (last - first);
  let [low, high] = [Infinity, -Infinity];
  for (const [index, second] of seconds.entries()) {
    if (second < begun) continue;
    for (const line of lines) {
      const value = line[index];
      if (value === null || !Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return low < high ? [low, high] : undefined;
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

import type { FigureAxis } from '../../src/dashboard/api.ts';
import { type Alignment, align, domainOf } from './align.ts';
import { appearanceOf } from './appearance.ts';
import type { ChartSeries, Quantity } from './quantity.ts';
import { isShown, valueRange } from './range.ts';
import type { Range, View } from './view.ts';

/** A run that is shown, with as much of its course as is loaded. */
export interface ShownRun {
  readonly id: string;
  readonly place: number;
  readonly series: ChartSeries | undefined;
}

export interface ChartLine {
  readonly id: string;
  readonly color: string;
  readonly dash: readonly number[];
  readonly width: number;
  readonly alpha: number;
}

/** All that a chart draws. */
export interface ChartModel {
  readonly lines: readonly ChartLine[];
  readonly xs: readonly number[];
  /** A column for each line. */
  readonly columns: readonly (number | null)[][];
  readonly x: Range;
  readonly y: Range;
  readonly xlog: boolean;
  readonly ylog: boolean;
  readonly axis: FigureAxis;
}

/** With more runs than this only the one in focus has its bound drawn and its full strength. */
const few = 12;
/** Positions along the x axis for each pixel: with many runs, and while they move, fewer will do. */
const density = { few: 2, many: 1, moving: 0.25 };

/** The part of the x axis that all charts show together. */
export function shownRange(view: View, runs: readonly ShownRun[]): Range {
  return view.zoom ?? wholeRange(view, runs);
}

/** All of the x axis; a linear one begins at 0 unless the curves begin far from there. */
export function wholeRange({ x, xlog }: View, runs: readonly ShownRun[]): Range {
  const [from, to] = domainOf(curvesOf(x, runs), xlog) ?? [xlog ? 0.1 : 0, 1];
  if (xlog) return from < to ? [from, to] : [from / 2, to * 2];
  const start = from < to / 4 ? Math.min(0, from) : from;
  return start < to ? [start, to] : [start, start + 1];
}

/** The positions of the curves, which all charts of about the same width share. */
export function alignRuns(
  view: View,
  runs: readonly ShownRun[],
  width: number,
  moving: boolean,
): Alignment {
  const range = shownRange(view, runs);
  const from = view.xlog && !(range[0] > 0) ? wholeRange(view, runs)[0] : range[0];
  const curves = curvesOf(view.x, runs);
  const kind = runs.length <= few ? 'few' : moving ? 'moving' : 'many';
  return align(curves, [from, range[1]], Math.round(width * density[kind]), view.xlog);
}

export function chartModel(
  view: View,
  quantity: Quantity,
  runs: readonly ShownRun[],
  focus: string | undefined,
  alignment: Alignment,
): ChartModel {
  const ylog = view.ylog.includes(quantity.key);
  const lines: ChartLine[] = [];
  const columns: (number | null)[][] = [];
  const bounds: (number | null)[][] = [];
  // What is drawn last lies on top.
  const order = runs.map((_, index) => index).sort((a, b) => rank(a) - rank(b));
  function rank(index: number): number {
    return runs[index].id === focus ? runs.length : index;
  }
  for (const index of order) {
    const { id, place, series } = runs[index];
    const strong = id === focus;
    for (const name of quantity.columns) {
      const bound = name === 'dual';
      if (bound && runs.length > few && !strong) continue;
      const column = gather(series?.[name], alignment.places[index], ylog);
      if (bound) bounds.push(column);
      columns.push(column);
      lines.push({ id, ...lineStyle(place, bound, strong, runs.length) });
    }
  }
  return {
    lines,
    xs: alignment.xs,
    columns,
    x: shownRange(view, runs),
    y: valueRange(
      columns.filter((column) => !bounds.includes(column)),
      bounds,
      ylog,
    ),
    xlog: view.xlog,
    ylog,
    axis: view.x,
  };
}

/** Whether any of the runs has a value of the quantity. */
export function hasValues({ columns }: Quantity, runs: readonly ShownRun[]): boolean {
  return runs.some(({ series }) => series?.[columns[0]]?.some((value) => value !== null) ?? false);
}

function lineStyle(place: number, bound: boolean, strong: boolean, runs: number) {
  const { color, dash } = appearanceOf(place);
  if (bound) return { color, dash: [1.5, 3], width: strong ? 1.75 : 1.25, alpha: 0.85 };
  if (strong) return { color, dash, width: runs > 1 ? 2.5 : 2, alpha: 1 };
  // Lines of one pixel are drawn several times as fast as wider ones.
  return runs > few
    ? { color, dash, width: 1, alpha: 0.75 }
    : { color, dash, width: 1.5, alpha: 1 };
}

function curvesOf(axis: FigureAxis, runs: readonly ShownRun[]): (readonly number[])[] {
  return runs.map(({ series }) => series?.[axis] ?? []);
}

function gather(
  values: readonly (number | null)[] | undefined,
  places: Int32Array,
  log: boolean,
): (number | null)[] {
  const column = Array<number | null>(places.length).fill(null);
  if (!values) return column;
  for (let index = 0; index < places.length; index++) {
    const value = values[places[index]];
    if (isShown(value, log)) column[index] = value;
  }
  return column;
}

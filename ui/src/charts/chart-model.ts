import type { FigureAxis } from '../../../src/apps/dashboard/api.ts';
import { isShown, paddedRange } from '../../../src/reporting/charts/axis.ts';
import type { ChartQuantity, ChartSeries } from '../../../src/reporting/charts/quantities.ts';
import { type SymbolName, styleOf } from '../../../src/reporting/charts/series-style.ts';
import { type Alignment, align, domainOf } from './align.ts';
import { type Range, type View, withRules } from './view.ts';

/** Colours with a contrast of less than 3 to white, on which a thin line is hardly seen. */
const paleColors = new Set(['#E69F00', '#56B4E9', '#CC79A7']);

/** How the curve of a run looks, by its slot among those that are shown. */
export function appearanceOf(slot: number) {
  // Without a name, so that the slot alone decides.
  const { color, dash, symbol } = styleOf('', slot);
  const dashes = dash === undefined ? [] : dash.split(' ').map(Number);
  return { color, dash: dashes, symbol, pale: paleColors.has(color) };
}

/** A run that is shown, with the points that are loaded. */
export interface ShownRun {
  readonly id: string;
  readonly slot: number;
  readonly series: ChartSeries | undefined;
  readonly running?: boolean;
  readonly task?: 'classification' | 'regression';
  readonly tolerance?: number;
  /** Vectors of weights, of which the series is of one. */
  readonly vectors?: number;
}

export interface ChartLine {
  readonly id: string;
  readonly color: string;
  readonly dash: readonly number[];
  readonly width: number;
  readonly alpha: number;
  /** At its end and at some points along it, from a part of their distance on. */
  readonly symbol?: SymbolName;
  readonly stagger?: number;
}

/** The best value of a curve that has been worse since. */
export interface ChartDot {
  readonly x: number;
  readonly value: number;
  readonly color: string;
  /** Next to the dot: "least". */
  readonly word?: string;
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
  /** Values of y to compare with: tolerances. */
  readonly rules: readonly number[];
  readonly dots: readonly ChartDot[];
}

/** With more runs than this only the one in focus has its bound drawn and its full strength. */
const few = 12;
/** More tolerances than this would be confusing. */
const mostRules = 3;
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
  if (start < to) return [start, to];
  // One point alone is in the middle.
  return to > 0 ? [0, 2 * to] : [to, to + 1];
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
  quantity: ChartQuantity,
  runs: readonly ShownRun[],
  focus: string | undefined,
  alignment: Alignment,
): ChartModel {
  const ylog = view.ylog.includes(quantity.key);
  const lines: ChartLine[] = [];
  const columns: (number | null)[][] = [];
  const bounds: (number | null)[][] = [];
  // What is drawn last is on top.
  const order = runs.map((_, index) => index).sort((a, b) => rank(a) - rank(b));
  function rank(index: number): number {
    return runs[index].id === focus ? runs.length : index;
  }
  for (const index of order) {
    const { id, slot, series } = runs[index];
    const strong = id === focus;
    for (const name of quantity.columns) {
      const bound = name === 'dual';
      if (bound && runs.length > few && !strong) continue;
      const column = gather(series?.[name], alignment.indices[index], ylog);
      if (bound) bounds.push(column);
      columns.push(column);
      lines.push({ id, ...lineStyle(slot, bound, strong, runs.length) });
    }
  }
  const curves = columns.filter((column) => !bounds.includes(column));
  const values = paddedRange(curves, bounds, ylog);
  const rules = quantity.key === 'gap' ? tolerancesOf(runs) : [];
  return {
    lines,
    xs: alignment.xs,
    columns,
    x: shownRange(view, runs),
    // A part of the curves has its own range of values.
    y: view.zoom ? values : withRules(values, rules, ylog),
    xlog: view.xlog,
    ylog,
    axis: view.x,
    rules,
    dots: dotsOf(view, quantity, runs, focus),
  };
}

function tolerancesOf(runs: readonly ShownRun[]): number[] {
  const all = new Set(runs.flatMap(({ tolerance }) => tolerance ?? []));
  return all.size <= mostRules ? [...all] : [];
}

function dotsOf(
  view: View,
  { columns, best }: ChartQuantity,
  runs: readonly ShownRun[],
  focus: string | undefined,
): ChartDot[] {
  if (!best) return [];
  const marked = runs.length > few ? runs.filter(({ id }) => id === focus) : runs;
  return marked.flatMap(({ id, slot, series }) => {
    const at = bestPoint(series?.[columns[0]] ?? [], best);
    if (!series || at === undefined) return [];
    const { color } = appearanceOf(slot);
    const point = { x: series[view.x][at], value: series[columns[0]]![at]!, color };
    return [id === focus ? { ...point, word: best } : point];
  });
}

function lineStyle(slot: number, bound: boolean, strong: boolean, runs: number) {
  const { color, dash, symbol, pale } = appearanceOf(slot);
  if (bound) return { color, dash: [1.5, 3], width: strong ? 1.75 : 1.25, alpha: 0.85 };
  // Lines of one pixel are drawn several times as fast as wider ones.
  if (runs > few) return { color, dash, width: strong ? 2.5 : 1, alpha: strong ? 1 : 0.75 };
  if (runs === 1) return { color, dash, width: 2, alpha: 1 };
  const stagger = (slot * 0.38) % 1;
  return { color, dash, symbol, stagger, width: strong ? 2.5 : pale ? 2 : 1.5, alpha: 1 };
}

function curvesOf(axis: FigureAxis, runs: readonly ShownRun[]): (readonly number[])[] {
  return runs.map(({ series }) => series?.[axis] ?? []);
}

function gather(
  values: readonly (number | null)[] | undefined,
  indices: Int32Array,
  log: boolean,
): (number | null)[] {
  const column = Array<number | null>(indices.length).fill(null);
  if (!values) return column;
  for (let index = 0; index < indices.length; index++) {
    const value = values[indices[index]];
    if (isShown(value, log)) column[index] = value;
  }
  return column;
}

/** So much worse than the best, relative to it, is more than wavering. */
const worse = 0.02;

/** Where the best of some values is, if the last one is clearly worse. */
export function bestPoint(
  values: readonly (number | null)[],
  best: 'least' | 'most',
): number | undefined {
  const sign = best === 'least' ? 1 : -1;
  let at = -1;
  let last = -1;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value === null || !Number.isFinite(value)) continue;
    last = index;
    if (at < 0 || sign * value < sign * values[at]!) at = index;
  }
  if (at < 0) return undefined;
  const loss = sign * (values[last]! - values[at]!);
  return loss > worse * Math.abs(values[at]!) ? at : undefined;
}

/** Widths are rounded up to this, so that charts side by side share positions. */
const widthStep = 100;

/** The alignment of the runs, computed once for all charts that need the same. */
export class SharedAlignment {
  #runs: readonly ShownRun[] | undefined;
  #view: View | undefined;
  #moving = false;
  readonly #byWidth = new Map<number, Alignment>();

  /** `runs` is another array whenever its curves have changed. */
  get(view: View, runs: readonly ShownRun[], width: number, moving: boolean): Alignment {
    if (runs !== this.#runs || view !== this.#view || moving !== this.#moving) {
      this.#byWidth.clear();
    }
    this.#runs = runs;
    this.#view = view;
    this.#moving = moving;
    const rounded = Math.ceil(width / widthStep) * widthStep;
    const known = this.#byWidth.get(rounded);
    if (known) return known;
    const made = alignRuns(view, runs, rounded, moving);
    this.#byWidth.set(rounded, made);
    return made;
  }
}

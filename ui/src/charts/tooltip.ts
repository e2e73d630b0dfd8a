import { isShown } from '../../../src/reporting/charts/axis.ts';
import { indexAt } from './align.ts';

/** Where the pointer or the keyboard is on a chart. */
export interface CursorPosition {
  readonly x: number;
  /** Pixels within the plotted area, and where that begins. */
  readonly left: number;
  readonly top: number;
  readonly offset: { readonly left: number; readonly top: number };
  readonly width: number;
  readonly position: (value: number) => number;
}

export interface ReadingSource {
  readonly id: string;
  readonly xs: readonly number[];
  readonly values: readonly (number | null)[] | undefined;
}

export interface Reading {
  readonly id: string;
  readonly value: number;
  /** Where the curve has come to its end, if that is before. */
  readonly end?: number;
}

/**
 * What the curves have at an x, or had last. Of many only those nearest to a height, which
 * `position` gives of a value; from top to bottom.
 */
export function readingsAt(
  sources: readonly ReadingSource[],
  x: number,
  options: { height: number; position: (value: number) => number; most: number },
): { readonly shown: readonly Reading[]; readonly more: number } {
  const all = sources.flatMap((source) => readingOf(source, x) ?? []);
  // A logarithmic axis cannot show 0; the tooltip does.
  const distance = ({ value }: Reading) => {
    const away = Math.abs(options.position(value) - options.height);
    return Number.isFinite(away) ? away : Number.MAX_VALUE;
  };
  const shown = all.toSorted((a, b) => distance(a) - distance(b)).slice(0, options.most);
  return {
    shown: shown.sort((a, b) => b.value - a.value),
    more: all.length - shown.length,
  };
}

function readingOf({ id, xs, values }: ReadingSource, x: number): Reading | undefined {
  const end = xs.at(-1);
  if (!values || end === undefined) return undefined;
  const value = values[x > end ? xs.length - 1 : indexAt(xs, x)];
  if (!isShown(value, false)) return undefined;
  return x > end ? { id, value, end } : { id, value };
}

/** The chart that readings belong to, and what is free on both sides of it, in pixels. */
export interface Surroundings {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const gap = 12;
/** Readings that are wider or higher than these parts of a chart would hide what they are of. */
const most = { width: 0.62, height: 0.4 };

/**
 * Where the readings stand, from the corner of the chart: next to the crosshair as long as they
 * are few, otherwise next to the chart, and where nothing is free there, below it.
 */
export function tooltipPosition(
  { left, offset, width: plotted }: Pick<CursorPosition, 'left' | 'offset' | 'width'>,
  box: Size,
  chart: Surroundings,
): { readonly left: number; readonly top: number } {
  const fits = box.height <= most.height * chart.height && box.width <= most.width * chart.width;
  const top = offset.top + 4;
  if (!fits && box.width + gap <= chart.right) return { left: chart.width + gap, top };
  if (!fits && box.width + gap <= chart.left) return { left: -box.width - gap, top };
  const isNarrow = box.width > (plotted - 2 * gap) / 2;
  if (!fits && isNarrow) return { left: 0, top: chart.height };
  const after = offset.left + left + gap;
  const isBefore = after + box.width > offset.left + plotted;
  return { left: isBefore ? Math.max(0, offset.left + left - gap - box.width) : after, top };
}

import type { Range } from './view.ts';

type Values = readonly (number | null)[];

/** A part of the height that stays empty above and below. */
const margin = 0.04;

/** Whether an axis can show a value. */
export function isShown(value: number | null | undefined, log: boolean): value is number {
  return typeof value === 'number' && Number.isFinite(value) && (!log || value > 0);
}

/**
 * The range of a y axis. `bounds` are curves that are far below at first and come up: on a linear
 * axis they get no more than half as much room as the others, so that these stay readable.
 */
export function valueRange(
  columns: readonly Values[],
  bounds: readonly Values[],
  log: boolean,
): Range {
  const main = extent(columns, log);
  const lower = extent(bounds, log);
  const all = main ?? lower;
  if (!all) return log ? [0.1, 1] : [0, 1];
  const [least, most] = all;
  const floor = log ? least / 10 : least - Math.max((most - least) / 2, Math.abs(most) * 1e-3);
  // Bounds that are out of reach altogether get no room at all.
  const reached = lower !== undefined && lower[1] > floor;
  const lowest = reached ? Math.min(least, Math.max(lower[0], floor)) : least;
  return (log ? widenLog : widen)([lowest, most]);
}

/** Moves a range by a part of its width; both ends are values of the axis. */
export function panRange(range: Range, part: number, log: boolean): Range {
  return mapRange(range, log, ([from, to]) => {
    const step = part * (to - from);
    return [from + step, to + step];
  });
}

/** Makes a range narrower (factor < 1) or wider around a point of it, by default its middle. */
export function zoomRange(range: Range, factor: number, log: boolean, around?: number): Range {
  return mapRange(range, log, ([from, to]) => {
    const middle = around === undefined ? (from + to) / 2 : log ? Math.log(around) : around;
    return [middle - (middle - from) * factor, middle + (to - middle) * factor];
  });
}

/** The range within limits, or undefined when it is all of them: then nothing is zoomed. */
export function withinLimits(range: Range, limits: Range, log: boolean): Range | undefined {
  const position = (value: number) => (log ? Math.log(value) : value);
  const value = (at: number) => (log ? Math.exp(at) : at);
  const [low, high] = limits.map(position);
  const [from, to] = range.map(position);
  const width = to - from;
  // A tolerance for what rounding does on the way.
  if (!(width > 0) || width >= (high - low) * (1 - 1e-9)) return undefined;
  const start = Math.min(Math.max(from, low), high - width);
  return [value(start), value(start + width)];
}

function mapRange(range: Range, log: boolean, change: (range: Range) => Range): Range {
  if (!log) return change(range);
  const [from, to] = change([Math.log(range[0]), Math.log(range[1])]);
  return [Math.exp(from), Math.exp(to)];
}

function extent(columns: readonly Values[], log: boolean): Range | undefined {
  let least = Infinity;
  let most = -Infinity;
  for (const column of columns) {
    for (const value of column) {
      if (!isShown(value, log)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return least <= most ? [least, most] : undefined;
}

function widen([least, most]: Range): Range {
  const empty = most > least ? (most - least) * margin : Math.abs(most) * 0.05 || 1;
  return [least - empty, most + empty];
}

function widenLog([least, most]: Range): Range {
  const ratio = Math.max((most / least) ** margin, 1.05);
  return [least / ratio, most * ratio];
}

import { aroundValue } from '../math/format-number.ts';

export type Range = readonly [low: number, high: number];

type Values = readonly (number | null)[];

/** A part of the height that stays empty above and below. */
const margin = 0.04;

/** Whether an axis can show a value. */
export function isShown(value: number | null | undefined, log: boolean): value is number {
  return typeof value === 'number' && Number.isFinite(value) && (!log || value > 0);
}

/**
 * The values that a y axis has to show; undefined if there are none. `bounds` are curves that are
 * far below at first and come up: they get no more than half as much room as the others on a linear
 * axis, and a factor of ten on a logarithmic one, so that the others stay readable.
 */
export function seenRange(
  columns: readonly Values[],
  bounds: readonly Values[],
  log: boolean,
): Range | undefined {
  const main = extent(columns, log);
  const lower = extent(bounds, log);
  if (!main || !lower) return main ?? lower;
  const [least, most] = main;
  const floor = log ? least / 10 : least - Math.max((most - least) / 2, Math.abs(most) * 1e-3);
  if (lower[1] > floor) return [Math.min(least, Math.max(lower[0], floor)), most];
  // Bounds that are out of reach altogether get no room at all, unless the others need none.
  const isNear = least === most && lower[1] >= least - Math.abs(most);
  return [isNear ? lower[1] : least, most];
}

/** The same with some empty room around it, and a range for an axis without values. */
export function valueRange(
  columns: readonly Values[],
  bounds: readonly Values[],
  log: boolean,
): Range {
  const seen = seenRange(columns, bounds, log);
  if (!seen) return log ? [0.1, 1] : [0, 1];
  return (log ? widenLog : widen)(seen);
}

function extent(columns: readonly Values[], log: boolean): Range | undefined {
  let [least, most] = [Infinity, -Infinity];
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
  const [low, high] = most > least ? [least, most] : aroundValue(most, 0.05);
  const empty = (high - low) * margin;
  return [low - empty, high + empty];
}

function widenLog([least, most]: Range): Range {
  const ratio = Math.max((most / least) ** margin, 1.05);
  return [least / ratio, most * ratio];
}

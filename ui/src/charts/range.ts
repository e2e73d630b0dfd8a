import type { Range } from './view.ts';

/**
 * The range with values to compare with in it, as far as they are near: a goal that is further away
 * on a logarithmic axis than two powers of ten would leave the curves too little room.
 */
export function withRules([least, most]: Range, rules: readonly number[], log: boolean): Range {
  if (!log) return [least, most];
  const near = rules.filter((rule) => rule >= least / 100 && rule <= most * 10);
  const reach = 1.3;
  return [
    Math.min(least, ...near.map((rule) => rule / reach)),
    Math.max(most, ...near.map((rule) => rule * reach)),
  ];
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

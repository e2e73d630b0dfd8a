import type { Range } from './view.ts';

/** Curves on common positions, as a chart with one x column needs them. */
export interface Alignment {
  readonly xs: readonly number[];
  /** Whether the positions are the curves' own. */
  readonly exact: boolean;
  /** For each curve and position, the index of the curve's value there, or −1: a line spans those. */
  readonly indices: readonly Int32Array[];
}

/** Up to this many positions, and points of all curves, the curves' own are taken. */
const exactPositions = 4000;
const exactPoints = 20_000;
/** Of more curves than this most have nothing at most of their common positions. */
const fewCurves = 12;

/** First and last x of all curves; on a logarithmic axis of the positive ones. */
export function domainOf(curves: readonly (readonly number[])[], log: boolean): Range | undefined {
  let from = Infinity;
  let to = -Infinity;
  for (const xs of curves) {
    const first = log ? upperBound(xs, 0) : 0;
    if (first >= xs.length) continue;
    from = Math.min(from, xs[first]);
    to = Math.max(to, xs[xs.length - 1]);
  }
  return from <= to ? [from, to] : undefined;
}

/**
 * Puts curves, given by their ascending x values, on common positions within a range: their own
 * where those are few, and otherwise evenly spaced ones, where each curve has its last value at or
 * before the position, and none before its first point and after its last. Where that is the value
 * of the position before, it is left out, or a curve with few points would have steps.
 */
export function align(
  curves: readonly (readonly number[])[],
  range: Range,
  positions: number,
  log: boolean,
): Alignment {
  const most = curves.length > fewCurves ? 2 * positions : exactPositions;
  const own = ownPositions(curves, range, log, Math.min(most, exactPositions));
  if (own) return { xs: own, exact: true, indices: curves.map((xs) => exactIndices(xs, own)) };
  const spaced = spacedPositions(range, Math.max(2, positions), log);
  return { xs: spaced, exact: false, indices: curves.map((xs) => lastIndices(xs, spaced)) };
}

/** The index of the last value at or before x, or −1. */
export function indexAt(xs: readonly number[], x: number): number {
  const { length } = xs;
  return length > 0 && x <= xs[length - 1] ? upperBound(xs, x) - 1 : -1;
}

/** The x values in a range and one on each side of it, or undefined when there are too many. */
function ownPositions(
  curves: readonly (readonly number[])[],
  [from, to]: Range,
  log: boolean,
  most: number,
): number[] | undefined {
  const all = new Set<number>();
  let points = 0;
  for (const xs of curves) {
    const smallest = log ? upperBound(xs, 0) : 0;
    const first = Math.max(smallest, upperBound(xs, from) - 1);
    const last = Math.min(xs.length - 1, upperBound(xs, to));
    points += Math.max(0, last - first + 1);
    if (points > exactPoints) return undefined;
    for (const x of xs.slice(first, last + 1)) all.add(x);
    if (all.size > most) return undefined;
  }
  return [...all].sort((a, b) => a - b);
}

function spacedPositions([from, to]: Range, count: number, log: boolean): number[] {
  const [low, high] = log ? [Math.log(from), Math.log(to)] : [from, to];
  const xs = Array.from({ length: count }, (_, index) => {
    const at = low + ((high - low) * index) / (count - 1);
    return log ? Math.exp(at) : at;
  });
  // Without what rounding does to the ends, where a curve may have its last point.
  xs[0] = from;
  xs[count - 1] = to;
  return xs;
}

function exactIndices(xs: readonly number[], positions: readonly number[]): Int32Array {
  const indices = new Int32Array(positions.length).fill(-1);
  let next = 0;
  for (const [index, position] of positions.entries()) {
    while (next < xs.length && xs[next] < position) next++;
    // Of points with the same x the last one counts.
    while (next < xs.length && xs[next] === position) indices[index] = next++;
  }
  return indices;
}

function lastIndices(xs: readonly number[], positions: readonly number[]): Int32Array {
  const indices = new Int32Array(positions.length).fill(-1);
  const end = xs.at(-1) ?? -Infinity;
  let before = -1;
  let last = -1;
  let next = upperBound(xs, positions[0]);
  for (let index = 0; index < positions.length && positions[index] <= end; index++) {
    while (next < xs.length && xs[next] <= positions[index]) next++;
    if (next - 1 !== before) indices[index] = next - 1;
    before = next - 1;
    last = index;
  }
  // To its end, or to that of the range.
  if (last >= 0) indices[last] = before;
  return indices;
}

/** The number of leading values that are not above x. */
function upperBound(xs: readonly number[], x: number): number {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

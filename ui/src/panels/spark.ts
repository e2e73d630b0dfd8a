/** A small line chart without axes. */

export interface SparkPoint {
  readonly x: number;
  /** null: nothing is known here, and the line has a gap. */
  readonly y: number | null;
}

export interface SparkBox {
  readonly width: number;
  readonly height: number;
  /** Ranges of both axes; those of the points if left out. */
  readonly x?: readonly [number, number];
  readonly y?: readonly [number, number];
}

function rangeOf(values: readonly number[]): readonly [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

/** From the least to the most that is known, and 0. */
export function rangeWithZero(points: readonly SparkPoint[]): readonly [number, number] {
  return rangeOf([0, ...points.flatMap(({ y }) => (y === null ? [] : [y]))]);
}

/** Tenths of a pixel are enough, and keep paths short. */
const tenths = (value: number) => String(Math.round(10 * value) / 10);

/** From a range to 0 … length; into the middle where the range is a point. */
function scale([low, high]: readonly [number, number], length: number) {
  return (value: number) => (high > low ? ((value - low) / (high - low)) * length : length / 2);
}

/** Pixels of a point that has no neighbour: less looks like dust. */
const dash = 4;

/** The path of the line; a point that has no neighbour becomes a dash. */
export function sparkPath(points: readonly SparkPoint[], box: SparkBox): string {
  const known = points.filter((point) => point.y !== null);
  if (known.length === 0) return '';
  const across = scale(box.x ?? rangeOf(points.map((point) => point.x)), box.width);
  const up = scale(box.y ?? rangeOf(known.map((point) => point.y!)), box.height);
  const pointText = (x: number, y: number) => `${tenths(x)} ${tenths(box.height - y)}`;
  let path = '';
  points.forEach((point, k) => {
    if (point.y === null) return;
    const isFirst = (points[k - 1]?.y ?? null) === null;
    const isAlone = isFirst && (points[k + 1]?.y ?? null) === null;
    const [x, y] = [across(point.x), up(point.y)];
    if (isAlone) {
      const start = Math.min(Math.max(0, x - dash / 2), box.width - dash);
      path += `M${pointText(start, y)}h${dash}`;
    } else path += `${isFirst ? 'M' : 'L'}${pointText(x, y)}`;
  });
  return path;
}

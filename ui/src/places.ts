import type { ChartModel } from './charts/chart-model.ts';
import type { Range } from './charts/view.ts';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Where on the canvas the values of a chart are. */
export interface Places {
  /** Of the positions of the model. */
  readonly xs: Float64Array;
  readonly placeOf: (x: number) => number;
  readonly heightOf: (value: number) => number;
}

export function placesOf({ xs, x, y, xlog, ylog }: ChartModel, box: Box): Places {
  const placeOf = scaleOf(x, xlog, box.left, box.width);
  return {
    xs: Float64Array.from(xs, placeOf),
    placeOf,
    heightOf: scaleOf(y, ylog, box.top + box.height, -box.height),
  };
}

function scaleOf(
  range: Range,
  log: boolean,
  start: number,
  length: number,
): (value: number) => number {
  const [low, high] = log ? [Math.log(range[0]), Math.log(range[1])] : range;
  const scale = length / (high - low);
  return log
    ? (value) => start + (Math.log(value) - low) * scale
    : (value) => start + (value - low) * scale;
}

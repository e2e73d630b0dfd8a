import type { ChartLine, ChartModel } from './chart-model.ts';
import type { Range } from './view.ts';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** What of a canvas's context is drawn with. */
export interface Pen {
  strokeStyle: unknown;
  lineWidth: number;
  lineJoin: string;
  globalAlpha: number;
  save(): void;
  restore(): void;
  beginPath(): void;
  rect(left: number, top: number, width: number, height: number): void;
  clip(): void;
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  stroke(): void;
  setLineDash(lengths: number[]): void;
}

/** Draws the curves into a box, those of one style with one stroke, in the order of the model. */
export function drawCurves(pen: Pen, model: ChartModel, box: Box, pixels: number): void {
  const xs = positionsOf(model.xs, model.x, model.xlog, box.left, box.width);
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.width, box.height);
  pen.clip();
  pen.lineJoin = 'round';
  for (const [line, columns] of groupsOf(model)) {
    pen.beginPath();
    for (const column of columns) trace(pen, xs, column, model, box);
    pen.strokeStyle = line.color;
    pen.lineWidth = line.width * pixels;
    pen.globalAlpha = line.alpha;
    pen.setLineDash(line.dash.map((length) => length * pixels));
    pen.stroke();
  }
  pen.restore();
}

type Column = readonly (number | null)[];

function groupsOf({ lines, columns }: ChartModel): (readonly [ChartLine, Column[]])[] {
  const groups = new Map<string, readonly [ChartLine, Column[]]>();
  for (const [index, line] of lines.entries()) {
    const { color, dash, width, alpha } = line;
    const key = `${color} ${dash.join()} ${width} ${alpha}`;
    const group = groups.get(key);
    if (group) group[1].push(columns[index]);
    else groups.set(key, [line, [columns[index]]]);
  }
  return [...groups.values()];
}

function trace(pen: Pen, xs: Float64Array, column: Column, model: ChartModel, box: Box): void {
  const { y, ylog } = model;
  const [low, high] = ylog ? [Math.log(y[0]), Math.log(y[1])] : y;
  const scale = box.height / (high - low);
  const bottom = box.top + box.height;
  let begun = false;
  let single = -1;
  for (let index = 0; index < xs.length; index++) {
    const value = column[index];
    if (value === null) continue;
    const height = bottom - ((ylog ? Math.log(value) : value) - low) * scale;
    if (begun) pen.lineTo(xs[index], height);
    else pen.moveTo(xs[index], height);
    single = begun ? -1 : height;
    begun = true;
  }
  // One point alone would be no line: it gets a short one.
  if (single >= 0) {
    const at = xs[column.findIndex((value) => value !== null)];
    pen.moveTo(at - 3, single);
    pen.lineTo(at + 3, single);
  }
}

function positionsOf(
  values: readonly number[],
  range: Range,
  log: boolean,
  start: number,
  length: number,
): Float64Array {
  const [low, high] = log ? [Math.log(range[0]), Math.log(range[1])] : range;
  const scale = length / (high - low);
  return Float64Array.from(
    values,
    (value) => start + ((log ? Math.log(value) : value) - low) * scale,
  );
}

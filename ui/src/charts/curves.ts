import type { ChartLine, ChartModel } from './chart-model.ts';
import type { Range } from './view.ts';

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
export function drawCurves(
  pen: Pen,
  model: ChartModel,
  box: Box,
  pixels: number,
  scales = pixelScales(model, box),
): void {
  pen.save();
  pen.beginPath();
  pen.rect(box.left, box.top, box.width, box.height);
  pen.clip();
  pen.lineJoin = 'round';
  for (const [line, columns] of groupsOf(model)) {
    pen.beginPath();
    for (const column of columns) trace(pen, column, scales, box);
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

/** Pixels around the box that a line still goes to. */
const around = 100;

/**
 * A path with parts millions of pixels long is drawn without its dashes: what is far outside the
 * box is cut off where the line crosses its surroundings.
 */
function trace(pen: Pen, column: Column, { xs, heightOf }: PixelScales, box: Box): void {
  const top = box.top - around;
  const bottom = box.top + box.height + around;
  let lastX = Number.NaN;
  let lastY = Number.NaN;
  let isOut = false;
  let points = 0;
  for (let index = 0; index < xs.length; index++) {
    const value = column[index];
    if (value === null) continue;
    const x = xs[index];
    const y = heightOf(value);
    const wasOut = isOut;
    isOut = y < top || y > bottom;
    if (points++ === 0) {
      if (!isOut) pen.moveTo(x, y);
    } else if (!wasOut && !isOut) pen.lineTo(x, y);
    else traceWithin(pen, [lastX, lastY, x, y], top, bottom);
    lastX = x;
    lastY = y;
  }
}

type Segment = readonly [fromX: number, fromY: number, toX: number, toY: number];

/** The part of a straight line between two heights. */
function traceWithin(pen: Pen, segment: Segment, top: number, bottom: number): void {
  const [fromX, fromY, toX, toY] = segment;
  const part = (y: number) => (y - fromY) / (toY - fromY);
  const [first, last] = [part(top), part(bottom)].sort((a, b) => a - b);
  const [start, end] = [Math.max(0, first), Math.min(1, last)];
  if (!(start < end)) return;
  const at = (share: number): [number, number] => [
    fromX + share * (toX - fromX),
    fromY + share * (toY - fromY),
  ];
  pen.moveTo(...at(start));
  pen.lineTo(...at(end));
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Where on the canvas the values of a chart are. */
export interface PixelScales {
  /** Of the positions of the model. */
  readonly xs: Float64Array;
  readonly xOf: (x: number) => number;
  readonly heightOf: (value: number) => number;
}

export function pixelScales({ xs, x, y, xlog, ylog }: ChartModel, box: Box): PixelScales {
  const xOf = scaleOf(x, xlog, box.left, box.width);
  return {
    xs: Float64Array.from(xs, xOf),
    xOf,
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

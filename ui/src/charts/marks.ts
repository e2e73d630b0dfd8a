import type { Point } from '../../../src/reporting/charts/quantities.ts';
import { drawSymbol, type SymbolPen } from '../../../src/reporting/charts/series-style.ts';
import type { ChartDot, ChartModel } from './chart-model.ts';
import { type Box, type Pen, type PixelScales, pixelScales } from './curves.ts';

export interface MarkPen extends Pen, SymbolPen {
  fillStyle: unknown;
  font: string;
  textAlign: string;
  fill(): void;
  fillText(text: string, x: number, y: number): void;
  measureText(text: string): { readonly width: number };
}

export interface MarkStyle {
  readonly text: string;
  readonly paper: string;
  readonly font: string;
  readonly pixels: number;
  readonly format: (value: number) => string;
}

/** Between two symbols of a line, and their size, in pixels. */
const distance = 110;
const radius = 3.4;
/** Symbols on the edge of the box stay whole. */
const room = 6;

/** Tolerances as lines across, symbols on the curves, and rings where a curve was at its best. */
export function drawMarks(
  pen: MarkPen,
  model: ChartModel,
  box: Box,
  style: MarkStyle,
  scales = pixelScales(model, box),
): void {
  const { pixels } = style;
  pen.save();
  pen.beginPath();
  const edge = room * pixels;
  pen.rect(box.left - edge, box.top - edge, box.width + 2 * edge, box.height + 2 * edge);
  pen.clip();
  pen.font = style.font;
  for (const rule of model.rules) drawRule(pen, rule, model, scales, box, style);
  for (const [index, line] of model.lines.entries()) {
    const column = model.columns[index];
    // One point alone is no line: it can be seen by its symbol.
    const symbol = line.symbol ?? (isLone(column) ? 'circle' : undefined);
    if (!symbol) continue;
    pen.beginPath();
    const gap = distance * pixels;
    const marked = markedPoints(column, scales, box, gap, line.stagger ?? 0);
    const area = Math.PI * (radius * pixels) ** 2;
    for (const point of marked) drawSymbol(pen, symbol, point, area);
    pen.fillStyle = line.color;
    pen.fill();
  }
  for (const dot of model.dots) drawDot(pen, dot, model, scales, box, style);
  pen.restore();
}

function isLone(column: readonly (number | null)[]): boolean {
  const first = column.findIndex((value) => value !== null);
  return first >= 0 && column.findIndex((value, index) => index > first && value !== null) < 0;
}

function isWithin({ left, top, width, height }: Box, x: number, y: number): boolean {
  // Half a pixel for what rounding does at the edges.
  return x >= left - 0.5 && x <= left + width + 0.5 && y >= top - 0.5 && y <= top + height + 0.5;
}

/** Some points of a curve, those of different curves staggered, and its last one. */
function markedPoints(
  column: readonly (number | null)[],
  { xs, heightOf }: PixelScales,
  box: Box,
  gap: number,
  stagger: number,
): Point[] {
  const marked: Point[] = [];
  let next = box.left + stagger * gap;
  let last: Point | undefined;
  for (let index = 0; index < xs.length; index++) {
    const value = column[index];
    if (value === null) continue;
    last = [xs[index], heightOf(value)];
    if (last[0] < next || !isWithin(box, ...last)) continue;
    marked.push(last);
    // A curve with few points has symbols further apart.
    next = Math.max(last[0] + gap / 2, next + gap * (1 + Math.floor((last[0] - next) / gap)));
  }
  if (!last || !isWithin(box, ...last)) return marked;
  const [x, y] = last;
  return [...marked.filter((point) => Math.hypot(point[0] - x, point[1] - y) > gap / 5), last];
}

function drawRule(
  pen: MarkPen,
  value: number,
  model: ChartModel,
  scales: PixelScales,
  box: Box,
  { text, pixels, format }: MarkStyle,
): void {
  const y = Math.round(scales.heightOf(value));
  if (!isWithin(box, box.left, y)) return;
  pen.beginPath();
  pen.moveTo(box.left, y + 0.5);
  pen.lineTo(box.left + box.width, y + 0.5);
  pen.strokeStyle = text;
  pen.lineWidth = pixels;
  pen.setLineDash([4 * pixels, 4 * pixels]);
  pen.stroke();
  pen.setLineDash([]);
  const label = `tolerance ${format(value)}`;
  const size = { width: pen.measureText(label).width + 8 * pixels, height: 17 * pixels };
  const spot = emptiest(spotsBeside(y, size, box), model, scales);
  pen.fillStyle = text;
  pen.textAlign = 'left';
  pen.fillText(label, spot.left + 4 * pixels, spot.top + 12 * pixels);
}

/** Where the name of a rule fits: at either end of it, above or below. */
function spotsBeside(y: number, size: { width: number; height: number }, box: Box): Box[] {
  const lefts = [box.left + box.width - size.width, box.left];
  const tops = [y - size.height, y + 1];
  const spots = tops.flatMap((top) => lefts.map((left) => ({ left, top, ...size })));
  return spots.filter(
    ({ top, height }) => top >= box.top && top + height <= box.top + box.height + room,
  );
}

/** Among more curves than this, some of them show where there is a free spot. */
const searched = 24;

/** The first of the spots with the fewest lines through it. */
function emptiest(spots: readonly Box[], { columns }: ChartModel, scales: PixelScales): Box {
  const counts = spots.map(() => 0);
  const step = Math.ceil(columns.length / searched);
  for (const column of columns.filter((_, index) => index % step === 0)) {
    let lastX = Number.NaN;
    let lastY = Number.NaN;
    for (let index = 0; index < scales.xs.length; index++) {
      const value = column[index];
      if (value === null) continue;
      const x = scales.xs[index];
      const y = scales.heightOf(value);
      for (let spot = 0; spot < spots.length; spot++) {
        if (crosses(spots[spot], lastX, lastY, x, y)) counts[spot]++;
      }
      lastX = x;
      lastY = y;
    }
  }
  return spots[counts.indexOf(Math.min(...counts))];
}

/** Whether a line that goes to the right passes through a box. */
function crosses(box: Box, fromX: number, fromY: number, toX: number, toY: number): boolean {
  const left = Math.max(fromX, box.left);
  const right = Math.min(toX, box.left + box.width);
  if (!(left <= right)) return false;
  const slope = toX > fromX ? (toY - fromY) / (toX - fromX) : 0;
  const ends = [fromY + slope * (left - fromX), fromY + slope * (right - fromX)];
  return Math.max(...ends) >= box.top && Math.min(...ends) <= box.top + box.height;
}

function drawDot(
  pen: MarkPen,
  { x, value, color, word }: ChartDot,
  model: ChartModel,
  scales: PixelScales,
  box: Box,
  { text, paper, pixels, format }: MarkStyle,
): void {
  const [left, top] = [scales.xOf(x), scales.heightOf(value)];
  if (!isWithin(box, left, top)) return;
  pen.beginPath();
  pen.arc(left, top, 4 * pixels, 0, 2 * Math.PI);
  pen.fillStyle = paper;
  pen.fill();
  pen.strokeStyle = color;
  pen.lineWidth = 2 * pixels;
  pen.stroke();
  if (word === undefined) return;
  const label = `${word} ${format(value)}`;
  const size = { width: pen.measureText(label).width, height: 14 * pixels };
  const spot = emptiest(spotsAround(left, top, size, box, pixels), model, scales);
  pen.textAlign = 'left';
  pen.fillStyle = text;
  pen.fillText(label, spot.left, spot.top + 11 * pixels);
}

/** Where words about a point can stand: below, next to and above it, first where there is more room. */
function spotsAround(
  x: number,
  y: number,
  { width, height }: { width: number; height: number },
  box: Box,
  pixels: number,
): Box[] {
  const sides = [x + 8 * pixels, x - 8 * pixels - width];
  const lefts = x < box.left + box.width / 2 ? sides : sides.toReversed();
  const isLow = y > box.top + box.height - 18 * pixels;
  const tops = [y + (isLow ? -7 : 5) * pixels, y - height - 5 * pixels];
  const spots = lefts.flatMap((left) => tops.map((top) => ({ left, top, width, height })));
  const isInside = ({ left, top }: Box) =>
    left >= box.left && left + width <= box.left + box.width && top >= box.top;
  const inside = spots.filter(isInside);
  return inside.length > 0 ? inside : spots;
}

import { type Colours, formatNumber } from '../format.ts';
import {
  type Axis,
  clip,
  isShown,
  type Rule,
  type Scale,
  type ScaleTick,
  scaleOf,
} from './axis.ts';
import type { Point } from './quantities.ts';

/** The owner of a cell without dots. */
const noOwner = -1;

/** Bits of the dots of a braille character, by row and column: U+2800 plus their sum. */
const brailleBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/**
 * Dots to draw lines with: two by four in every cell of a terminal, by braille characters, or one
 * in ASCII. A cell has the colour of the series that was drawn into it last, its owner.
 */
class TextCanvas {
  readonly columns: number;
  readonly rows: number;
  /** Of a cell. */
  readonly #dotsAcross: number;
  readonly #dotsDown: number;
  readonly #bits: Uint8Array;
  readonly #owners: Int8Array;
  /** A bit for every series in a cell. */
  readonly #visitors: Uint32Array;

  constructor(columns: number, rows: number, ascii: boolean) {
    this.columns = columns;
    this.rows = rows;
    this.#dotsAcross = ascii ? 1 : 2;
    this.#dotsDown = ascii ? 1 : 4;
    this.#bits = new Uint8Array(columns * rows);
    this.#owners = new Int8Array(columns * rows).fill(noOwner);
    this.#visitors = new Uint32Array(columns * rows);
  }

  owner(column: number, row: number): number {
    return this.#owners[row * this.columns + column];
  }

  /** The lowest row in which a series has a dot in a column; −1 if there is none. */
  lowestRow(column: number, owner: number): number {
    const bit = 1 << (owner % 32);
    let row = this.rows - 1;
    while (row >= 0 && !(this.#visitors[row * this.columns + column] & bit)) row -= 1;
    return row;
  }

  braille(column: number, row: number): string {
    return String.fromCodePoint(0x2800 + this.#bits[row * this.columns + column]);
  }

  /** The row of cells in which 0 (bottom) … 1 (top) is. */
  rowOf(height: number): number {
    return Math.floor(this.#dotRow(height) / this.#dotsDown);
  }

  columnOf(position: number): number {
    return Math.floor(this.#dotColumn(position) / this.#dotsAcross);
  }

  /** A line through points, as far as it is in the unit square. */
  draw(points: readonly Point[], owner: number): void {
    for (const [index, to] of points.entries()) {
      const from = points[Math.max(0, index - 1)];
      const part = clip(from, to, unitSquare);
      if (part) this.#line(pointAt(from, to, part[0]), pointAt(from, to, part[1]), owner);
    }
  }

  #line(from: Point, to: Point, owner: number): void {
    const [fromX, fromY] = [this.#dotColumn(from[0]), this.#dotRow(from[1])];
    const [toX, toY] = [this.#dotColumn(to[0]), this.#dotRow(to[1])];
    const steps = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY));
    for (let step = 0; step <= steps; step++) {
      const part = steps === 0 ? 0 : step / steps;
      const x = Math.round(fromX + part * (toX - fromX));
      const y = Math.round(fromY + part * (toY - fromY));
      const cell = Math.floor(y / this.#dotsDown) * this.columns + Math.floor(x / this.#dotsAcross);
      this.#bits[cell] |= brailleBits[y % this.#dotsDown][x % this.#dotsAcross];
      this.#owners[cell] = owner;
      this.#visitors[cell] |= 1 << (owner % 32);
    }
  }

  #dotColumn(position: number): number {
    return Math.round(position * (this.columns * this.#dotsAcross - 1));
  }

  #dotRow(height: number): number {
    return Math.round((1 - height) * (this.rows * this.#dotsDown - 1));
  }
}

const unitSquare = { left: 0, right: 1, top: 0, bottom: 1 };

/** a + part · (b − a), inside the unit square whatever rounding does. */
function pointAt(a: Point, b: Point, part: number): Point {
  const at = (from: number, to: number) => (part === 1 ? to : from + part * (to - from));
  const inside = (value: number) => Math.min(1, Math.max(0, value));
  return [inside(at(a[0], b[0])), inside(at(a[1], b[1]))];
}

/** Points that an axis cannot show (0 on a log axis, nothing measured) are left out. */
export type TextPoint = readonly [x: number, y: number | null];

interface TextSeries {
  readonly name: string;
  /** In the order in which they are joined. */
  readonly points: readonly TextPoint[];
}

export interface TextChart {
  readonly series: readonly TextSeries[];
  readonly x: Axis;
  /** Its label is the title. */
  readonly y: Axis;
  /** Characters and lines that there is room for. */
  readonly width: number;
  readonly height: number;
  readonly colours: Colours;
  readonly rules?: readonly Rule[];
  /** Only characters of ASCII; default false. */
  readonly ascii?: boolean;
}

/** Title, axis and the labels below it. */
const linesAround = 3;
const fewestRows = 2;
const fewestColumns = 10;
/** Cells from one mark of a line to the next. */
const markDistance = 9;
/** Distinguish series without colour. */
const seriesMarks = ['o', 'x', '+', '*', '#', '@'];

const unicode = { side: '│', tick: '┤', corner: '└', floor: '─', below: '┬', rule: '╌' };
const plain = { side: '|', tick: '+', corner: '+', floor: '-', below: '+', rule: '-' };

/** Whether the terminal shows nothing but ASCII for sure. */
export function asciiOnly(environment: NodeJS.ProcessEnv, platform = process.platform): boolean {
  const { LC_ALL, LC_CTYPE, LANG, TERM } = environment;
  if (TERM === 'dumb') return true;
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => (name ?? '') !== '');
  if (locale === undefined && platform === 'win32') return false;
  return !/utf-?8/i.test(locale ?? '');
}

/** A line chart as lines of text, none wider than `width`; none at all if there is no room. */
export function textChart(chart: TextChart): string[] {
  const { series, rules = [], width, height } = chart;
  const { log = false } = chart.y;
  const points = series.flatMap((one) => one.points.filter(([, y]) => isShown(y, log)));
  const rows = height - linesAround;
  if (points.length === 0 || rows < fewestRows) return [];
  const scale = (axis: Axis, values: number[]) => scaleOf({ ...axis, tight: true }, values, [0, 1]);
  const xScale = scale(
    chart.x,
    points.map(([x]) => x),
  );
  const yScale = scale(chart.y, [...points.map(([, y]) => y!), ...rules.map(({ y }) => y)]);
  const yTicks = textTicks(yScale, log, Math.max(2, Math.floor((2 * rows) / 3)));
  const margin = Math.max(0, ...yTicks.map(({ label }) => label.length)) + 1;
  const columns = width - margin - 1;
  if (columns < fewestColumns) return [];
  const canvas = new TextCanvas(columns, rows, chart.ascii ?? false);
  for (const [index, one] of series.entries()) {
    canvas.draw(pointsOf(one, xScale, yScale), index);
  }
  return [
    titleLine(chart),
    ...plotLines(chart, canvas, yScale, yTicks, margin),
    ...floorLines(chart, canvas, xScale, margin),
  ];
}

/** Round values from 0 to 1 along the axis, `most` at most, in characters of ASCII. */
export function textTicks(scale: Scale, log: boolean, most: number): ScaleTick[] {
  const power = (exponent: number) => `1e${exponent}`.replace(/^1e0$/, '1').replace(/^1e1$/, '10');
  const options = { power, ...(log && { format: formatNumber }) };
  let ticks = scale.ticks(most, options);
  for (let count = most - 1; count > 0 && ticks.length > most; count--) {
    ticks = scale.ticks(count, options);
  }
  return ticks.map((tick) => ({ ...tick, position: Math.min(1, Math.max(0, tick.position)) }));
}

function pointsOf({ points }: TextSeries, x: Scale, y: Scale): Point[] {
  return points
    .map(([one, other]): Point => [x.position(one), y.position(other ?? Number.NaN)])
    .filter((point) => !point.some(Number.isNaN));
}

function paint(colours: Colours, index: number): (text: string) => string {
  const { cyan, yellow, magenta, green, blue, red } = colours;
  return [cyan, yellow, magenta, green, blue, red][index % 6];
}

function markOf(index: number): string {
  return seriesMarks[index % seriesMarks.length];
}

/** The title, then what lines and rules are, as far as there is room. */
function titleLine({ series, rules = [], y, colours, width, ascii }: TextChart): string {
  const title = y.label.slice(0, width);
  const names = series.map((one, index) => ({
    text: `${markOf(index)} ${one.name}`,
    colour: paint(colours, index),
  }));
  const dashes = rules.map(({ label }) => ({
    text: `${(ascii ? plain : unicode).rule.repeat(2)} ${label}`,
    colour: colours.dim,
  }));
  let line = colours.bold(title);
  let room = width - title.length;
  // A line that is alone needs no name.
  for (const { text, colour } of [...(names.length > 1 ? names : []), ...dashes]) {
    if (text.length + 2 > room) break;
    line += `  ${colour(text)}`;
    room -= text.length + 2;
  }
  return line;
}

function plotLines(
  chart: TextChart,
  canvas: TextCanvas,
  scale: Scale,
  ticks: readonly ScaleTick[],
  margin: number,
): string[] {
  const glyphs = chart.ascii ? plain : unicode;
  const labels = new Map(ticks.map(({ position, label }) => [canvas.rowOf(position), label]));
  const levels = (chart.rules ?? []).map(({ y }) => scale.position(y));
  const ruled = levels.filter((y) => y >= 0 && y <= 1).map((y) => canvas.rowOf(y));
  const marks = marksOf(chart, canvas);
  return Array.from({ length: canvas.rows }, (_, row) => {
    const label = labels.get(row);
    const side = `${(label ?? '').padStart(margin - 1)} ${label === undefined ? glyphs.side : glyphs.tick}`;
    const cells = cellsOf(chart, canvas, row, marks, ruled.includes(row) ? glyphs.rule : ' ');
    return `${chart.colours.dim(side)}${cells}`.trimEnd();
  });
}

/** The cells of a row, neighbours of one series in one stroke of its colour. */
function cellsOf(
  { colours, ascii }: TextChart,
  canvas: TextCanvas,
  row: number,
  marks: ReadonlyMap<number, number>,
  empty: string,
): string {
  let text = '';
  let stroke = '';
  let owner = noOwner;
  const finish = () => {
    const colour = owner === noOwner ? colours.dim : paint(colours, owner);
    text += stroke.trim() === '' ? stroke : colour(stroke);
    stroke = '';
  };
  for (let column = 0; column < canvas.columns; column++) {
    const marked = marks.get(row * canvas.columns + column);
    const next = marked ?? canvas.owner(column, row);
    if (next !== owner) finish();
    owner = next;
    if (next === noOwner) stroke += empty;
    else if (ascii || marked !== undefined) stroke += markOf(next);
    else stroke += canvas.braille(column, row);
  }
  // Nothing is seen of spaces at the end.
  if (owner !== noOwner || empty !== ' ') finish();
  return text;
}

/**
 * Cells that show the mark of their series instead of dots, where there are several: the lowest of
 * every few columns, each series in columns of its own, so that lines on top of one another show
 * both. A line too short for that has its mark at its end.
 */
function marksOf({ series }: TextChart, canvas: TextCanvas): Map<number, number> {
  const marks = new Map<number, number>();
  if (series.length < 2) return marks;
  const columns = Array.from({ length: canvas.columns }, (_, column) => column);
  for (const index of series.keys()) {
    const drawn = columns.filter((column) => canvas.lowestRow(column, index) >= 0);
    const offset = Math.floor(((index + 0.5) * markDistance) / series.length);
    const chosen = drawn.filter((column) => column % markDistance === offset);
    for (const column of chosen.length > 0 ? chosen : drawn.slice(-1)) {
      marks.set(canvas.lowestRow(column, index) * canvas.columns + column, index);
    }
  }
  return marks;
}

/** The axis below, and the labels of its ticks; the last of them, which has the unit, for sure. */
function floorLines(
  { x, colours, ascii, width }: TextChart,
  canvas: TextCanvas,
  scale: Scale,
  margin: number,
): string[] {
  const glyphs = ascii ? plain : unicode;
  const ticks = textTicks(scale, x.log ?? false, Math.max(2, Math.floor(canvas.columns / 8)));
  const labelled = ticks.map(({ position, label }, index) => {
    const column = canvas.columnOf(position);
    const text = index < ticks.length - 1 ? label : `${label} ${scale.unit}`.slice(0, width);
    // The number is centred below its tick.
    const middle = margin + 1 + column - Math.floor((label.length - 1) / 2);
    return { column, text, start: Math.max(0, Math.min(middle, width - text.length)) };
  });
  const last = labelled.at(-1);
  const floor = Array<string>(canvas.columns).fill(glyphs.floor);
  let labels = '';
  for (const one of labelled) {
    const { column, text, start } = one;
    const isClear = labels === '' || start > labels.length;
    if (one !== last && !(isClear && start + text.length < last!.start)) continue;
    floor[column] = glyphs.below;
    labels = labels.padEnd(start) + text;
  }
  const axis = `${' '.repeat(margin)}${glyphs.corner}${floor.join('')}`;
  return [axis, labels].map(colours.dim);
}

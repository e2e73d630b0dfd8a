import { type Colours, formatNumber } from '../format.ts';
import { type Axis, isShown, type Scale, scaleOf } from './axis.ts';

/** Whom a cell of the canvas belongs to. */
export const nobody = -1;

/** Bits of the dots of a braille character, by row and column: U+2800 plus their sum. */
const brailleBits = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];

/**
 * Dots to draw lines with: two by four in every cell of a terminal, by braille characters, or one
 * where there are only the characters of ASCII. A cell has the colour of who drew into it last.
 */
export class TextCanvas {
  readonly columns: number;
  readonly rows: number;
  /** Dots of a cell. */
  readonly #wide: number;
  readonly #high: number;
  readonly #bits: Uint8Array;
  readonly #owners: Int8Array;
  /** A bit for everybody who drew into a cell. */
  readonly #visitors: Uint32Array;

  constructor(columns: number, rows: number, ascii: boolean) {
    this.columns = columns;
    this.rows = rows;
    this.#wide = ascii ? 1 : 2;
    this.#high = ascii ? 1 : 4;
    this.#bits = new Uint8Array(columns * rows);
    this.#owners = new Int8Array(columns * rows).fill(nobody);
    this.#visitors = new Uint32Array(columns * rows);
  }

  /** Who drew into a cell last, or nobody. */
  owner(column: number, row: number): number {
    return this.#owners[row * this.columns + column];
  }

  /** Whether somebody drew into a cell, the last or not. */
  touched(column: number, row: number, owner: number): boolean {
    return (this.#visitors[row * this.columns + column] & (1 << (owner % 32))) !== 0;
  }

  braille(column: number, row: number): string {
    return String.fromCodePoint(0x2800 + this.#bits[row * this.columns + column]);
  }

  /** The row of cells in which 0 (bottom) … 1 (top) lies. */
  rowOf(place: number): number {
    return Math.floor(this.#dotRow(place) / this.#high);
  }

  columnOf(place: number): number {
    return Math.floor(this.#dotColumn(place) / this.#wide);
  }

  /** A line through points of the unit square, and what of it leaves the square is cut off. */
  draw(points: readonly (readonly [x: number, y: number])[], owner: number): void {
    for (const [index, point] of points.entries()) {
      const segment = clip(points[Math.max(0, index - 1)], point);
      if (segment) this.#line(segment[0], segment[1], owner);
    }
  }

  #line([x0, y0]: Place, [x1, y1]: Place, owner: number): void {
    const [fromX, fromY] = [this.#dotColumn(x0), this.#dotRow(y0)];
    const [toX, toY] = [this.#dotColumn(x1), this.#dotRow(y1)];
    const steps = Math.max(Math.abs(toX - fromX), Math.abs(toY - fromY));
    for (let step = 0; step <= steps; step++) {
      const part = steps === 0 ? 0 : step / steps;
      this.#dot(
        Math.round(fromX + part * (toX - fromX)),
        Math.round(fromY + part * (toY - fromY)),
        owner,
      );
    }
  }

  #dot(x: number, y: number, owner: number): void {
    const cell = Math.floor(y / this.#high) * this.columns + Math.floor(x / this.#wide);
    this.#bits[cell] |= brailleBits[y % this.#high][x % this.#wide];
    this.#owners[cell] = owner;
    this.#visitors[cell] |= 1 << (owner % 32);
  }

  #dotColumn(place: number): number {
    return Math.round(place * (this.columns * this.#wide - 1));
  }

  #dotRow(place: number): number {
    return Math.round((1 - place) * (this.rows * this.#high - 1));
  }
}

type Place = readonly [x: number, y: number];

/** The part of a segment inside the unit square: from a + s(b − a) to a + t(b − a). */
function clip(a: Place, b: Place): [Place, Place] | undefined {
  // Most segments lie inside.
  if (isInside(a) && isInside(b)) return [a, b];
  let [s, t] = [0, 1];
  for (const axis of [0, 1] as const) {
    const slope = b[axis] - a[axis];
    if (slope === 0) {
      if (a[axis] < 0 || a[axis] > 1) return undefined;
      continue;
    }
    const ends = [(0 - a[axis]) / slope, (1 - a[axis]) / slope];
    s = Math.max(s, Math.min(...ends));
    t = Math.min(t, Math.max(...ends));
  }
  if (s > t) return undefined;
  const at = (part: number): Place => [inside(a[0], b[0], part), inside(a[1], b[1], part)];
  return [at(s), at(t)];
}

function isInside([x, y]: Place): boolean {
  return x >= 0 && x <= 1 && y >= 0 && y <= 1;
}

function inside(a: number, b: number, part: number): number {
  return Math.min(1, Math.max(0, a + part * (b - a)));
}

/** Points that an axis cannot show (0 on a log axis, nothing measured) are left out. */
export type TextPoint = readonly [x: number, y: number | null];

export interface TextSeries {
  readonly name: string;
  /** In the order in which they are joined. */
  readonly points: readonly TextPoint[];
  /** One character that tells it from others without colour; default by its place. */
  readonly mark?: string;
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
  /** Values of y to compare with, such as a tolerance. */
  readonly rules?: readonly { readonly y: number; readonly label: string }[];
  /** Only characters of ASCII; default false. */
  readonly ascii?: boolean;
}

/** Title, axis and the labels below it. */
const linesAround = 3;
const fewestRows = 2;
const fewestColumns = 10;
/** Cells from one mark of a line to the next. */
const markDistance = 9;
const usualMarks = ['o', 'x', '+', '*', '#', '@'];

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
  const xScale = scaleOf(
    { ...chart.x, tight: true },
    points.map(([x]) => x),
    [0, 1],
  );
  const heights = [...points.map(([, y]) => y!), ...rules.map((rule) => rule.y)];
  const yScale = scaleOf({ ...chart.y, tight: true }, heights, [0, 1]);
  const yTicks = textTicks(yScale, log, Math.max(2, Math.floor((2 * rows) / 3)));
  const margin = Math.max(0, ...yTicks.map(({ label }) => label.length)) + 1;
  const columns = width - margin - 1;
  if (columns < fewestColumns) return [];
  const canvas = new TextCanvas(columns, rows, chart.ascii ?? false);
  for (const [index, one] of series.entries()) {
    canvas.draw(placesOf(one, xScale, yScale), index);
  }
  return [
    titleLine(chart),
    ...plotLines(chart, canvas, yScale, yTicks, margin),
    ...floorLines(chart, canvas, xScale, margin),
  ];
}

interface TextTick {
  /** 0 … 1 along the axis. */
  readonly place: number;
  readonly label: string;
}

/** Round values, `most` at most, in characters of ASCII. */
export function textTicks(scale: Scale, log: boolean, most: number): TextTick[] {
  const power = (exponent: number) => `1e${exponent}`.replace(/^1e0$/, '1').replace(/^1e1$/, '10');
  const options = { power, ...(log && { format: formatNumber }) };
  let ticks = scale.ticks(most, options);
  for (let count = most - 1; count > 0 && ticks.length > most; count--) {
    ticks = scale.ticks(count, options);
  }
  return ticks.map(({ value, label }) => ({
    place: Math.min(1, Math.max(0, scale.position(value))),
    label,
  }));
}

function placesOf({ points }: TextSeries, x: Scale, y: Scale): [number, number][] {
  return points
    .map(([one, other]): [number, number] => [x.position(one), y.position(other ?? Number.NaN)])
    .filter(([across, up]) => !Number.isNaN(across) && !Number.isNaN(up));
}

/** Colours of series; each has a mark besides. */
function paint(colours: Colours, index: number): (text: string) => string {
  const { cyan, yellow, magenta, green, blue, red } = colours;
  return [cyan, yellow, magenta, green, blue, red][index % 6];
}

function markOf(series: readonly TextSeries[], index: number): string {
  return series[index].mark ?? usualMarks[index % usualMarks.length];
}

/** The title, then what lines and rules are, as far as there is room. */
function titleLine({ series, rules = [], y, colours, width, ascii }: TextChart): string {
  const title = y.label.slice(0, width);
  const names = series.map((one, index) => ({
    text: `${markOf(series, index)} ${one.name}`,
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
  ticks: readonly TextTick[],
  margin: number,
): string[] {
  const glyphs = chart.ascii ? plain : unicode;
  const labels = new Map(ticks.map(({ place, label }) => [canvas.rowOf(place), label]));
  const ruled = new Set(
    (chart.rules ?? [])
      .map(({ y }) => scale.position(y))
      .filter((place) => place >= 0 && place <= 1)
      .map((place) => canvas.rowOf(place)),
  );
  const marks = marksOf(chart, canvas);
  return Array.from({ length: canvas.rows }, (_, row) => {
    const label = labels.get(row);
    const side = `${(label ?? '').padStart(margin - 1)} ${label === undefined ? glyphs.side : glyphs.tick}`;
    const cells = cellsOf(chart, canvas, row, marks, ruled.has(row) ? glyphs.rule : ' ');
    return `${chart.colours.dim(side)}${cells}`.trimEnd();
  });
}

/** The cells of a row, those of one series that stand together in one stroke of its colour. */
function cellsOf(
  { series, colours, ascii }: TextChart,
  canvas: TextCanvas,
  row: number,
  marks: ReadonlyMap<number, number>,
  empty: string,
): string {
  let text = '';
  let stroke = '';
  let owner = nobody;
  const finish = () => {
    const colour = owner === nobody ? colours.dim : paint(colours, owner);
    text += stroke.trim() === '' ? stroke : colour(stroke);
    stroke = '';
  };
  for (let column = 0; column < canvas.columns; column++) {
    const marked = marks.get(row * canvas.columns + column);
    const next = marked ?? canvas.owner(column, row);
    if (next !== owner) finish();
    owner = next;
    if (next === nobody) stroke += empty;
    else if (ascii || marked !== undefined) stroke += markOf(series, next);
    else stroke += canvas.braille(column, row);
  }
  // Nothing is seen of spaces at the end.
  if (owner !== nobody || empty !== ' ') finish();
  return text;
}

/**
 * Cells that carry the mark of their series in place of dots, where there are several: one every
 * few columns, each series in columns of its own, so that lines that lie upon one another show both.
 * One too short for that has it at its end.
 */
function marksOf({ series }: TextChart, canvas: TextCanvas): Map<number, number> {
  const marks = new Map<number, number>();
  if (series.length < 2) return marks;
  for (const index of series.keys()) {
    const cells = lowestCells(canvas, index);
    const offset = Math.floor(((index + 0.5) * markDistance) / series.length);
    const chosen = cells.filter(({ column }) => column % markDistance === offset);
    for (const { column, row } of chosen.length > 0 ? chosen : cells.slice(-1)) {
      marks.set(row * canvas.columns + column, index);
    }
  }
  return marks;
}

/** The lowest cell of a series in every column that it has one in. */
function lowestCells(canvas: TextCanvas, owner: number): { column: number; row: number }[] {
  const cells: { column: number; row: number }[] = [];
  for (let column = 0; column < canvas.columns; column++) {
    let row = canvas.rows - 1;
    while (row >= 0 && !canvas.touched(column, row, owner)) row -= 1;
    if (row >= 0) cells.push({ column, row });
  }
  return cells;
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
  const places = ticks.map(({ place, label }, index) => {
    const column = canvas.columnOf(place);
    const text = index < ticks.length - 1 ? label : `${label} ${scale.unit}`.slice(0, width);
    // The number stands in the middle below its tick.
    const middle = margin + 1 + column - Math.floor((label.length - 1) / 2);
    return { column, text, start: Math.max(0, Math.min(middle, width - text.length)) };
  });
  const last = places.at(-1);
  const floor = Array<string>(canvas.columns).fill(glyphs.floor);
  let labels = '';
  for (const place of places) {
    const { column, text, start } = place;
    const isClear = labels === '' || start > labels.length;
    if (place !== last && !(isClear && start + text.length < last!.start)) continue;
    floor[column] = glyphs.below;
    labels = labels.padEnd(start) + text;
  }
  const axis = `${' '.repeat(margin)}${glyphs.corner}${floor.join('')}`;
  return [colours.dim(axis), colours.dim(labels)];
}

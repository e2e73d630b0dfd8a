import type { Io } from '../../cli/io.ts';
import type { Colours } from '../../cli/terminal.ts';
import type { TextAxis, TextScale, TextTick } from '../../cli/text-axis.ts';
import { textScale } from '../../cli/text-axis.ts';
import { nobody, TextCanvas } from '../../cli/text-canvas.ts';

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
  readonly x: TextAxis;
  /** Its label is the title. */
  readonly y: TextAxis;
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
export function asciiOnly(environment: Io['environment'], platform = process.platform): boolean {
  const { LC_ALL, LC_CTYPE, LANG, TERM } = environment;
  if (TERM === 'dumb') return true;
  const locale = [LC_ALL, LC_CTYPE, LANG].find((name) => (name ?? '') !== '');
  if (locale === undefined && platform === 'win32') return false;
  return !/utf-?8/i.test(locale ?? '');
}

/** A line chart as lines of text, none wider than `width`; none at all if there is no room. */
export function textChart(chart: TextChart): string[] {
  const { series, rules = [], width, height } = chart;
  const points = series.flatMap((one) => one.points.filter(([, y]) => isShown(y, chart.y)));
  const xScale = textScale(
    chart.x,
    points.map(([x]) => x),
  );
  const yScale = textScale(chart.y, [
    ...points.map(([, y]) => y!),
    ...(points.length > 0 ? rules.map((rule) => rule.y) : []),
  ]);
  const rows = height - linesAround;
  if (!xScale || !yScale || rows < fewestRows) return [];
  const yTicks = yScale.ticks(Math.max(2, Math.floor((2 * rows) / 3)));
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

function isShown(y: number | null, { scale }: TextAxis): y is number {
  return y !== null && Number.isFinite(y) && (scale === 'linear' || y > 0);
}

function placesOf({ points }: TextSeries, x: TextScale, y: TextScale): [number, number][] {
  return points
    .map(([one, other]): [number, number] => [x.place(one), y.place(other ?? Number.NaN)])
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
  scale: TextScale,
  ticks: readonly TextTick[],
  margin: number,
): string[] {
  const glyphs = chart.ascii ? plain : unicode;
  const labels = new Map(ticks.map(({ place, label }) => [canvas.rowOf(place), label]));
  const ruled = new Set(
    (chart.rules ?? [])
      .map(({ y }) => scale.place(y))
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
  { colours, ascii, width }: TextChart,
  canvas: TextCanvas,
  scale: TextScale,
  margin: number,
): string[] {
  const glyphs = ascii ? plain : unicode;
  const ticks = scale.ticks(Math.max(2, Math.floor(canvas.columns / 8)));
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

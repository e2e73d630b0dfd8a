import { createRequire } from 'node:module';
import {
  line,
  type SymbolType,
  symbol,
  symbolCircle,
  symbolCross,
  symbolDiamond,
  symbolSquare,
  symbolStar,
  symbolTriangle,
} from 'd3-shape';
import { type Axis, type Scale, scaleOf } from './axis.ts';
import { escapeMarkup } from './markup.ts';
import { type SeriesStyle, type SymbolName, styleOf } from './style.ts';

export type Point = readonly [x: number, y: number];

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** Of each point, from where to where a bar shows how sure it is. */
  readonly bars?: readonly (readonly [low: number, high: number])[];
  /** Draws a solid line dashed, as for a prediction beside its measurement. */
  readonly dashed?: boolean;
  /** Whether some points carry a symbol; default true. */
  readonly marks?: boolean;
  /** Default: the solver's own style, or one by the place among the series. */
  readonly style?: SeriesStyle;
}

export interface LineChart {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Values of y to compare with, such as a tolerance. */
  readonly rules?: readonly { readonly y: number; readonly label: string }[];
}

export interface ChartOptions {
  readonly width?: number;
  readonly height?: number;
  /** For a page that sets size, colour of the text and background; default false: for a file. */
  readonly inline?: boolean;
}

/** Arimo has the metrics of Arial, so a viewer without it shows the same layout. */
const fontFamily = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif";

/** Mean width of a character as a part of the font size. */
const characterWidth = 0.56;
const fontSize = 12;
const titleSize = 15;
const legendRow = 18;

interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Drawn {
  readonly series: Series;
  readonly style: SeriesStyle;
}

/** A line chart as SVG text. Points that an axis cannot show (0 on a log axis) are left out. */
export function lineChart(chart: LineChart, options: ChartOptions = {}): string {
  const { width = 640, height = 420, inline = false } = options;
  const drawn = chart.series.map((series, index) => ({
    series,
    style: seriesStyle(series, index),
  }));
  const legend = layOutLegend(drawn, width - 16);
  const headTop = chart.subtitle === undefined ? 30 : 48;
  const top = headTop + legendRow * legend.rows + 8;
  const range: readonly [number, number] = [height - 46, top];
  const points = chart.series.flatMap((series) => series.points);
  const ruled = (chart.rules ?? []).map((rule) => rule.y);
  const barred = chart.series.flatMap(({ bars = [] }) => bars.flat());
  const y = scaleOf(chart.y, [...points.map((point) => point[1]), ...ruled, ...barred], range);
  const widest = Math.max(0, ...y.ticks.map(({ label }) => textWidth(label, fontSize)));
  const frame = { left: Math.ceil(40 + widest), right: width - 18, top, bottom: range[0] };
  const xValues = points.map((point) => point[0]);
  const x = scaleOf(chart.x, xValues, [frame.left, frame.right]);
  const body = [
    heading(chart),
    `<g transform="translate(8 ${headTop})">${legend.markup}</g>`,
    grid(x, y, frame),
    axisLabels(chart, x, y, frame),
    ...(chart.rules ?? []).map((rule) => ruleMark(rule, y, frame)),
    cut(
      drawn.map(({ series, style }, index) => drawSeries(series, style, x, y, index)).join('\n'),
      chart,
      frame,
    ),
  ].join('\n');
  const size = inline ? 'class="chart"' : `width="${width}" height="${height}" color="#222222"`;
  const paper = inline ? '' : `<rect width="${width}" height="${height}" fill="#ffffff"/>\n`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${size} ` +
    `font-family="${fontFamily}" font-size="${fontSize}" fill="currentColor" role="img" ` +
    `aria-label="${escapeMarkup(chart.title)}">\n${paper}${body}\n</svg>\n`
  );
}

function seriesStyle({ name, style, dashed }: Series, index: number): SeriesStyle {
  const own = style ?? styleOf(name, index);
  return dashed && own.dash === undefined ? { ...own, dash: '6 3' } : own;
}

function heading({ title, subtitle }: LineChart): string {
  const first = `<text x="8" y="20" font-size="${titleSize}" font-weight="700">${escapeMarkup(title)}</text>`;
  if (subtitle === undefined) return first;
  return `${first}\n<text x="8" y="38" fill-opacity="0.72">${escapeMarkup(subtitle)}</text>`;
}

/** The names with a piece of their line, in rows above the plot. */
function layOutLegend(
  drawn: readonly Drawn[],
  room: number,
): { readonly markup: string; readonly rows: number } {
  const sample = 30;
  let left = 0;
  let row = 0;
  const entries = drawn.map(({ series, style }) => {
    const width = sample + 6 + textWidth(series.name, fontSize) + 18;
    if (left > 0 && left + width > room) {
      left = 0;
      row += 1;
    }
    const middle = legendRow * row + legendRow / 2;
    const markup =
      `<g transform="translate(${left} ${middle})">` +
      `<g class="series" stroke="${style.color}" fill="${style.color}">` +
      `<path d="M0 0H${sample}" ${stroke(style)}/>` +
      `${series.marks === false ? '' : symbolMark(style, sample / 2, 0)}</g>` +
      `<text x="${sample + 6}" y="4">${escapeMarkup(series.name)}</text></g>`;
    left = Math.round(left + width);
    return markup;
  });
  return { markup: entries.join('\n'), rows: drawn.length === 0 ? 0 : row + 1 };
}

function grid(x: Scale, y: Scale, { left, right, top, bottom }: Frame): string {
  const vertical = x.ticks.map(({ value }) => `M${shorten(x.place(value))} ${top}V${bottom}`);
  const horizontal = y.ticks.map(({ value }) => `M${left} ${shorten(y.place(value))}H${right}`);
  return (
    `<path d="${[...vertical, ...horizontal].join('')}" fill="none" stroke="currentColor" ` +
    `stroke-opacity="0.13" stroke-width="1"/>\n` +
    `<path d="M${left} ${bottom}H${right}" stroke="currentColor" stroke-opacity="0.6"/>`
  );
}

function axisLabels(chart: LineChart, x: Scale, y: Scale, frame: Frame): string {
  const { left, right, top, bottom } = frame;
  const middle = (top + bottom) / 2;
  const along = x.ticks.map(
    ({ value, label }) => `<text x="${shorten(x.place(value))}" y="${bottom + 17}">${label}</text>`,
  );
  const beside = y.ticks.map(
    ({ value, label }) =>
      `<text x="${left - 7}" y="${shorten(y.place(value) + 4)}">${label}</text>`,
  );
  return (
    `<g text-anchor="middle">${along.join('')}` +
    `<text x="${(left + right) / 2}" y="${bottom + 38}">${escapeMarkup(chart.x.label)}</text>` +
    `<text transform="translate(16 ${middle}) rotate(-90)">${escapeMarkup(chart.y.label)}</text></g>\n` +
    `<g text-anchor="end">${beside.join('')}</g>`
  );
}

function ruleMark(
  rule: { readonly y: number; readonly label: string },
  y: Scale,
  { left, right }: Frame,
): string {
  const place = y.place(rule.y);
  if (Number.isNaN(place)) return '';
  return (
    `<path d="M${left} ${shorten(place)}H${right}" stroke="currentColor" stroke-opacity="0.55" ` +
    `stroke-dasharray="3 3"/>\n<text x="${left + 4}" y="${shorten(place - 5)}" font-size="11" ` +
    `fill-opacity="0.72">${escapeMarkup(rule.label)}</text>`
  );
}

function drawSeries(series: Series, style: SeriesStyle, x: Scale, y: Scale, index: number): string {
  const places = thin(series.points.map((point) => [x.place(point[0]), y.place(point[1])]));
  if (places.length === 0) return '';
  const path = line<Point>(
    (place) => shorten(place[0]),
    (place) => shorten(place[1]),
  )([...places]);
  const marks = series.marks === false ? [] : markedPlaces(places, index);
  return (
    `<g class="series" stroke="${style.color}" fill="${style.color}">` +
    `<title>${escapeMarkup(series.name)}</title>` +
    `<path d="${path}" ${stroke(style)}/>${barMarks(series, x, y)}` +
    `${marks.map((place) => symbolMark(style, place[0], place[1])).join('')}</g>`
  );
}

const barWidth = 6;

/** A bar that reaches beyond what the axis can show is left out. */
function barMarks({ points, bars = [] }: Series, x: Scale, y: Scale): string {
  const paths = bars.flatMap(([low, high], index) => {
    const [place, bottom, top] = [x.place(points[index][0]), y.place(low), y.place(high)];
    if ([place, bottom, top].some(Number.isNaN)) return [];
    const left = shorten(place - barWidth / 2);
    const across = (level: number) => `M${left} ${shorten(level)}h${barWidth}`;
    return [`M${shorten(place)} ${shorten(bottom)}V${shorten(top)}${across(bottom)}${across(top)}`];
  });
  if (paths.length === 0) return '';
  return `<path class="bars" d="${paths.join('')}" fill="none" stroke-width="1.1" stroke-opacity="0.75"/>`;
}

/** Where an axis does not show all values, the lines end at the frame; symbols on it stay whole. */
function cut(markup: string, { x, y }: LineChart, { left, right, top, bottom }: Frame): string {
  if (x.focus === undefined && y.focus === undefined) return markup;
  const room = 4;
  const [width, height] = [right - left + 2 * room, bottom - top + 2 * room];
  const box = `${left - room} ${top - room} ${width} ${height}`;
  return (
    `<svg x="${left - room}" y="${top - room}" width="${width}" height="${height}" ` +
    `viewBox="${box}" overflow="hidden">\n${markup}\n</svg>`
  );
}

/** Leaves out places nobody could tell from the one before, and those off the chart. */
function thin(places: readonly Point[]): Point[] {
  const visible = places.filter((place) => !Number.isNaN(place[0]) && !Number.isNaN(place[1]));
  const kept: Point[] = [];
  for (const [index, place] of visible.entries()) {
    const before = kept.at(-1);
    const far = !before || Math.hypot(place[0] - before[0], place[1] - before[1]) >= 0.8;
    if (far || index === visible.length - 1) kept.push(place);
  }
  return kept;
}

/** Pixels between two symbols of a line. */
const markDistance = 56;

/** Some places along the line, those of different series staggered, and always the last. */
function markedPlaces(places: readonly Point[], index: number): Point[] {
  const marked: Point[] = [];
  let next = places[0][0] + ((index * 0.38) % 1) * markDistance;
  for (const place of places.slice(0, -1)) {
    if (place[0] < next) continue;
    marked.push(place);
    next = place[0] + markDistance;
  }
  const last = places[places.length - 1];
  return [
    ...marked.filter((place) => Math.hypot(place[0] - last[0], place[1] - last[1]) > 10),
    last,
  ];
}

const symbols: Readonly<Record<SymbolName, SymbolType>> = {
  circle: symbolCircle,
  square: symbolSquare,
  triangle: symbolTriangle,
  diamond: symbolDiamond,
  cross: symbolCross,
  star: symbolStar,
};
const symbolArea = 36;

function symbolMark({ symbol: name }: SeriesStyle, x: number, y: number): string {
  const shape = symbol(symbols[name], symbolArea).digits(2)();
  return `<path d="${shape}" transform="translate(${shorten(x)} ${shorten(y)})" stroke="none"/>`;
}

function stroke({ dash }: SeriesStyle): string {
  const dashes = dash === undefined ? '' : ` stroke-dasharray="${dash}"`;
  return `fill="none" stroke-width="1.8" stroke-linejoin="round"${dashes}`;
}

function textWidth(text: string, size: number): number {
  return text.length * size * characterWidth;
}

/** A tenth of a pixel is finer than anybody sees. */
function shorten(place: number): number {
  return Math.round(10 * place) / 10;
}

const fontFiles = ['400Regular/Arimo_400Regular.ttf', '700Bold/Arimo_700Bold.ttf'];

/** Renders SVG text as a PNG of twice its size, with the font of the charts on any machine. */
export async function svgToPng(svg: string): Promise<Buffer> {
  const { Resvg } = await import('@resvg/resvg-js');
  const require = createRequire(import.meta.url);
  const image = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: 2 },
    font: {
      fontFiles: fontFiles.map((file) => require.resolve(`@expo-google-fonts/arimo/${file}`)),
      loadSystemFonts: false,
      defaultFontFamily: 'Arimo',
    },
  });
  return image.render().asPng();
}

import { createRequire } from 'node:module';
import { line } from 'd3-shape';
import { type Axis, type Box, type Rule, type Scale, type ScaleTick, scaleOf } from './axis.ts';
import type { Point } from './quantities.ts';
import { type SeriesStyle, styleOf } from './series-style.ts';
import {
  escapeMarkup,
  ruleMark,
  shorten,
  strokeOf,
  strokeWidth,
  symbolMark,
  textWidth,
} from './svg-style.ts';

/** A name, and how its line looks. */
export interface LegendEntry {
  readonly name: string;
  readonly style: SeriesStyle;
  /** Whether the line carries symbols; default true. */
  readonly marks?: boolean;
}

export interface Series extends Omit<LegendEntry, 'style'> {
  readonly points: readonly Point[];
  /** Of each point, from where to where a bar shows how sure it is. */
  readonly bars?: readonly (readonly [low: number, high: number])[];
  /** Draws a solid line dashed, as for a prediction next to its measurement. */
  readonly dashed?: boolean;
  /** Default: the solver's own style, or one by the index among the series. */
  readonly style?: SeriesStyle;
  /** Whether the legend has its name; default true. */
  readonly listed?: boolean;
}

export interface LineChart {
  readonly title: string;
  readonly subtitle?: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** What else the legend explains, behind the names of the series. */
  readonly keys?: readonly LegendEntry[];
  readonly rules?: readonly Rule[];
}

interface ChartOptions extends Partial<typeof defaultSize> {
  /** For a page that sets size, colour of the text and background; default false: for a file. */
  readonly inline?: boolean;
}

/** Arimo has the metrics of Arial, so a viewer without it shows the same layout. */
const fontFamily = "Arimo, Arial, Helvetica, 'Liberation Sans', sans-serif";

const fontSize = 12;
const titleSize = 15;
export const defaultSize = { width: 640, height: 420 };

/** A line chart as SVG text. Points that an axis cannot show (0 on a log axis) are left out. */
export function lineChart(chart: LineChart, options: ChartOptions = {}): string {
  const { width = defaultSize.width, height = defaultSize.height, inline = false } = options;
  const { rules = [] } = chart;
  const series = styledSeries(chart);
  const legend = legendOf(chart, width);
  const headTop = chart.subtitle === undefined ? 30 : 48;
  const top = headTop + legendRow * legend.rows + 8;
  const bottom = height - 46;
  const points = series.flatMap((one) => one.points);
  const heights = [
    ...points.map((point) => point[1]),
    ...rules.map((rule) => rule.y),
    ...series.flatMap(({ bars = [] }) => bars.flat()),
  ];
  const y = scaleOf(chart.y, heights, [bottom, top]);
  const yTicks = ticksOf(chart.y, y);
  const widest = Math.max(0, ...yTicks.map(({ label }) => textWidth(label, fontSize)));
  const frame = { left: Math.ceil(40 + widest), right: width - 18, top, bottom };
  const xs = points.map((point) => point[0]);
  const x = scaleOf(chart.x, xs, [frame.left, frame.right]);
  const ticks = { x: ticksOf(chart.x, x), y: yTicks };
  const isCut = chart.x.focus !== undefined || chart.y.focus !== undefined;
  const curves = series.map((one) => curveOf(one, x, y, frame));
  const body = [
    heading(chart),
    `<g transform="translate(8 ${headTop})">${legend.markup}</g>`,
    grid(ticks, frame),
    axisLabels(chart, ticks, frame),
    ...rules.map((rule) => ruleMark(rule, y.position(rule.y), frame, curves)),
    ...series.map((one, index) => {
      const path = `${linePath(curves[index], one.style)}${barMarks(one, x, y)}`;
      const marks = one.marks === false ? [] : markedPoints(curves[index], index, frame);
      return drawSeries(one, isCut ? cut(path, frame) : path, marks);
    }),
  ].join('\n');
  const size = inline ? 'class="chart"' : `width="${width}" height="${height}" color="#222222"`;
  const paper = inline ? '' : `<rect width="${width}" height="${height}" fill="#ffffff"/>\n`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ${size} ` +
    `font-family="${fontFamily}" font-size="${fontSize}" fill="currentColor" role="img" ` +
    `aria-label="${escapeMarkup(chart.title)}">\n${paper}${body}\n</svg>\n`
  );
}

type Ticks = Readonly<Record<'x' | 'y', readonly ScaleTick[]>>;

/** With a real minus sign. */
function ticksOf({ log }: Axis, scale: Scale): ScaleTick[] {
  const ticks = scale.ticks(log ? 8 : 6);
  return ticks.map((tick) => ({ ...tick, label: tick.label.replace(/^-/, '−') }));
}

type StyledSeries = Series & { readonly style: SeriesStyle };

function styledSeries({ series }: LineChart): StyledSeries[] {
  return series.map((one, index) => {
    const style = one.style ?? styleOf(one.name, index);
    return { ...one, style: one.dashed ? { dash: '6 3', ...style } : style };
  });
}

/** The height of a chart whose plot loses no room to the names above it. */
export function figureHeight(chart: LineChart): number {
  const { rows } = legendOf(chart, defaultSize.width);
  return defaultSize.height + legendRow * (Math.max(1, rows) - 1);
}

const legendRow = 18;
const sampleWidth = 30;
const beforeName = 6;
const betweenEntries = 18;

/** The names with a piece of their line, in rows above the plot. */
function legendOf(chart: LineChart, width: number): { markup: string; rows: number } {
  const listed = styledSeries(chart).filter((one) => one.listed !== false);
  let left = 0;
  let row = 0;
  const entries = [...listed, ...(chart.keys ?? [])].map((entry) => {
    const length = sampleWidth + beforeName + textWidth(entry.name, fontSize);
    if (left > 0 && left + length > width - 16) {
      left = 0;
      row += 1;
    }
    const markup = entryMarkup(entry, left, legendRow * row + legendRow / 2);
    left = Math.round(left + length + betweenEntries);
    return markup;
  });
  return { markup: entries.join('\n'), rows: entries.length === 0 ? 0 : row + 1 };
}

function entryMarkup({ name, style, marks }: LegendEntry, left: number, middle: number): string {
  return (
    `<g transform="translate(${left} ${middle})">` +
    `<g class="series" stroke="${style.color}" fill="${style.color}">` +
    `<path d="M0 0H${sampleWidth}" ${strokeOf(style)}/>` +
    `${marks === false ? '' : symbolMark(style, [sampleWidth / 2, 0])}</g>` +
    `<text x="${sampleWidth + beforeName}" y="4">${escapeMarkup(name)}</text></g>`
  );
}

function heading({ title, subtitle }: LineChart): string {
  const first = `<text x="8" y="20" font-size="${titleSize}" font-weight="700">${escapeMarkup(title)}</text>`;
  if (subtitle === undefined) return first;
  return `${first}\n<text x="8" y="38" fill-opacity="0.72">${escapeMarkup(subtitle)}</text>`;
}

function grid(ticks: Ticks, { left, right, top, bottom }: Box): string {
  const vertical = ticks.x.map(({ position }) => `M${shorten(position)} ${top}V${bottom}`);
  const horizontal = ticks.y.map(({ position }) => `M${left} ${shorten(position)}H${right}`);
  return (
    `<path d="${[...vertical, ...horizontal].join('')}" fill="none" stroke="currentColor" ` +
    `stroke-opacity="0.13" stroke-width="1"/>\n` +
    `<path d="M${left} ${bottom}H${right}" stroke="currentColor" stroke-opacity="0.6"/>`
  );
}

function axisLabels(chart: LineChart, ticks: Ticks, { left, right, top, bottom }: Box): string {
  const text = (x: number, y: number, label: string) => `<text x="${x}" y="${y}">${label}</text>`;
  const below = ticks.x.map(({ position, label }) => text(shorten(position), bottom + 17, label));
  const before = ticks.y.map(({ position, label }) => text(left - 7, shorten(position + 4), label));
  const middle = `translate(16 ${(top + bottom) / 2})`;
  return (
    `<g text-anchor="middle">${below.join('')}` +
    text((left + right) / 2, bottom + 38, escapeMarkup(chart.x.label)) +
    `<text transform="${middle} rotate(-90)">${escapeMarkup(chart.y.label)}</text></g>\n` +
    `<g text-anchor="end">${before.join('')}</g>`
  );
}

function drawSeries({ name, style }: StyledSeries, path: string, marks: readonly Point[]): string {
  if (path === '') return '';
  return (
    `<g class="series" stroke="${style.color}" fill="${style.color}">` +
    `<title>${escapeMarkup(name)}</title>${path}` +
    `${marks.map((point) => symbolMark(style, point)).join('')}</g>`
  );
}

function linePath(curve: readonly Point[], style: SeriesStyle): string {
  if (curve.length === 0) return '';
  const path = line()(curve.map(([x, y]) => [shorten(x), shorten(y)]));
  return `<path d="${path}" ${strokeOf(style)}/>`;
}

/** Heights of the plot beyond which nothing is drawn: renderers fail on very long dashed lines. */
const reach = 5;

/** The visible points of a series in pixels, without those too close to the previous one. */
function curveOf({ points }: Series, x: Scale, y: Scale, { top, bottom }: Box): Point[] {
  const far = reach * (bottom - top);
  const within = (level: number) => Math.min(Math.max(level, top - far), bottom + far);
  const visible = points
    .map((point): Point => [x.position(point[0]), within(y.position(point[1]))])
    .filter((point) => !point.some(Number.isNaN));
  const chosen: Point[] = [];
  for (const [index, point] of visible.entries()) {
    const before = chosen.at(-1);
    const isFar = !before || distance(point, before) >= 0.8;
    if (isFar || index === visible.length - 1) chosen.push(point);
  }
  return chosen;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

const barWidth = 6;

/** A bar that reaches beyond what the axis can show is left out. */
function barMarks({ points, bars = [] }: Series, x: Scale, y: Scale): string {
  const paths = bars.flatMap(([low, high], index) => {
    const [middle, bottom, top] = [x.position(points[index][0]), y.position(low), y.position(high)];
    if ([middle, bottom, top].some(Number.isNaN)) return [];
    const left = shorten(middle - barWidth / 2);
    const across = (level: number) => `M${left} ${shorten(level)}h${barWidth}`;
    return [
      `M${shorten(middle)} ${shorten(bottom)}V${shorten(top)}${across(bottom)}${across(top)}`,
    ];
  });
  if (paths.length === 0) return '';
  return `<path class="bars" d="${paths.join('')}" fill="none" stroke-width="1.1" stroke-opacity="0.75"/>`;
}

/** Where an axis does not show all values, the lines end at the frame. */
function cut(markup: string, { left, right, top, bottom }: Box): string {
  if (markup === '') return '';
  const room = strokeWidth / 2;
  const [width, height] = [right - left + 2 * room, bottom - top + 2 * room].map(shorten);
  const corner = [left - room, top - room];
  return (
    `<svg x="${corner[0]}" y="${corner[1]}" width="${width}" height="${height}" ` +
    `viewBox="${corner.join(' ')} ${width} ${height}" overflow="hidden">${markup}</svg>`
  );
}

/** Pixels between two symbols of a line. */
const markDistance = 56;

/** Some points along the line, those of different series staggered, and always the last. */
function markedPoints(curve: readonly Point[], index: number, frame: Box): Point[] {
  const visible = curve.filter((point) => isInside(point, frame));
  const last = visible.at(-1);
  if (!last) return [];
  let next = visible[0][0] + ((index * 0.38) % 1) * markDistance;
  const marked = visible.slice(0, -1).filter(([x]) => {
    const isDue = x >= next;
    if (isDue) next = x + markDistance;
    return isDue;
  });
  return [...marked.filter((point) => distance(point, last) > 10), last];
}

/** Points on the frame are inside, also after rounding. */
function isInside([x, y]: Point, { left, right, top, bottom }: Box): boolean {
  const slack = 0.5;
  return x >= left - slack && x <= right + slack && y >= top - slack && y <= bottom + slack;
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

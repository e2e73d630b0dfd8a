import type { FigureAxis, FigureQuery } from '../../../src/apps/dashboard/api.ts';
import { axes, type QuantityKey, quantities } from '../../../src/reporting/charts/quantities.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export type Range = readonly [from: number, to: number];

/** What the page shows; all of it is in the part of the address after the #. */
export interface View {
  /**
   * The runs in one chart. The slot of a run decides its colour and dash; '' is a slot whose run
   * was removed, so that the others keep theirs.
   */
  readonly runs: readonly string[];
  /** The run that headline, tiles and panels are about. */
  readonly focus?: string | undefined;
  readonly x: FigureAxis;
  readonly xlog: boolean;
  /** The charts with a logarithmic y axis. */
  readonly ylog: readonly QuantityKey[];
  /** The part of the x axis that is shown; all of it when absent. */
  readonly zoom?: Range | undefined;
  /** The vector of weights that runs with several are shown by, from 0. */
  readonly vector: number;
  readonly theme: Theme;
  /** The chart that takes the whole width. */
  readonly large?: QuantityKey | undefined;
}

const defaultLogs = quantities.filter(({ log }) => log).map(({ key }) => key);

export const defaultView: View = {
  runs: [],
  x: 'seconds',
  xlog: false,
  ylog: defaultLogs,
  vector: 0,
  theme: 'auto',
};

const identifier = /^[\w.-]{1,100}$/;

/** The view of an address; unknown or invalid parts count as absent. */
export function parseView(hash: string): View {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const focus = given.get('focus') ?? '';
  const zoom = parseRange(given.get('zoom'));
  const large = quantities.find(({ key }) => key === given.get('large'))?.key;
  const ids = (given.get('runs') ?? '').split(',').map(validId);
  return {
    runs: trimSlots(ids.map((id, slot) => (ids.indexOf(id) === slot ? id : ''))),
    ...(identifier.test(focus) && { focus }),
    x: axes.find(({ key }) => key === given.get('x'))?.key ?? defaultView.x,
    xlog: given.get('xlog') === '1',
    ylog: given.has('ylog') ? parseKeys(given.get('ylog')!) : defaultView.ylog,
    ...(zoom && { zoom }),
    vector: parseVector(given.get('class')),
    theme: themes.find((theme) => theme === given.get('theme')) ?? defaultView.theme,
    ...(large && { large }),
  };
}

/** The part of an address that parseView makes the view of again; defaults are left out. */
export function formatView(view: View): string {
  const parts: string[] = [];
  const runs = trimSlots(view.runs);
  if (runs.length > 0) parts.push(`runs=${runs.join(',')}`);
  if (view.focus !== undefined) parts.push(`focus=${view.focus}`);
  if (view.x !== defaultView.x) parts.push(`x=${view.x}`);
  if (view.xlog) parts.push('xlog=1');
  if (view.ylog.toSorted().join() !== defaultLogs.join()) parts.push(`ylog=${view.ylog.join(',')}`);
  if (view.zoom) parts.push(`zoom=${view.zoom.map((end) => Number(end.toPrecision(8))).join(',')}`);
  if (view.vector !== 0) parts.push(`class=${view.vector + 1}`);
  if (view.theme !== defaultView.theme) parts.push(`theme=${view.theme}`);
  if (view.large) parts.push(`large=${view.large}`);
  return parts.length > 0 ? `#${parts.join('&')}` : '';
}

/** Ticks or unticks a run. A new one takes the first free slot. */
export function toggleRun(runs: readonly string[], id: string): string[] {
  if (runs.includes(id)) return trimSlots(runs.map((other) => (other === id ? '' : other)));
  const free = runs.indexOf('');
  return free < 0 ? [...runs, id] : runs.with(free, id);
}

/** Adds many; those that are there keep their slots. */
export function addRuns(runs: readonly string[], ids: readonly string[]): string[] {
  return ids.reduce<string[]>(
    (all, id) => (all.includes(id) ? all : toggleRun(all, id)),
    [...runs],
  );
}

function trimSlots(runs: readonly string[]): string[] {
  return runs.slice(0, runs.findLastIndex((id) => id !== '') + 1);
}

function validId(text: string): string {
  return identifier.test(text) ? text : '';
}

function parseKeys(text: string): QuantityKey[] {
  const names = text.split(',');
  return quantities.map(({ key }) => key).filter((key) => names.includes(key));
}

function parseRange(text: string | null): Range | undefined {
  const ends = (text ?? '').split(',');
  const [from, to] = ends.map((end) => (end.trim() === '' ? Number.NaN : Number(end)));
  return ends.length === 2 && Number.isFinite(from) && Number.isFinite(to) && from < to
    ? [from, to]
    : undefined;
}

function parseVector(text: string | null): number {
  return text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) - 1 : 0;
}

/** The address of a file with what a chart shows; a run that is gone leaves an empty slot. */
export function figureAddress(
  view: View,
  y: QuantityKey,
  format: 'svg' | 'png',
  isThere: (id: string) => boolean,
): string {
  const query: FigureQuery = {
    runs: view.runs.map((id) => (isThere(id) ? id : '')).join(','),
    y,
    x: view.x,
    format,
    scale: view.ylog.includes(y) ? 'log' : 'linear',
    ...(view.xlog && { xscale: 'log' as const }),
    ...(view.vector > 0 && { class: String(view.vector + 1) }),
    ...(view.zoom && { from: String(view.zoom[0]), to: String(view.zoom[1]) }),
  };
  return `api/figure?${new URLSearchParams({ ...query })}`;
}

/** Points to request of each run, so that many together stay light. */
export function pointsFor(runs: number): number {
  return Math.min(4000, Math.max(200, Math.floor(120_000 / Math.max(1, runs))));
}

/**
 * The range with values to compare with in it, as far as they are near: a goal that is further away
 * on a logarithmic axis than two powers of ten would leave the curves too little room.
 */
export function withRules([least, most]: Range, rules: readonly number[], log: boolean): Range {
  if (!log) return [least, most];
  const near = rules.filter((rule) => rule >= least / 100 && rule <= most * 10);
  const reach = 1.3;
  return [
    Math.min(least, ...near.map((rule) => rule / reach)),
    Math.max(most, ...near.map((rule) => rule * reach)),
  ];
}

/** Moves a range by a part of its width; both ends are values of the axis. */
export function panRange(range: Range, part: number, log: boolean): Range {
  return mapRange(range, log, ([from, to]) => {
    const step = part * (to - from);
    return [from + step, to + step];
  });
}

/** Makes a range narrower (factor < 1) or wider around a point of it, by default its middle. */
export function zoomRange(range: Range, factor: number, log: boolean, around?: number): Range {
  return mapRange(range, log, ([from, to]) => {
    const middle = around === undefined ? (from + to) / 2 : log ? Math.log(around) : around;
    return [middle - (middle - from) * factor, middle + (to - middle) * factor];
  });
}

/** The range within limits, or undefined when it is all of them: then nothing is zoomed. */
export function withinLimits(range: Range, limits: Range, log: boolean): Range | undefined {
  const position = (value: number) => (log ? Math.log(value) : value);
  const value = (at: number) => (log ? Math.exp(at) : at);
  const [low, high] = limits.map(position);
  const [from, to] = range.map(position);
  const width = to - from;
  // A tolerance for what rounding does on the way.
  if (!(width > 0) || width >= (high - low) * (1 - 1e-9)) return undefined;
  const start = Math.min(Math.max(from, low), high - width);
  return [value(start), value(start + width)];
}

function mapRange(range: Range, log: boolean, change: (range: Range) => Range): Range {
  if (!log) return change(range);
  const [from, to] = change([Math.log(range[0]), Math.log(range[1])]);
  return [Math.exp(from), Math.exp(to)];
}

import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Context, Hono } from 'hono';
import { DataError, DsoError } from '../../errors.ts';
import { axes, type FigureSpec, figureQuantities } from '../../reporting/charts/quantities.ts';
import type { Failure, RunsAnswer } from './api.ts';
import type { RunList } from './run-list.ts';
import type { Subscribers } from './subscribers.ts';

/** Points of a curve. */
export const mostPoints = 20_000;
/** Runs in a figure. */
export const mostRuns = 100;

const mostClasses = 1_000_000;
const scales = ['linear', 'log'] as const;

type Query = Readonly<Record<string, string>>;

/** Reads the query of a figure; a DataError says what is wrong with it. */
function figureParameters(query: Query) {
  const named = (query.runs ?? '').split(',');
  const runs = [...new Set(named.filter((id) => id !== ''))];
  if (runs.length === 0 || runs.length > mostRuns) {
    throw new DataError(
      `runs: found ${runs.length}; expected 1 to ${mostRuns} ids with commas between`,
    );
  }
  const scale = oneOf(query, 'scale', scales);
  const xscale = oneOf(query, 'xscale', scales);
  const from = finite(query, 'from');
  const to = finite(query, 'to');
  if (from !== undefined && to !== undefined && from >= to) {
    throw new DataError(`from ${from} to ${to}: expected the smaller one first`);
  }
  const keys = axes.map(({ key }) => key);
  const spec: FigureSpec = {
    y: oneOf(query, 'y', figureQuantities) ?? 'gap',
    x: oneOf(query, 'x', keys) ?? 'seconds',
    ...(scale && { scale }),
    ...(xscale && { xscale }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
  return {
    runs,
    /** The positions of the runs among those named, gaps counted. */
    positions: runs.map((id) => named.indexOf(id)),
    /** From 0. */
    vector: (wholeNumber(query, 'class', 1, mostClasses) ?? 1) - 1,
    format: oneOf(query, 'format', ['svg', 'png']) ?? 'svg',
    spec,
  };
}

function wholeNumber(query: Query, name: string, least: number, most: number): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^[0-9]{1,9}$/.test(text) && value >= least && value <= most) return value;
  return reject(name, text, `a whole number from ${least} to ${most}`);
}

function finite(query: Query, name: string): number | undefined {
  const text = query[name] || undefined;
  if (text === undefined) return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : reject(name, text, 'a number');
}

function oneOf<const Word extends string>(
  query: Query,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = query[name] || undefined;
  const word = words.find((candidate) => candidate === text);
  return text === undefined || word ? word : reject(name, text, words.join(', '));
}

function reject(name: string, text: string, expected: string): never {
  throw new DataError(`${name}: found ${JSON.stringify(text.slice(0, 40))}; expected ${expected}`);
}

/** Where the build puts the page: next to the bundles. */
const defaultFolder = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../dist/ui/' : './ui/', import.meta.url),
);

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const firstPage = 'index.html';
const forever = 'private, max-age=31536000, immutable';

interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The Cache-Control header of a file whose name has a hash: another content has another name. */
  readonly caching?: string;
}

/**
 * The files of the page by their paths below the token, '' being the page itself. They are read at
 * the start: they are small, and replacing the package must not leave a running server with half a
 * page.
 */
export function readPageFiles(folder: string = defaultFolder): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const path of pathsIn(folder)) {
    const name = relative(folder, path).split(sep).join('/');
    const type = types[extname(name)] ?? 'application/octet-stream';
    const isHashed = /^assets\/.*-[\w-]{8}\.\w+$/.test(name);
    const bytes = Uint8Array.from(readFileSync(path));
    files.set(name, { type, bytes, ...(isHashed && { caching: forever }) });
  }
  const page = files.get(firstPage);
  if (page) return files.set('', page);
  throw new DsoError(
    'failure',
    `${folder}: the page of the dashboard is missing (no ${firstPage}); ` +
      'run "npm run build" in a checkout, or install the package again',
  );
}

function pathsIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
}

interface RouteSettings {
  readonly token: string;
  readonly version: string;
  readonly runs: RunList;
  readonly subscribers: Subscribers;
  readonly files: ReadonlyMap<string, PageFile>;
  /** A failure that is not the client's. */
  readonly onFailure: (error: unknown) => void;
}

/** Points of a curve by default. */
const defaultPoints = 1000;

/** The addresses below the token. Access has been checked before. */
export function routesOf(settings: RouteSettings): Hono {
  const { token, files, onFailure } = settings;
  const app = new Hono().basePath(`/${token}`);
  addRuns(app, settings);
  addEvents(app, settings);
  addFigure(app, settings);
  app.get('/*', (context) => {
    const { path } = context.req;
    // Without the last slash, relative addresses of the page would be outside.
    if (path === `/${token}`) return context.redirect(`/${token}/`, 308);
    const file = files.get(path.slice(token.length + 2));
    if (file === undefined) return failure(context, 404, 'no such page');
    if (file.caching !== undefined) context.header('Cache-Control', file.caching);
    return context.body(file.bytes, 200, { 'Content-Type': file.type });
  });
  app.post('/*', (context) => {
    context.header('Allow', 'GET, HEAD');
    return failure(context, 405, 'only GET and HEAD are supported here');
  });
  app.notFound((context) => failure(context, 404, 'no such page'));
  app.onError((error, context) => {
    if (error instanceof DataError) return failure(context, 400, error.message);
    onFailure(error);
    return failure(context, 500, error.message);
  });
  return app;
}

function addRuns(app: Hono, { runs, version }: RouteSettings): void {
  app.get('/api/runs', (context) => {
    const answer: RunsAnswer = { version, ...runs.origin, runs: runs.list() };
    return context.json(answer);
  });
  app.get('/api/runs/:id', (context) => {
    const query = context.req.query();
    const points = wholeNumber(query, 'points', 2, mostPoints) ?? defaultPoints;
    const vector = wholeNumber(query, 'vector', 0, mostClasses) ?? 0;
    const detail = runs.detail(context.req.param('id'), { points, vector });
    return detail === undefined ? noRun(context) : context.json(detail);
  });
  app.get('/api/runs/:id/stop', (context) => {
    context.header('Allow', 'POST');
    return failure(context, 405, 'only POST is supported here');
  });
  app.post('/api/runs/:id/stop', (context) => {
    const id = context.req.param('id');
    const summary = runs.summary(id);
    if (summary === undefined) return noRun(context);
    if (runs.stop(id)) return context.json({ id }, 202);
    return failure(context, 409, `the run is not running: it is ${summary.status}`);
  });
}

function addEvents(app: Hono, { subscribers }: RouteSettings): void {
  app.get('/api/events', (context) => {
    const headers = { 'Content-Type': 'text/event-stream; charset=utf-8' };
    if (context.req.method === 'HEAD') return context.body(null, 200, headers);
    const stream = subscribers.join();
    if (!stream) return failure(context, 503, 'too many pages are open; close some');
    // Chunked: nothing is held back to count its bytes. The connection is not reused.
    const streamed = { ...headers, 'Transfer-Encoding': 'chunked', Connection: 'close' };
    return context.body(stream.body, 200, streamed);
  });
}

function addFigure(app: Hono, settings: RouteSettings): void {
  app.get('/api/figure', async (context) => {
    const { runs, positions, vector, format, spec } = figureParameters(context.req.query());
    const points = figurePoints(runs.length, spec);
    const details = runs.map((id) => settings.runs.detail(id, { points, vector }));
    const found = details.filter((detail) => detail !== undefined);
    if (found.length < runs.length) return noRun(context);
    // Drawing is imported when something is drawn.
    const { figureFileName, figureOf } = await import('../../reporting/charts/run-figure.ts');
    const { figureHeight, lineChart, svgToPng } = await import('../../reporting/charts/svg.ts');
    const chart = figureOf(found, spec, positions);
    const svg = lineChart(chart, { height: figureHeight(chart) });
    const name = figureFileName(runs, spec, format);
    context.header('Content-Disposition', `attachment; filename="${name}"`);
    if (format === 'svg') return context.body(svg, 200, { 'Content-Type': 'image/svg+xml' });
    const png = await svgToPng(svg);
    return context.body(Uint8Array.from(png), 200, { 'Content-Type': 'image/png' });
  });
}

/** As many as can be seen; for a part of the axis more, since most may be outside of it. */
function figurePoints(runs: number, { from, to }: FigureSpec): number {
  const isPart = from !== undefined || to !== undefined;
  const [least, most, all] = isPart ? [2000, mostPoints, 200_000] : [300, 2000, 40_000];
  return Math.max(least, Math.min(most, Math.floor(all / runs)));
}

function noRun(context: Context): Response {
  return failure(context, 404, 'no such run');
}

type FailureStatus = 400 | 404 | 405 | 409 | 500 | 503;

function failure(context: Context, status: FailureStatus, error: string): Response {
  return context.json({ error } satisfies Failure, status);
}

import { type Context, Hono } from 'hono';
import { DataError } from '../../errors.ts';
import { axes, type FigureSpec, figureQuantities } from '../../reporting/charts/quantities.ts';
import type { Failure, RunsAnswer } from './api.ts';
import type { PageFiles } from './page-files.ts';
import type { RunList } from './run-list.ts';
import type { Subscribers } from './subscribers.ts';

/** Points of a curve. */
export const mostPoints = 20_000;
/** Runs in a figure. */
export const mostRuns = 100;

const mostClasses = 1_000_000;
const scales = ['linear', 'log'] as const;

export interface FigureParameters {
  readonly runs: readonly string[];
  /** The positions of the runs among those named, gaps counted. */
  readonly places: readonly number[];
  /** From 0. */
  readonly vector: number;
  readonly format: 'svg' | 'png';
  readonly request: FigureSpec;
}

/** Reads the query of a figure; a DataError says what is wrong with it. */
export function figureParameters(query: Readonly<Record<string, string>>): FigureParameters {
  const named = (query.runs ?? '').split(',');
  const runs = [...new Set(named.filter((id) => id !== ''))];
  if (runs.length === 0 || runs.length > mostRuns) {
    throw new DataError(
      `runs: found ${runs.length}; wanted 1 to ${mostRuns} ids with commas between`,
    );
  }
  const scale = oneOf(query.scale, 'scale', scales);
  const xscale = oneOf(query.xscale, 'xscale', scales);
  const from = finite(query.from, 'from');
  const to = finite(query.to, 'to');
  if (from !== undefined && to !== undefined && from >= to) {
    throw new DataError(`from ${from} to ${to}: wanted the smaller one first`);
  }
  return {
    runs,
    places: runs.map((id) => named.indexOf(id)),
    vector: (wholeNumber(query.class, 'class', 1, mostClasses) ?? 1) - 1,
    format: oneOf(query.format, 'format', ['svg', 'png'] as const) ?? 'svg',
    request: {
      y: oneOf(query.y, 'y', figureQuantities) ?? 'gap',
      x:
        oneOf(
          query.x,
          'x',
          axes.map(({ key }) => key),
        ) ?? 'seconds',
      ...(scale !== undefined && { scale }),
      ...(xscale !== undefined && { xscale }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
  };
}

export function wholeNumber(
  text: string | undefined,
  name: string,
  least: number,
  most: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^[0-9]{1,9}$/.test(text) && value >= least && value <= most) return value;
  throw new DataError(
    `${name}: found ${shown(text)}; wanted a whole number from ${least} to ${most}`,
  );
}

function finite(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new DataError(`${name}: found ${shown(text)}; wanted a number`);
}

function oneOf<Word extends string>(
  text: string | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  if (text === undefined || text === '') return undefined;
  const word = words.find((candidate) => candidate === text);
  if (word !== undefined) return word;
  throw new DataError(`${name}: found ${shown(text)}; wanted ${words.join(', ')}`);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

export interface RouteSettings {
  readonly token: string;
  readonly version: string;
  readonly runs: RunList;
  readonly subscribers: Subscribers;
  readonly files: PageFiles;
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
    // Without the last slash, relative addresses of the page would lie outside.
    if (path === `/${token}`) return context.redirect(`/${token}/`, 308);
    const file = files.read(path.slice(token.length + 2));
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
    const own = runs.ownId;
    const answer: RunsAnswer = {
      version,
      folder: runs.folderName,
      path: runs.folderPath,
      ...(own !== undefined && { own }),
      runs: runs.list(),
    };
    return context.json(answer);
  });
  app.get('/api/runs/:id', (context) => {
    const points = wholeNumber(context.req.query('points'), 'points', 2, mostPoints);
    const vector = wholeNumber(context.req.query('vector'), 'vector', 0, 1e6);
    const query = { points: points ?? defaultPoints, ...(vector !== undefined && { vector }) };
    const detail = runs.detail(context.req.param('id'), query);
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
    if (stream === undefined) {
      return failure(context, 503, 'too many pages are open; close some');
    }
    // Chunked: nothing is held back to count its bytes. The connection is not reused.
    return context.body(stream.body, 200, {
      ...headers,
      'Transfer-Encoding': 'chunked',
      Connection: 'close',
    });
  });
}

function addFigure(app: Hono, settings: RouteSettings): void {
  app.get('/api/figure', async (context) => {
    const { runs, places, vector, format, request } = figureParameters(context.req.query());
    const points = figurePoints(runs.length, request);
    const details = runs.map((id) => settings.runs.detail(id, { points, vector }));
    const found = details.filter((detail) => detail !== undefined);
    if (found.length < runs.length) return noRun(context);
    // Drawing is imported when something is drawn.
    const { figureFileName, figureOf } = await import('../../reporting/charts/run-figure.ts');
    const { figureHeight, lineChart, svgToPng } = await import('../../reporting/charts/svg.ts');
    const chart = figureOf(found, request, places);
    const svg = lineChart(chart, { height: figureHeight(chart) });
    const name = figureFileName(runs, request, format);
    context.header('Content-Disposition', `attachment; filename="${name}"`);
    if (format === 'svg') return context.body(svg, 200, { 'Content-Type': 'image/svg+xml' });
    const png = await svgToPng(svg);
    return context.body(Uint8Array.from(png), 200, { 'Content-Type': 'image/png' });
  });
}

/** As many as can be seen; for a part of the axis more, since most may lie outside of it. */
function figurePoints(runs: number, { from, to }: FigureSpec): number {
  const isPart = from !== undefined || to !== undefined;
  const [least, most, all] = isPart ? [2000, mostPoints, 200_000] : [300, 2000, 40_000];
  return Math.max(least, Math.min(most, Math.floor(all / runs)));
}

function noRun(context: Context): Response {
  return failure(context, 404, 'no such run');
}

function failure(
  context: Context,
  status: 400 | 404 | 405 | 409 | 500 | 503,
  error: string,
): Response {
  const answer: Failure = { error };
  return context.json(answer, status);
}

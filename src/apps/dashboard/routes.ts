import type { Context } from 'hono';
import { Hono } from 'hono';
import type { Audience } from '../../dashboard/audience.ts';
import type { FigureRequest } from '../../dashboard/figure-request.ts';
import { figureQuestion, mostPoints, wholeNumber } from '../../dashboard/questions.ts';
import { DataError } from '../../errors.ts';
import type { Failure, RunsAnswer } from './api.ts';
import type { PageFiles } from './page-files.ts';
import type { RunShelf } from './run-list.ts';

export interface RouteSettings {
  readonly token: string;
  readonly version: string;
  readonly shelf: RunShelf;
  readonly audience: Audience;
  readonly files: PageFiles;
  /** A failure that is not the client's. */
  readonly onFailure: (error: unknown) => void;
}

/** Points of a curve unless told otherwise. */
const usualPoints = 1000;

/** The addresses below the token. Who may ask has been settled before. */
export function routesOf(settings: RouteSettings): Hono {
  const { token, files, onFailure } = settings;
  const app = new Hono().basePath(`/${token}`);
  addRuns(app, settings);
  addEvents(app, settings);
  addFigure(app, settings);
  app.get('/*', (context) => {
    const { path } = context.req;
    // Without the last slash, what the page names relative to itself would lie outside.
    if (path === `/${token}`) return context.redirect(`/${token}/`, 308);
    const file = files.read(path.slice(token.length + 2));
    if (file === undefined) return failure(context, 404, 'there is no such page');
    if (file.caching !== undefined) context.header('Cache-Control', file.caching);
    return context.body(file.bytes, 200, { 'Content-Type': file.type });
  });
  app.post('/*', (context) => {
    context.header('Allow', 'GET, HEAD');
    return failure(context, 405, 'only GET and HEAD are understood here');
  });
  app.notFound((context) => failure(context, 404, 'there is no such page'));
  app.onError((error, context) => {
    if (error instanceof DataError) return failure(context, 400, error.message);
    onFailure(error);
    return failure(context, 500, error.message);
  });
  return app;
}

function addRuns(app: Hono, { shelf, version }: RouteSettings): void {
  app.get('/api/runs', (context) => {
    const own = shelf.ownId;
    const answer: RunsAnswer = {
      version,
      folder: shelf.folderName,
      path: shelf.folderPath,
      ...(own !== undefined && { own }),
      runs: shelf.list(),
    };
    return context.json(answer);
  });
  app.get('/api/runs/:id', (context) => {
    const points = wholeNumber(context.req.query('points'), 'points', 2, mostPoints);
    const vector = wholeNumber(context.req.query('vector'), 'vector', 0, 1e6);
    const query = { points: points ?? usualPoints, ...(vector !== undefined && { vector }) };
    const detail = shelf.detail(context.req.param('id'), query);
    return detail === undefined ? noRun(context) : context.json(detail);
  });
  app.get('/api/runs/:id/stop', (context) => {
    context.header('Allow', 'POST');
    return failure(context, 405, 'only POST is understood here');
  });
  app.post('/api/runs/:id/stop', (context) => {
    const id = context.req.param('id');
    const summary = shelf.summary(id);
    if (summary === undefined) return noRun(context);
    if (shelf.stop(id)) return context.json({ id }, 202);
    return failure(context, 409, `the run does not go on: it is ${summary.status}`);
  });
}

function addEvents(app: Hono, { audience }: RouteSettings): void {
  app.get('/api/events', (context) => {
    const headers = { 'Content-Type': 'text/event-stream; charset=utf-8' };
    if (context.req.method === 'HEAD') return context.body(null, 200, headers);
    const stream = audience.join();
    if (stream === undefined) {
      return failure(context, 503, 'too many pages listen already; close some');
    }
    // Chunked: nothing is held back to count its bytes. The connection serves nothing else later.
    return context.body(stream.body, 200, {
      ...headers,
      'Transfer-Encoding': 'chunked',
      Connection: 'close',
    });
  });
}

function addFigure(app: Hono, { shelf }: RouteSettings): void {
  app.get('/api/figure', async (context) => {
    const { runs, places, vector, format, request } = figureQuestion(context.req.query());
    const points = figurePoints(runs.length, request);
    const details = runs.map((id) => shelf.detail(id, { points, vector }));
    const found = details.filter((detail) => detail !== undefined);
    if (found.length < runs.length) return noRun(context);
    // Drawing is imported when something is drawn.
    const { figureFileName, figureHeight, figureOf } = await import(
      '../../reporting/charts/run-figure.ts'
    );
    const { lineChart, svgToPng } = await import('../../reporting/charts/svg.ts');
    const chart = figureOf(found, request, places);
    const svg = lineChart(chart, { height: figureHeight(chart) });
    const name = figureFileName(runs, request, format);
    context.header('Content-Disposition', `attachment; filename="${name}"`);
    if (format === 'svg') return context.body(svg, 200, { 'Content-Type': 'image/svg+xml' });
    const png = await svgToPng(svg);
    return context.body(Uint8Array.from(png), 200, { 'Content-Type': 'image/png' });
  });
}

/** As many as can be seen, and of a part of the axis as many as there may be outside of it. */
function figurePoints(runs: number, { from, to }: FigureRequest): number {
  const isPart = from !== undefined || to !== undefined;
  const [least, most, all] = isPart ? [2000, mostPoints, 200_000] : [300, 2000, 40_000];
  return Math.max(least, Math.min(most, Math.floor(all / runs)));
}

function noRun(context: Context): Response {
  return failure(context, 404, 'there is no such run');
}

function failure(
  context: Context,
  status: 400 | 404 | 405 | 409 | 500 | 503,
  error: string,
): Response {
  const answer: Failure = { error };
  return context.json(answer, status);
}

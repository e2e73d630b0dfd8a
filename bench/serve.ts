import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stream } from '../src/math/random.ts';
import { writeModel } from '../src/model/file.ts';
import type { Model } from '../src/model/model.ts';
import type { Measure, PartReport } from './measure.ts';
import { isInstalled } from './processes.ts';
import { interleave, median } from './rounds.ts';
import { cacheFolder } from './samples.ts';
import type { LoadResult } from './serve/load.ts';
import { figure, table } from './table.ts';

const program = fileURLToPath(new URL('../bin/dso.js', import.meta.url));
const bareServer = fileURLToPath(new URL('serve/bare.ts', import.meta.url));
const load = fileURLToPath(new URL('serve/load.ts', import.meta.url));

const rounds = 5;
const connections = 16;
const warmUpSeconds = 2;
const seconds = 3;
const columns = 20_000;
const features = 50;
/** Of a named row, the others are categories. */
const numbers = 40;

/** A model of logistic regression with a name for every column. */
async function writeSample(): Promise<string> {
  const random = stream(1, 0);
  const model: Model = {
    task: 'classification',
    loss: { name: 'logistic', parameter: 0 },
    penalty: { name: 'l2', l1: 0, l2: 1 },
    lambda: 1e-4,
    classes: [-1, 1],
    columns,
    rows: 1,
    nonzeros: 1,
    solver: 'ring',
    grid: 1,
    seed: 1,
    certificate: {
      primal: 1,
      dual: 1,
      gap: 0,
      relativeGap: 0,
      epochs: 1,
      stopped: 'converged',
    },
    weights: Float64Array.from({ length: columns }, () => random.normal()),
    intercepts: Float64Array.of(0.5),
    featureNames: Array.from({ length: columns }, (_, column) =>
      column < numbers ? `number_${column}` : `text_${column % 10}=value ${column}`,
    ),
  };
  const path = join(cacheFolder, 'serve.model');
  await writeModel(path, model);
  return path;
}

function sparseRow(): string {
  const positions = Array.from({ length: features }, (_, position) => position);
  return JSON.stringify({
    indices: positions.map((position) => (columns / features) * position),
    values: positions.map((position) => Number(((position * 0.137) % 1).toFixed(4))),
  });
}

function namedRow(): string {
  const entries = Array.from({ length: features }, (_, position) =>
    position < numbers
      ? [`number_${position}`, Number(((position * 0.137) % 1).toFixed(4))]
      : [`text_${position % 10}`, `value ${position}`],
  );
  return JSON.stringify(Object.fromEntries(entries));
}

const pins = isInstalled('taskset') && availableParallelism() > 1;

/** A command line pinned to one core, if the system can do that. */
function pinned(core: number, args: readonly string[]): [command: string, args: string[]] {
  return pins
    ? ['taskset', ['-c', String(core), process.execPath, ...args]]
    : [process.execPath, [...args]];
}

/** Starts a server on core 0, sends requests from core 1, and ends it. */
async function measure(server: readonly string[], body: string): Promise<LoadResult> {
  const child = spawn(...pinned(0, server), { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = await portOf(child);
    const settings = [port, connections, warmUpSeconds, seconds, child.pid].map(String);
    const { stdout } = await promisify(execFile)(...pinned(1, [load, ...settings, body]));
    return JSON.parse(stdout) as LoadResult;
  } finally {
    child.kill('SIGKILL');
  }
}

async function portOf(child: ChildProcess): Promise<number> {
  const [chunk] = (await once(child.stdout!, 'data')) as [Buffer];
  return Number(/:(\d+)/.exec(chunk.toString())![1]);
}

const perProcessorSecond = ({ requests, processor }: LoadResult): number =>
  requests / (processor ?? NaN);

/**
 * Requests per second of the server's processor time are what one core would do if it had nothing
 * else to do, but for the caches, which other programs take away. The middle of all rounds counts;
 * the best one is shown next to it. Ratios are taken round by round.
 */
function summarize(results: readonly LoadResult[], bare: readonly LoadResult[]) {
  const middle = (pick: (result: LoadResult) => number) => median(results.map(pick));
  const rates = results.map(perProcessorSecond);
  return {
    perSecond: middle(({ requests, seconds: time }) => requests / time),
    perProcessorSecond: median(rates),
    best: Math.max(...rates),
    ratio: median(rates.map((rate, round) => rate / perProcessorSecond(bare[round]))),
    median: middle((result) => result.median),
    slowest: middle((result) => result.slowest),
  };
}

/** One row a request, against a server that only answers. */
export async function benchServe(): Promise<PartReport> {
  const model = await writeSample();
  const serve = [program, 'serve', model, '--port', '0'];
  const found = await interleave(
    { rounds },
    {
      bare: () => measure([bareServer], sparseRow()),
      sparse: () => measure(serve, sparseRow()),
      named: () => measure(serve, namedRow()),
    },
  );
  const rows = {
    'bare node:http': summarize(found.bare, found.bare),
    sparse: summarize(found.sparse, found.bare),
    named: summarize(found.named, found.bare),
  };
  console.log(
    table(
      ['serve', 'requests/s', 'per second of processor', 'best', 'of bare', 'p50', 'p99'],
      Object.entries(rows).map(([name, row]) => [
        name,
        figure(row.perSecond),
        figure(row.perProcessorSecond),
        figure(row.best),
        `${figure(row.ratio)}×`,
        `${figure(row.median)} ms`,
        `${figure(row.slowest)} ms`,
      ]),
    ),
  );
  const measures = (['sparse', 'named'] as const).flatMap((name): Measure[] => [
    {
      name: `serve, ${name} row of ${features}: requests per second of processor`,
      value: rows[name].perProcessorSecond,
      unit: '/s',
      target: { kind: 'at least', limit: 20_000 },
    },
    {
      name: `serve, ${name} row: of a bare node:http`,
      value: rows[name].ratio,
      unit: '×',
    },
  ]);
  const known = !Number.isNaN(rows.sparse.perProcessorSecond);
  const skipped = [
    ...(pins ? [] : ['serve: not pinned to a core (no taskset, or a single core)']),
    ...(known ? [] : ['serve: no /proc to read processor time from']),
  ];
  return { measures: known ? measures : [], details: found, skipped };
}

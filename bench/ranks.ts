import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchers } from '../test/support/launchers.ts';
import { largeData } from './large-data.ts';
import type { Measure, PartReport } from './measure.ts';
import { runProcess } from './processes.ts';
import { interleave } from './rounds.ts';
import { cacheFolder, largeText, type Sample } from './samples.ts';
import { figure, table } from './table.ts';
import { undisturbed } from './undisturbed.ts';

const program = fileURLToPath(new URL('../bin/dso.js', import.meta.url));
const limits = { rounds: 3 };
const epochs = 10;
/** Two processes of one thread may take so much longer than one process of two threads. */
const limit = 1.15;

/** A λ that leaves more than the heaviest columns a weight. */
const sparse = '--loss logistic --penalty l1 --lambda 1e-6 --solver working-set'.split(' ');

const methods: Readonly<Record<string, readonly string[]>> = {
  'ring rows, hinge': ['--solver', 'ring', '--mode', 'rows'],
  'ring columns, logistic': ['--loss', 'logistic', '--solver', 'ring', '--mode', 'columns'],
  'dso, hinge': ['--solver', 'dso'],
  'lbfgs, logistic': ['--loss', 'logistic', '--solver', 'lbfgs'],
  'newton, logistic': ['--loss', 'logistic', '--solver', 'newton'],
  'working-set, logistic, L1': sparse,
};

/** 320 MB in memory: what somebody would take a second machine for, in small. */
async function ranksData(): Promise<Sample> {
  const shape = { rows: 400_000, columns: 100_000, perRow: 100, pack: false };
  return { title: '40 million non-zeros', path: await largeData('ranks.dsob', shape) };
}

interface RankResult {
  readonly method: string;
  readonly data: string;
  /** Milliseconds per epoch. */
  readonly threads: number;
  readonly ranks: number;
  readonly sameBits: boolean;
}

/** Seconds of training after every epoch, and what the model is. */
async function run(prefix: readonly string[], argv: readonly string[]) {
  const log = join(cacheFolder, 'ranks.log');
  const model = join(cacheFolder, 'ranks.model');
  const [command, ...rest] = [...prefix, process.execPath, program, 'train', ...argv];
  const outputs = ['--quiet', '--log', log, '-o', model];
  const ends = ['--epochs', String(epochs), '--tolerance', '1e-15', '--grid', '4'];
  await runProcess(command, [...rest, ...ends, ...outputs], { codes: [0, 4] });
  const events = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; seconds: number })
    .filter(({ event }) => event === 'epoch');
  const hash = createHash('sha256').update(readFileSync(model)).digest('hex');
  return { marks: events.map(({ seconds }) => seconds), hash };
}

async function compareTransports(
  method: string,
  { title, path }: Sample,
  launcher: readonly string[],
): Promise<RankResult> {
  const found = await interleave(limits, {
    threads: () => run([], [path, ...methods[method], '--threads', '2']),
    ranks: () => run([...launcher, '-n', '2'], [path, ...methods[method], '--threads', '1']),
  });
  const hashes = Object.values(found).flatMap((runs) => runs.map(({ hash }) => hash));
  return {
    method,
    data: title,
    threads: undisturbed(found.threads.map(({ marks }) => marks)),
    ranks: undisturbed(found.ranks.map(({ marks }) => marks)),
    sameBits: new Set(hashes).size === 1,
  };
}

function rowOf({ method, data, threads, ranks, sameBits }: RankResult): string[] {
  const milliseconds = (value: number) => `${figure(value)} ms`;
  return [
    method,
    data,
    milliseconds(threads),
    milliseconds(ranks),
    `${figure(ranks / threads)}×`,
    sameBits ? 'same bits' : 'DIFFERENT',
  ];
}

function measureOf({ method, data, threads, ranks }: RankResult): Measure {
  const name = `epoch of ${method}, ${data}: 2 ranks × 1 thread against 1 × 2 threads`;
  return { name, value: ranks / threads, unit: '×', target: { kind: 'at most', limit } };
}

/** Two processes of one thread against one process of two threads, on one machine. */
export async function benchRanks(): Promise<PartReport> {
  const [{ path, options }] = launchers;
  if (path === undefined) {
    return { measures: [], details: [], skipped: ['ranks: Open MPI (mpirun) is not installed'] };
  }
  const results: RankResult[] = [];
  for (const sample of [await ranksData(), await largeText()]) {
    for (const method of Object.keys(methods)) {
      process.stderr.write(`  ${method}, ${sample.title} …\n`);
      results.push(await compareTransports(method, sample, [path, ...options]));
    }
  }
  const head = ['epoch of (grid 4)', 'data', '1 × 2 threads', '2 ranks × 1', 'ratio', 'models'];
  console.log(table(head, results.map(rowOf)));
  return { measures: results.map(measureOf), details: results, skipped: [] };
}

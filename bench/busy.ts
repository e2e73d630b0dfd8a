import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { readDataset } from '../src/train/read.ts';
import { liblinear, noLiblinear } from './liblinear.ts';
import type { Measure, PartOptions, PartReport } from './measure.ts';
import { isInstalled, runDso, runProcess } from './processes.ts';
import { interleave, median } from './rounds.ts';
import { cacheFolder, type Sample, timedSamples } from './samples.ts';
import { figure, table } from './table.ts';

const limits = { rounds: 7 };
const loops = [0, 1, 2, 6];
const lambda = 1e-5;
/** A loop ends by itself, should this program be killed. */
const loop = 'const end = Date.now() + 300_000; while (Date.now() < end);';

const problems: Readonly<Record<string, { flags: readonly string[]; rival: string }>> = {
  hinge: { flags: ['--loss', 'hinge'], rival: '3' },
  logistic: { flags: ['--loss', 'logistic'], rival: '7' },
};
const files = ['debdesc', 'real-sim-100'];

interface BusyResult {
  readonly data: string;
  readonly problem: string;
  readonly loops: number;
  /** Median seconds of whole commands. */
  readonly seconds: Readonly<Record<'default' | 'one' | 'liblinear', number>>;
}

async function beside<Result>(count: number, work: () => Promise<Result>): Promise<Result> {
  const running: ChildProcess[] = [];
  try {
    for (let k = 0; k < count; k++) running.push(spawn(process.execPath, ['-e', loop]));
    return await work();
  } finally {
    for (const child of running) child.kill();
  }
}

async function compare(
  { path, title }: Sample,
  problem: string,
  rows: number,
  count: number,
): Promise<BusyResult> {
  const { flags, rival } = problems[problem];
  const output = join(cacheFolder, 'busy.model');
  const argv = ['train', path, ...flags, '--lambda', String(lambda), '-o', output, '--quiet'];
  const cost = String(1 / (lambda * rows));
  const found = await beside(count, () =>
    interleave(limits, {
      default: async () => (await runDso(argv)).seconds,
      one: async () => (await runDso([...argv, '--threads', '1'])).seconds,
      liblinear: async () =>
        (await runProcess(liblinear, ['-q', '-s', rival, '-c', cost, path, output])).seconds,
    }),
  );
  const seconds = {
    default: median(found.default),
    one: median(found.one),
    liblinear: median(found.liblinear),
  };
  return { data: title, problem, loops: count, seconds };
}

function rowOf({ data, problem, loops: count, seconds }: BusyResult): string[] {
  const figures = Object.values(seconds).map((value) => `${value.toFixed(3)} s`);
  const ratios = [seconds.one, seconds.liblinear].map((other) => seconds.default / other);
  return [data, problem, `${count}`, ...figures, ...ratios.map((ratio) => `${figure(ratio)}×`)];
}

function measuresOf({ data, problem, loops: count, seconds }: BusyResult): Measure[] {
  if (count === 0) return [];
  const measure = (other: string, value: number, limit: number): Measure => ({
    name: `dso train ${problem}, ${data}, beside ${count} busy loops / ${other}`,
    value,
    unit: '×',
    target: { kind: 'at most', limit },
  });
  return [
    measure('--threads 1', seconds.default / seconds.one, 1.3),
    measure(liblinear, seconds.default / seconds.liblinear, 0.8),
  ];
}

/** Whole commands beside programs that take all the time they get. */
export async function benchBusy({ files: names }: PartOptions): Promise<PartReport> {
  if (!isInstalled(liblinear)) {
    return { measures: [], details: [], skipped: [`busy: ${noLiblinear}`] };
  }
  const results: BusyResult[] = [];
  const { samples, skipped } = await timedSamples(files, names);
  for (const [data, sample] of samples) {
    const { rows } = await readDataset(sample.path);
    for (const problem of Object.keys(problems)) {
      for (const count of loops) {
        process.stderr.write(`  ${data}, ${problem}, ${count} loops …\n`);
        results.push(await compare(sample, problem, rows, count));
      }
    }
  }
  const head = ['file', 'problem', 'busy loops', 'dso train', '--threads 1', liblinear];
  console.log(table([...head, '/ --threads 1', '/ LIBLINEAR'], results.map(rowOf)));
  return { measures: results.flatMap(measuresOf), details: results, skipped };
}

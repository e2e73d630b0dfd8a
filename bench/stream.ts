import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { largeData } from './large-data.ts';
import type { Measure, PartReport } from './measure.ts';
import { runDso } from './processes.ts';
import { cacheFolder } from './samples.ts';
import { figure, table } from './table.ts';

/** 200 million non-zeros, 1.6 GB. */
const shape = { rows: 400_000, columns: 200_000, perRow: 500 };
/** MiB: a quarter of the data. */
const limit = 380;
const epochs = 6;
/** The first epochs run code that the engine has not yet optimised; they are not counted. */
const warmUpEpochs = 2;

const methods: Readonly<Record<string, readonly string[]>> = {
  'ring rows, hinge': ['--solver', 'ring', '--mode', 'rows'],
  'dso, hinge': ['--solver', 'dso'],
};

interface StreamResult {
  readonly method: string;
  readonly source: 'memory' | 'disk';
  /** Seconds. */
  readonly epoch: number;
  readonly total: number;
  readonly peakBytes: number;
}

async function measure(
  path: string,
  method: string,
  source: StreamResult['source'],
): Promise<StreamResult> {
  const log = join(cacheFolder, 'stream.jsonl');
  const model = join(cacheFolder, `${source}.model`);
  const limits = ['--epochs', String(epochs), '--tolerance', '1e-12', '--log', log, '-o', model];
  const memory = source === 'disk' ? ['--memory', `${limit}M`, '--scratch', cacheFolder] : [];
  process.stderr.write(`  ${method}, from ${source} …\n`);
  const { seconds, peakBytes = 0 } = await runDso(
    ['train', path, ...methods[method], ...limits, ...memory, '--quiet'],
    { watchMemory: true, codes: [0, 4] },
  );
  const marks = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; seconds: number })
    .filter(({ event }) => event === 'epoch')
    .map((line) => line.seconds);
  const counted = marks[epochs - 1] - marks[warmUpEpochs - 1];
  return { method, source, epoch: counted / (epochs - warmUpEpochs), total: seconds, peakBytes };
}

/** The time of an epoch from disk, in the page cache, over that in memory; and what it takes. */
export async function benchStream(): Promise<PartReport> {
  const path = await largeData('stream.dsob', shape);
  const results: StreamResult[] = [];
  const measures: Measure[] = [];
  for (const method of Object.keys(methods)) {
    const memory = await measure(path, method, 'memory');
    const disk = await measure(path, method, 'disk');
    const [one, other] = ['memory', 'disk'].map((source) =>
      readFileSync(join(cacheFolder, `${source}.model`)),
    );
    if (!one.equals(other)) throw new Error(`${method}: the models differ`);
    results.push(memory, disk);
    measures.push({
      name: `epoch of ${method}, from disk / in memory`,
      value: disk.epoch / memory.epoch,
      unit: '×',
      target: { kind: 'at most', limit: 2 },
    });
    measures.push({
      name: `resident / limit of ${limit} MiB, ${method}`,
      value: disk.peakBytes / (limit * 2 ** 20),
      unit: '×',
      target: { kind: 'at most', limit: 1 },
    });
  }
  measures.push({
    name: 'data / limit',
    value: statSync(path).size / (limit * 2 ** 20),
    unit: '×',
  });
  const rows = results.map(({ method, source, epoch, total, peakBytes }) => [
    method,
    source,
    `${figure(epoch)} s`,
    `${figure(total)} s`,
    `${figure(peakBytes / 2 ** 20)} MiB`,
  ]);
  console.log(table(['epoch of', 'data in', 'epoch', 'whole run', 'resident'], rows));
  return { measures, details: results, skipped: [] };
}

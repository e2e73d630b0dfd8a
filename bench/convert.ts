import { join } from 'node:path';
import { readDataset } from '../src/train/read.ts';
import type { Measure, PartReport } from './measure.ts';
import { type ProcessResult, runDso } from './processes.ts';
import { interleave } from './rounds.ts';
import { cacheFolder, largeText, megabytes, type Sample } from './samples.ts';
import { figure, table } from './table.ts';

const limits = { rounds: 9, seconds: 10 };
const threads = 2;

/** Reading text against reading the .dsob made of it, and the memory that making it took. */
export async function benchConvert(): Promise<PartReport> {
  const text = await largeText();
  const runs: Record<string, ProcessResult> = {};
  const convert = async (title: string, ...options: string[]): Promise<Sample> => {
    const path = join(cacheFolder, `${title}.dsob`);
    const command = ['convert', text.path, '-o', path, '--quiet', ...options];
    runs[title] = await runDso(command, { watchMemory: true });
    return { title, path };
  };
  const samples = {
    text,
    plain: await convert('dsob'),
    packed: await convert('packed', '--pack'),
    float64: await convert('float64', '--values', 'float64'),
  };
  const read = (sample: Sample) => async () => {
    const start = performance.now();
    await readDataset(sample.path, { threads });
    return (performance.now() - start) / 1000;
  };
  const seconds = await interleave(limits, {
    text: read(samples.text),
    plain: read(samples.plain),
    packed: read(samples.packed),
    float64: read(samples.float64),
  });
  const fastest = (name: keyof typeof samples) => Math.min(...seconds[name]);
  const names = Object.keys(samples) as (keyof typeof samples)[];
  const rows = names.map((name) => {
    const size = megabytes(samples[name]);
    const run = runs[samples[name].title];
    return [
      samples[name].title,
      `${figure(size)} MB`,
      `${figure(size / fastest(name))} MB/s`,
      `${figure(fastest('text') / fastest(name))}×`,
      run ? `${figure(run.seconds)} s` : '',
      run?.peakBytes === undefined ? '' : `${figure(run.peakBytes / 1e6)} MB`,
    ];
  });
  const head = ['reading, 2 threads', 'file', 'speed', 'against text', 'converting', 'peak'];
  console.log(table(head, rows));
  const measures = names.slice(1).map((name): Measure => {
    const value = fastest('text') / fastest(name);
    return { name: `reading ${samples[name].title} against text`, value, unit: '×' };
  });
  return { measures, details: { seconds, runs }, skipped: [] };
}

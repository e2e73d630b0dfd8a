import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readDataset } from '../src/train/read.ts';
import type { Measure, PartReport } from './measure.ts';
import { namedSamples } from './named-samples.ts';
import { interleave } from './rounds.ts';
import { cacheFolder, largeText, megabytes, type Sample } from './samples.ts';
import { figure, table } from './table.ts';

const limits = { rounds: 9, seconds: 10 };
/** The other formats are read so often that a quiet moment is among them. */
const namedLimits = { rounds: 5 };

const freshProgram = fileURLToPath(new URL('parse/fresh.ts', import.meta.url));
/** The least that one and two threads should reach in a process that has just begun. */
const freshTargets = [600, 1000] as const;

/** How fast text becomes arrays, from files that the system has in memory. */
export async function benchParse(): Promise<PartReport> {
  const text = await measured(await largeText(), limits);
  const fresh = freshSpeeds(await largeText());
  const named = [];
  for (const sample of namedSamples()) named.push(await measured(sample, namedLimits));
  const speed = (value: number) => `${figure(value)} MB/s`;
  console.log(
    table(
      ['parsing', 'file', '1 thread', '2 threads', 'ratio'],
      [text, ...named].map(({ title, size, one, two }) => [
        title,
        `${figure(size)} MB`,
        speed(one),
        speed(two),
        `${figure(two / one)}×`,
      ]),
    ),
  );
  const freshMeasures = fresh.map((value, index): Measure => {
    const threads = index === 0 ? '1 thread' : `${index + 1} threads`;
    const target = { kind: 'at least' as const, limit: freshTargets[index] };
    return { name: `parsing in a fresh process, ${threads}`, value, unit: ' MB/s', target };
  });
  return {
    measures: [
      ...freshMeasures,
      { name: 'parsing, 1 thread', value: text.one, unit: ' MB/s' },
      {
        name: 'parsing, 2 threads',
        value: text.two,
        unit: ' MB/s',
        target: { kind: 'at least', limit: 600 },
      },
      ...named.map(measureOf),
    ],
    details: { text, fresh, named },
    skipped: [],
  };
}

/**
 * MB/s with one and two threads, as a command reads: from the first byte, threads start meanwhile. The
 * library is the built one.
 */
function freshSpeeds(sample: Sample): number[] {
  const env = { ...process.env, NODE_COMPILE_CACHE: join(cacheFolder, 'compiled') };
  const best = [Infinity, Infinity];
  for (let round = 0; round < limits.rounds; round++) {
    for (let index = 0; index < best.length; index++) {
      const argv = [freshProgram, sample.path, String(index + 1)];
      const { stdout, stderr, status } = spawnSync(process.execPath, argv, {
        encoding: 'utf8',
        env,
      });
      if (status !== 0) throw new Error(`${freshProgram}:\n${stderr}`);
      best[index] = Math.min(best[index], Number(stdout));
    }
  }
  return best.map((seconds) => megabytes(sample) / seconds);
}

interface Speeds {
  readonly title: string;
  /** Megabytes, and megabytes per second with one and two threads. */
  readonly size: number;
  readonly one: number;
  readonly two: number;
  readonly seconds: Record<string, number[]>;
}

async function measured(sample: Sample, rounds: { rounds: number }): Promise<Speeds> {
  const read = (threads: number) => async () => {
    const start = performance.now();
    await readDataset(sample.path, { threads });
    return (performance.now() - start) / 1000;
  };
  const seconds = await interleave(rounds, { one: read(1), two: read(2) });
  const size = megabytes(sample);
  const [one, two] = [size / Math.min(...seconds.one), size / Math.min(...seconds.two)];
  return { title: sample.title, size, one, two, seconds };
}

function measureOf({ title, two }: Speeds, index: number): Measure {
  const measure = { name: `parsing ${title}, 2 threads`, value: two, unit: ' MB/s' };
  // Numbers alone are what tables mostly hold.
  return index === 0 ? { ...measure, target: { kind: 'at least', limit: 100 } } : measure;
}

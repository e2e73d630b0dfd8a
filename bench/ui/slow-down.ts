import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeGenerated } from '../../src/data/generate.ts';
import type { EpochLine } from '../../src/reporting/records/record.ts';
import { listRuns } from '../../src/reporting/records/store.ts';
import { median } from '../rounds.ts';
import { cacheFolder } from '../samples.ts';
import { firstThreadTime, processorTime } from './processes.ts';

const program = fileURLToPath(new URL('../../bin/dso.js', import.meta.url));
const rounds = 6;
/** Milliseconds that count as opening, and that closing is given. */
const openingTime = 2000;
const parting = 2000;

/** Text shaped like real-sim, of which an epoch takes about as long as a frame. */
async function sample(): Promise<string> {
  const path = join(cacheFolder, 'real-sim-0.1.svm');
  if (existsSync(path)) return path;
  const testPath = `${path}.test`;
  await writeGenerated({ like: 'real-sim', scale: 0.1, seed: 1 }, { trainPath: path, testPath });
  rmSync(testPath);
  return path;
}

/** A training process without an end, with its page. */
export interface Training {
  readonly url: string;
  readonly pid: number;
  /** Its newest epoch. */
  latest(): EpochLine;
  stop(): void;
}

export async function startTraining(threads: number): Promise<Training> {
  const runs = mkdtempSync(join(cacheFolder, 'runs-'));
  const limits = ['--tolerance', '1e-15', '--epochs', '100000000', '--lambda', '1e-6'];
  const grid = ['--solver', 'dso', '--grid', '4', '--threads', String(threads)];
  const output = ['--ui', '--no-open', '--runs', runs, '-o', join(runs, 'x.model'), '--quiet'];
  const child = spawn(
    process.execPath,
    [program, 'train', await sample(), ...limits, ...grid, ...output],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const url = await addressOf(child);
  while (readdirSync(runs).length === 0 || !listRuns(runs)[0]?.latest) await sleep(100);
  return {
    url,
    pid: child.pid!,
    latest: () => listRuns(runs)[0].latest!,
    stop() {
      child.kill('SIGKILL');
      rmSync(runs, { recursive: true });
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/\S+\//.exec(text);
      if (found) resolve(found[0]);
    });
    child.on('close', () => reject(new Error(`dso train ended:\n${text}`)));
  });
}

/** What an epoch takes: seconds of the clock, and of processors as far as the training uses them. */
export interface Cost {
  readonly clock: number;
  readonly processor: number;
  /** Seconds of processors that the thread which serves takes in a second; it trains nothing. */
  readonly server: number;
  /** The same for the observer, if it can be measured. */
  readonly observer: number;
}

/** An observer of a training process that can be started and stopped. */
export interface Observer {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Seconds of processors that it has had so far. */
  processorTime(): number;
  /** Milliseconds that it has to come to rest after opening, and for which it is then watched. */
  readonly settling: number;
  readonly watching: number;
}

async function costOfEpoch(training: Training, observer: Observer): Promise<Cost> {
  const [start, before] = [performance.now(), training.latest()];
  const used = usedBy(training, observer);
  await sleep(observer.watching);
  const [after, usedThen] = [training.latest(), usedBy(training, observer)];
  const epochs = after.epoch - before.epoch;
  const seconds = (performance.now() - start) / 1000;
  return {
    clock: (after.seconds - before.seconds) / epochs,
    processor: (usedThen.training - used.training) / epochs,
    server: (usedThen.server - used.server) / seconds,
    observer: (usedThen.observer - used.observer) / seconds,
  };
}

function usedBy({ pid }: Training, observer: Observer) {
  return {
    training: processorTime(pid),
    server: firstThreadTime(pid),
    observer: observer.processorTime(),
  };
}

/** The middle of the rounds with the least and the most. */
export interface Spread {
  readonly middle: number;
  readonly least: number;
  readonly most: number;
}

export interface SlowDown {
  /** Ratio to the time without an observer. */
  readonly clock: Spread;
  readonly processor: Spread;
  /** Processor milliseconds per second for serving and for observing. */
  readonly server: Spread;
  readonly observer: Spread;
  /** Milliseconds of processors that opening takes. */
  readonly opening: Spread;
}

/**
 * How much more an epoch takes while it is observed than it took right before and right after, with
 * no observer: a machine that grows slower for a while then counts for neither. What opening takes
 * is measured separately: pages stay open for minutes.
 */
export async function slowDown(training: Training, observer: Observer): Promise<SlowDown> {
  const openings: number[] = [];
  const alone = [await costOfEpoch(training, observer)];
  const watched: Cost[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = observer.processorTime();
    await observer.start();
    await sleep(openingTime);
    openings.push(1000 * (observer.processorTime() - before));
    await sleep(observer.settling);
    watched.push(await costOfEpoch(training, observer));
    await observer.stop();
    await sleep(parting);
    alone.push(await costOfEpoch(training, observer));
  }
  const each = (key: keyof Cost, compare: (watched: number, alone: number) => number) =>
    spreadOf(
      watched.map((cost, round) =>
        compare(cost[key], (alone[round][key] + alone[round + 1][key]) / 2),
      ),
    );
  const ratio = (one: number, other: number) => one / other;
  const milliseconds = (one: number, other: number) => 1000 * (one - other);
  return {
    clock: each('clock', ratio),
    processor: each('processor', ratio),
    server: each('server', milliseconds),
    observer: each('observer', milliseconds),
    opening: spreadOf(openings),
  };
}

function spreadOf(values: readonly number[]): Spread {
  return { middle: median(values), least: Math.min(...values), most: Math.max(...values) };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeGenerated } from '../../src/data/generate.ts';
import type { EpochLine } from '../../src/runs/record.ts';
import { listRuns } from '../../src/runs/store.ts';
import { interleave, median } from '../rounds.ts';
import { cacheFolder } from '../samples.ts';

const program = fileURLToPath(new URL('../../bin/dso.js', import.meta.url));
/** Whoever looks has this long to begin with it, and is then looked on for so long. */
const settling = 1000;
const watching = 3000;
const rounds = 6;

/** Text shaped like real-sim, of which an epoch takes about as long as a frame. */
async function sample(): Promise<string> {
  const path = join(cacheFolder, 'real-sim-0.1.svm');
  if (existsSync(path)) return path;
  const testPath = `${path}.test`;
  await writeGenerated({ like: 'real-sim', scale: 0.1, seed: 1 }, { trainPath: path, testPath });
  rmSync(testPath);
  return path;
}

/** A training process that goes on for ever, with its page. */
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
  const place = ['--ui', '--no-open', '--runs', runs, '-o', join(runs, 'x.model'), '--quiet'];
  const child = spawn(
    process.execPath,
    [program, 'train', await sample(), ...limits, ...grid, ...place],
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
}

async function costOfEpoch(training: Training): Promise<Cost> {
  await sleep(settling);
  const [before, used] = [training.latest(), processorTime(training.pid)];
  await sleep(watching);
  const [after, usedThen] = [training.latest(), processorTime(training.pid)];
  const epochs = after.epoch - before.epoch;
  return {
    clock: (after.seconds - before.seconds) / epochs,
    processor: (usedThen - used) / epochs,
  };
}

/** Seconds that all threads of a process have had; NaN where the system does not tell. */
function processorTime(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

/**
 * How much more an epoch takes while somebody looks than while nobody does, in turn within one run:
 * the middle of all rounds.
 */
export async function slowDown(
  training: Training,
  look: () => Promise<void>,
  lookAway: () => Promise<void>,
): Promise<Cost> {
  const found = await interleave(
    { rounds },
    {
      alone: async () => {
        await lookAway();
        return costOfEpoch(training);
      },
      watched: async () => {
        await look();
        return costOfEpoch(training);
      },
    },
  );
  const ratio = (kind: keyof Cost) =>
    median(found.watched.map((cost, round) => cost[kind] / found.alone[round][kind]));
  return { clock: ratio('clock'), processor: ratio('processor') };
}

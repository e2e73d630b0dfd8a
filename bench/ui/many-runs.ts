import { mkdtempSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { stream } from '../../src/math/random.ts';
import { recordPath } from '../../src/reporting/records/folder.ts';
import type { RunLine } from '../../src/reporting/records/record.ts';
import { cacheFolder } from '../samples.ts';

export const runCount = 100;
export const epochCount = 10_000;

/** A folder with the records of runs that never were: gaps that fall, errors that waver. */
export function writeRuns(): { folder: string; ids: string[] } {
  const folder = mkdtempSync(join(cacheFolder, 'many-runs-'));
  const ids = Array.from({ length: runCount }, (_, run) => {
    const hour = String(Math.floor(run / 60)).padStart(2, '0');
    return `20260101-${hour}${String(run % 60).padStart(2, '0')}00-${(4096 + run).toString(16)}`;
  });
  for (const [run, id] of ids.entries()) {
    const lines = linesOf(id, run).map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(recordPath(folder, id), lines.join(''));
  }
  return { folder, ids };
}

function linesOf(id: string, run: number): RunLine[] {
  const random = stream(run, 0);
  const started = new Date(Date.UTC(2026, 0, 1, 0, run)).toISOString();
  const common = { loss: 'logistic', penalty: 'l2', rows: 72_309, columns: 20_958 };
  const lines: RunLine[] = [
    {
      event: 'start',
      format: 1,
      id,
      started,
      version: '0.1.0',
      pid: 1,
      host: hostname(),
      data: 'real-sim.svm',
      model: `${run}.model`,
      task: 'classification',
      tolerance: 1e-6,
      epochs: epochCount,
      options: { seed: run },
      ...common,
    },
    {
      event: 'begin',
      solver: run % 2 ? 'dso' : 'ring-rows',
      lambda: 10 ** -(3 + (run % 5)),
      nonzeros: 3_709_083,
      vectors: 1,
      grid: 4,
      threads: 2,
      loads: { rows: Array(4).fill(18_077), columns: Array(4).fill(5240) },
      imbalance: { rows: 0, columns: 0, nonzeros: 0 },
      seconds: { read: 1, partition: 0.2 },
      ...common,
    },
  ];
  let seconds = 0;
  for (let epoch = 1; epoch <= epochCount; epoch++) {
    seconds += 0.01 + 0.01 * random.uniform();
    const relativeGap = 10 ** (-(6 * epoch) / epochCount) * (1 + (run % 7));
    const primal = 0.3 * (1 + relativeGap);
    const testError = 0.05 + 0.1 * relativeGap + 0.005 * random.uniform();
    lines.push({
      event: 'epoch',
      epoch,
      seconds,
      passes: 2 * epoch,
      primal,
      dual: primal * (1 - relativeGap),
      relativeGap,
      testError,
    });
  }
  const ended = new Date(Date.parse(started) + 1000 * seconds).toISOString();
  lines.push({ event: 'result', ended, code: 0, model: `${run}.model`, stopped: 'converged' });
  return lines;
}

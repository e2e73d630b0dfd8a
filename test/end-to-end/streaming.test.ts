import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeDataset } from '../../src/data/binary/convert.ts';
import { executable, runDso } from '../support/command-line.ts';
import { largeDataset } from '../support/data.ts';
import { capMemory, peakOf } from '../support/memory-cap.ts';
import { temporaryFolder } from '../support/temporary.ts';

const dataset = largeDataset({ rows: 90_000, columns: 8000, perRow: 120 });

/** Runs `dso …` under a shell command and watches how large it becomes. */
function runWatched(enter: string, args: readonly string[], folder: string) {
  return new Promise<{ code: number | null; stderr: string; peak: number }>((resolve, reject) => {
    const command = `${enter}; exec "$0" "$@"`;
    const child = spawn('/bin/sh', ['-c', command, process.execPath, executable, ...args], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    let peak = 0;
    const look = setInterval(() => {
      peak = Math.max(peak, peakOf(child.pid ?? 0));
    }, 10);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(look);
      resolve({ code, stderr, peak });
    });
  });
}

describe('dso train --memory', () => {
  test('stays below the limit, with the model of a run that does not', async () => {
    const folder = temporaryFolder();
    await writeDataset(join(folder, 'data.dsob'), dataset);
    const limit = 200;
    const train = ['train', 'data.dsob', '--solver', 'ring', '--mode', 'rows', '--grid', '2'];
    const same = ['--threads', '1', '--epochs', '6', '--tolerance', '1e-9'];
    const free = await runWatched(':', [...train, ...same, '-o', 'free.model'], folder);
    expect(free.code, free.stderr).toBe(4);
    // Else the limit would prove nothing.
    expect(free.peak).toBeGreaterThan(limit * 2 ** 20);
    const cap = capMemory(limit * 2 ** 20);
    if (typeof cap === 'string') console.warn(`the system does not enforce the limit: ${cap}`);
    const small = await runWatched(
      typeof cap === 'string' ? ':' : cap.enter,
      [...train, ...same, '--memory', `${limit}M`, '--scratch', '.', '-o', 'small.model'],
      folder,
    );
    if (typeof cap !== 'string') cap.release();
    expect(small.code, small.stderr).toBe(4);
    expect(small.stderr).toContain('training from disk');
    expect(small.peak).toBeGreaterThan(0);
    expect(small.peak).toBeLessThanOrEqual(limit * 2 ** 20);
    const read = (name: string) => readFileSync(join(folder, name));
    expect(read('small.model').equals(read('free.model'))).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['data.dsob', 'free.model', 'small.model']);
    expect(statSync(join(folder, 'data.dsob')).size).toBeGreaterThan(80e6);
  });

  test('reads data that fits into memory', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'few.svm'), '+1 1:1\n-1 2:1\n+1 1:2 3:1\n');
    for (const data of ['few.svm', 'few.dsob']) {
      if (data === 'few.dsob') await runDso(['convert', 'few.svm', '-o', data], { folder });
      const run = await runDso(['train', data, '--memory', '1G'], { folder });
      expect(run.code, run.stderr).toBe(0);
      expect(run.stderr).not.toContain('from disk');
    }
  });

  test('needs .dsob data where it may not fit, and an amount it understands', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'few.svm'), '+1 1:1\n-1 2:1\n');
    const text = await runDso(['train', 'few.svm', '--memory', '100M'], { folder });
    expect(text.code).toBe(2);
    expect(text.stderr).toContain('dso convert DATA -o data.dsob');
    const piped = await runDso(['train', '-', '--memory', '4G'], { folder, input: '+1 1:1\n' });
    expect(piped.code).toBe(2);
    expect(piped.stderr).toContain('standard input');
    const odd = await runDso(['train', 'few.svm', '--memory', 'plenty'], { folder });
    expect(odd.code).toBe(2);
    expect(odd.stderr).toContain('it must be a number of bytes, such as 500M or 2G');
  });
});

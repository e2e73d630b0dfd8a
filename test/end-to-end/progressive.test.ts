import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { type Running, runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

const rows = sampleText({ rows: 400, columns: 40, perRow: 6 });
const lines = rows.trimEnd().split('\n');
const stream = ['train', '-', '--solver', 'sgd', '--progressive', '-o', 'm'];

/** Waits for a model of this many rows; the process must not end before. */
async function modelOf(path: string, count: number, running: Running): Promise<void> {
  for (;;) {
    if (running.process.exitCode !== null) throw new Error('ended before the model was there');
    if (existsSync(path) && (await readModel(path)).rows === count) return;
    await pause(20);
  }
}

test.concurrent('snapshots appear while the stream is open; SIGINT writes the model of all rows', async () => {
  const folder = lastingFolder();
  const path = join(folder, 'm');
  const running = startDso([...stream, '--snapshot-every', '100'], { folder, openInput: true });
  const { stdin } = running.process;
  // The last row is not complete yet.
  stdin.write(`${lines.slice(0, 100).join('\n')}\n${lines[100].slice(0, 5)}`);
  await modelOf(path, 100, running);
  stdin.write(`${lines[100].slice(5)}\n${lines.slice(101, 256).join('\n')}\n`);
  await modelOf(path, 200, running);
  await running.saw(/^ +256 /m);
  running.process.kill('SIGINT');
  const { code, stderr } = await running.finished;
  expect(code, stderr).toBe(130);
  expect((await readModel(path)).rows).toBe(256);
  expect(stderr).toContain('no certificate: rows were not kept');

  const whole = await runDso([...stream.slice(0, -1), 'n', '--quiet'], {
    folder,
    input: `${lines.slice(0, 256).join('\n')}\n`,
  });
  expect(whole).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(join(folder, 'n')).equals(readFileSync(path))).toBe(true);
});

test.concurrent('SIGTERM ends a stream that says nothing; the model is saved by time as well', async () => {
  const folder = lastingFolder();
  const args = [...stream, '--snapshot-every', '0.05s', '--quiet'];
  const running = startDso(args, { folder, openInput: true });
  running.process.stdin.write(`${lines.slice(0, 30).join('\n')}\n`);
  await modelOf(join(folder, 'm'), 30, running);
  running.process.kill('SIGTERM');
  expect(await running.finished).toMatchObject({ code: 143, stderr: '' });
});

test.concurrent('the model can be used like any other', async () => {
  const folder = lastingFolder();
  writeFileSync(join(folder, 'rows.svm'), rows);
  const args = ['train', 'rows.svm', '--progressive', '--json', '--loss', 'logistic', '-o', 'm'];
  const { code, stdout, stderr } = await runDso(args, { folder });
  expect(code, stderr).toBe(0);
  const report = JSON.parse(stdout.toString());
  expect(report).toMatchObject({ rows: 400, columns: 40, stopped: 'stream', classes: [-1, 1] });
  expect(report.error).toBeGreaterThan(0);
  expect(report.error).toBeLessThan(0.3);
  const predicted = await runDso(['predict', 'm', 'rows.svm'], { folder });
  const labels = predicted.stdout.toString().trim().split('\n').map(Number);
  const right = labels.filter((label, row) => label === Number(lines[row].split(' ')[0]));
  expect(right.length / labels.length).toBeGreaterThan(0.85);
  const inspected = await runDso(['inspect', 'm'], { folder });
  expect(inspected.code, inspected.stderr).toBe(0);
});

test.concurrent('CSV whose categories appear on the way', async () => {
  const folder = lastingFolder();
  const cities = ['Paris', 'Rome', 'Oslo', 'Bern'];
  const csv = Array.from({ length: 200 }, (_, row) => {
    const city = cities[Math.min(3, Math.floor(row / 40)) - (row % 2 && row > 40 ? 1 : 0)];
    return `${city},${row % 7},${city === 'Rome' || city === 'Bern' ? 'warm' : 'cold'}\n`;
  });
  const input = `city,day,label\n${csv.join('')}`;
  const run = await runDso([...stream, '--format', 'csv'], { folder, input });
  expect(run.code, run.stderr).toBe(0);
  expect(run.stderr).toContain('CSV: label column "label", 1 numeric and 1 categorical columns');
  const { featureNames, classes, recipe } = await readModel(join(folder, 'm'));
  expect(featureNames).toEqual(['day', 'city=Paris', 'city=Rome', 'city=Oslo', 'city=Bern']);
  expect(classes).toEqual(['cold', 'warm']);
  expect(recipe?.fields?.[0]).toEqual({ name: 'city', kind: 'category' });
  writeFileSync(join(folder, 'new.csv'), 'city,day\nRome,1\nOslo,1\n');
  const predicted = await runDso(['predict', 'm', 'new.csv'], { folder });
  expect(predicted.stdout.toString()).toBe('warm\ncold\n');
});

test.concurrent('a line that cannot be read: exit 3, its position, and the last snapshot stays', async () => {
  const folder = lastingFolder();
  const input = `${lines.slice(0, 250).join('\n')}\n+1 7:x\n${lines.slice(250).join('\n')}\n`;
  const run = await runDso([...stream, '--snapshot-every', '100'], { folder, input });
  expect(run.code).toBe(3);
  expect(run.stderr).toContain('standard input:251: value "x" of feature 7');
  expect(run.stderr).toContain('the model of the first 200 rows is in m');
  expect((await readModel(join(folder, 'm'))).rows).toBe(200);
});

describe.concurrent('refused: exit 2, in words', () => {
  test.each([
    [['--test', 'x.svm'], '--test cannot be used with --progressive'],
    [['--tolerance', '0.1'], '--tolerance cannot be used with --progressive'],
    [['--no-svrg'], '--no-svrg cannot be used with --progressive'],
    [['--checkpoint', 'saved'], '--checkpoint cannot be used with --progressive'],
    [['--solver', 'ring'], '--solver ring: --progressive is stochastic gradient descent'],
    [['--step', 'sqrt'], '--step sqrt: --progressive has only AdaGrad steps'],
    [['-o', '-'], '--output -: each snapshot replaces the previous one'],
    [['--snapshot-every', '0'], 'it must be a number of rows (5000) or a time'],
  ])('%j', async (options, message) => {
    const folder = lastingFolder();
    const run = await runDso(['train', '-', '--progressive', ...options], { folder, input: rows });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(message);
    expect(existsSync(join(folder, 'dso.model'))).toBe(false);
  });

  test('more than one file', async () => {
    const folder = lastingFolder();
    for (const name of ['a.svm', 'b.svm']) writeFileSync(join(folder, name), rows);
    const run = await runDso(['train', '*.svm', '--progressive', '-o', 'm'], { folder });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('*.svm: 2 files; --progressive reads one stream');
  });
});

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { startDso } from '../support/command-line.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Starts a run whose gap stays far from the tolerance and waits until it has done some epochs. */
async function endlessRun(folder: string) {
  const data = join(folder, 'train.svm');
  writeFileSync(data, sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
  const limits = ['--solver', 'dso', '--tolerance', '1e-15', '--epochs', '100000000'];
  const running = startDso(['train', data, '-o', 'partial.model', '--log', 'log', ...limits], {
    folder,
  });
  await running.saw(/^epoch 3 /m);
  return running;
}

describe('a signal during training', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s: the model reached so far is written, exit code %i', async (signal, code) => {
    const folder = temporaryFolder();
    const running = await endlessRun(folder);
    running.process.kill(signal);
    const run = await running.finished;
    expect(run.code, run.stderr).toBe(code);
    expect(run.stderr).toContain('interrupted after');
    const model = await readModel(join(folder, 'partial.model'));
    expect(model.certificate.stopped).toBe('interrupted');
    expect(model.certificate.epochs).toBeGreaterThanOrEqual(3);
    expect(model.weights.some((weight) => weight !== 0)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['log', 'partial.model', 'train.svm']);
  });

  test('two at once quit without a half-written model', async () => {
    const folder = temporaryFolder();
    const running = await endlessRun(folder);
    running.process.kill('SIGINT');
    running.process.kill('SIGTERM');
    const run = await running.finished;
    expect([130, 143]).toContain(run.code);
    const path = join(folder, 'partial.model');
    if (existsSync(path)) expect((await readModel(path)).columns).toBe(2000);
  });
});

test('a signal while reading ends at once and writes nothing', async () => {
  const folder = temporaryFolder();
  const running = startDso(['train', '-', '-o', 'x.model'], { folder, openInput: true });
  const input = '+1 1:1\n-1 2:1\n'.repeat(100_000);
  // More than a pipe holds: once it is written, the command is reading.
  await new Promise((resolve) => running.process.stdin.write(input, resolve));
  running.process.kill('SIGINT');
  const run = await running.finished;
  expect(run.code, run.stderr).toBe(130);
  expect(readdirSync(folder)).toEqual([]);
});

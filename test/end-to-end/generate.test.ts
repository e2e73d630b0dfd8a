import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';

const lastingFolder = lastingFolders();

describe.concurrent('generate', () => {
  test('writes a training and a test part, the same for the same seed', async () => {
    const folder = lastingFolder();
    const options = ['generate', '--like', 'real-sim', '--size', '0.01'];
    const run = await runDso(options, { folder });
    expect(run.code, run.stderr).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(['real-sim.test.svm', 'real-sim.train.svm']);
    expect(run.stderr).toMatch(/^real-sim\.train\.svm: 578 rows × [\d,]+ columns, /m);
    for (const [prefix, seed] of [
      ['same', '1'],
      ['other', '2'],
    ]) {
      await runDso([...options, '--seed', seed, '-o', prefix, '--quiet'], { folder });
    }
    const [first, same, other] = ['real-sim', 'same', 'other'].map((prefix) =>
      readFileSync(join(folder, `${prefix}.train.svm`)),
    );
    expect(same.equals(first)).toBe(true);
    expect(other.equals(first)).toBe(false);
  });

  test('refuses a folder that is not there', async () => {
    const folder = lastingFolder();
    const run = await runDso(['generate', '--like', 'splice', '-o', 'none/x'], { folder });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('there is no folder none');
  });
});

test.concurrent('demo generates, trains, tests and says where everything is', async () => {
  const folder = lastingFolder();
  const run = await runDso(['demo', 'out', '--size', '0.02'], { folder });
  expect(run.code, run.stderr).toBe(0);
  const text = run.stdout.toString();
  for (const part of ['generated', 'trained', 'of the optimum', 'tested', 'Next']) {
    expect(text).toContain(part);
  }
  const written = ['real-sim.train.svm', 'real-sim.test.svm', 'real-sim.model', 'report.json'];
  for (const name of written) {
    expect(text).toContain(join('out', name));
    expect(existsSync(join(folder, 'out', name)), name).toBe(true);
  }
  const report = JSON.parse(readFileSync(join(folder, 'out', 'report.json'), 'utf8'));
  expect(report).toMatchObject({ loss: 'hinge', stopped: 'converged' });
  expect(report.test.error).toBeLessThan(0.2);
  const model = await readModel(join(folder, 'out', 'real-sim.model'));
  expect(model.certificate.relativeGap).toBe(report.relativeGap);
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { main } from '../../src/apps/cli/program.ts';
import { readModel } from '../../src/model/file.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { memoryIo } from '../support/memory-io.ts';
import { runHere } from '../support/run-here.ts';
import { sampleText } from '../support/sample-text.ts';
import { markupFault } from '../unit/train/compare/support/well-formed.ts';

const lastingFolder = lastingFolders();

const shape = { rows: 300, columns: 40, perRow: 8 };

function dataFolder(): string {
  const folder = lastingFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText(shape));
  return folder;
}

/** Until a run has come to a point; the limit is that of the test. */
const waiting = { timeout: 600_000, interval: 20 };

describe.concurrent('dso cv', () => {
  test('chooses λ, draws, and trains on all rows as dso train does', async () => {
    const folder = dataFolder();
    const more = ['--count', '6', '--folds', '4', '--csv', 'cv.csv', '--figure', 'cv.svg'];
    const args = ['cv', 'train.svm', '--loss', 'logistic', ...more];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const lines = stdout.toString().trimEnd().split('\n');
    expect(lines).toHaveLength(7);
    expect(lines[0]).toMatch(/^ +λ +error +gap +epochs$/);
    for (const line of lines.slice(1)) expect(line).toMatch(/ % {2}± [\d.]+ % /);
    expect(lines.filter((line) => line.includes('  best'))).toHaveLength(1);
    expect(stderr).toContain('model in train.svm.model');

    const model = await readModel(join(folder, 'train.svm.model'));
    const trained = ['--lambda', String(model.lambda), '-o', 'other.model', '--quiet'];
    await runDso(['train', 'train.svm', '--loss', 'logistic', ...trained], { folder });
    expect(readFileSync(join(folder, 'train.svm.model'))).toEqual(
      readFileSync(join(folder, 'other.model')),
    );

    const csv = readFileSync(join(folder, 'cv.csv'), 'utf8').trimEnd().split('\n');
    expect(csv[0]).toBe(
      'lambda,mean,standard_error,relative_gap,epochs,passes,fold_1,fold_2,fold_3,fold_4',
    );
    const table = csv.slice(1).map((line) => line.split(',').map(Number));
    const means = table.map(([, mean]) => mean);
    expect(table[means.indexOf(Math.min(...means))][0]).toBe(model.lambda);
    const figure = readFileSync(join(folder, 'cv.svg'), 'utf8');
    expect(markupFault(figure)).toBeUndefined();
    expect(figure).toContain('4 folds; bars are one standard error of the mean');
    expect(figure).toContain('class="bars"');
    expect(figure).toMatch(/>best: λ = [\d.e-]+</);
  });

  test('--choose simplest, --metric and --json', async () => {
    const folder = dataFolder();
    const more = ['--metric', 'auc', '--choose', 'simplest', '--json', '--count', '8'];
    const args = ['cv', 'train.svm', ...more, '--folds', '3', '-o', 'm.model'];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout.toString()) as {
      simplest: number;
      best: number;
      lambdas: { folds: number[] }[];
      report: { lambda: number };
    };
    expect(report).toMatchObject({ metric: 'auc', folds: 3, complete: true, model: 'm.model' });
    expect(report).toMatchObject({ chosen: report.simplest });
    expect(report.simplest).toBeGreaterThanOrEqual(report.best);
    expect(report.report.lambda).toBe(report.simplest);
    expect(report.lambdas.map(({ folds }) => folds.length)).toEqual(Array(8).fill(3));
  });

  test('--no-refit writes no model; another seed assigns other folds', async () => {
    const folder = dataFolder();
    const run = async (seed: string) => {
      const args = ['cv', 'train.svm', '--no-refit', '--lambda', '0.01', '--seed', seed];
      const { code, stdout, stderr } = await runDso([...args, '--csv', '-'], { folder });
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('best');
      return stdout.toString();
    };
    const first = await run('1');
    expect(await run('1')).toBe(first);
    expect(await run('2')).not.toBe(first);
    expect(readdirSync(folder)).toEqual(['train.svm']);
  });

  test('several classes by name, from a table', async () => {
    const folder = lastingFolder();
    const kinds = ['ant', 'bee', 'cow'];
    const rows = Array.from({ length: 90 }, (_, k) => `${(k * 7) % 11},${k % 3},${kinds[k % 3]}`);
    writeFileSync(join(folder, 'data.csv'), ['size,legs,class', ...rows].join('\n'));
    const args = ['cv', 'data.csv', '--intercept', '--count', '4', '--loss', 'logistic'];
    const { code, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const model = await readModel(join(folder, 'data.csv.model'));
    expect(model.classes).toEqual(kinds);
    expect(model.featureNames).toEqual(['size', 'legs']);
  });

  test('regression has its own measure', async () => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'real.svm'), sampleText({ ...shape, labels: 'real' }));
    const args = ['cv', 'real.svm', '--loss', 'square', '--count', '3', '--quiet'];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect([code, stdout.toString(), stderr]).toEqual([0, '', '']);
    const again = await runDso([...args.slice(0, -1), '--no-refit'], { folder });
    expect(again.stdout.toString()).toContain('squared error');
  });

  test('Ctrl-C before anything is known says so', async ({ onTestFinished }) => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'large.svm'), sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
    const limits = ['--lambda', '1e-4', '--tolerance', '1e-15', '--epochs', '100000000'];
    const args = ['cv', 'large.svm', '--solver', 'dso', ...limits];
    const running = startDso(args, { folder });
    onTestFinished(() => void running.process.kill('SIGKILL'));
    await running.saw(/solver dso/);
    running.process.kill('SIGINT');
    const { code, stdout, stderr } = await running.finished;
    expect([code, stdout.toString()], stderr).toEqual([130, '']);
    expect(stderr).toContain('interrupted before anything was measured');
    expect(readdirSync(folder)).toEqual(['large.svm']);
  });

  test('Ctrl-C: what is known is shown, no model is written', async () => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'large.svm'), sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
    // At the second λ the relative gap never comes below 1e-11.
    const limits = ['--lambda', '10,1e-9', '--tolerance', '1e-14', '--epochs', '100000000'];
    const csv = join(folder, 'cv.csv');
    const args = ['cv', join(folder, 'large.svm'), ...limits, '--threads', '1', '--csv', csv];
    const io = memoryIo({ terminal: true, environment: { NO_COLOR: '1' } });
    const running = main([...args, '-o', join(folder, 'x.model')], io);
    await vi.waitUntil(() => io.stderr.text.includes('cross-validating … 10 %'), waiting);
    io.send('SIGINT');
    expect(await running, io.stderr.text).toBe(130);
    expect(io.stdout.text).toMatch(/^ *10 .* ± – .* best$/m);
    expect(io.stderr.text).toContain('incomplete: 1 fold of 5 measured, at 1 lambda');
    expect(readdirSync(folder).sort()).toEqual(['cv.csv', 'large.svm']);
  });
});

describe('refused', () => {
  test.each([
    [['--folds', '1'], 2, /--folds is 1; it must be a whole number of at least 2/],
    [
      ['--metric', 'mse'],
      2,
      /classification, which is not measured by mse: choose error, loss, auc/,
    ],
    [['--metric', 'f1'], 2, /--metric is f1; it must be one of error, loss, mse, mae, auc/],
    [['--folds', '301'], 2, /301 folds need at least 301 rows; this data has 300/],
    [['--json', '-o', '-'], 2, /both use standard output/],
    [['--figure', 'cv'], 2, /\.svg or \.png/],
    [['--solver', 'lbfgs'], 2, /lbfgs is not compatible with loss 'hinge': it needs a smooth loss/],
  ])('%j', async (more, expected, message) => {
    const folder = dataFolder();
    const { code, stderr } = await runHere(['cv', 'train.svm', ...more], folder);
    expect(code, stderr).toBe(expected);
    expect(stderr).toMatch(message);
    expect(readdirSync(folder)).toEqual(['train.svm']);
  });
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
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

const few = ['--lambda', '0.03,0.003', '--folds', '3'];

describe.concurrent('dso search', () => {
  test('ranks every loss with every penalty and trains the winner', async () => {
    const folder = dataFolder();
    const losses = ['--loss', 'hinge,logistic', '--penalty', 'l2,elastic-net'];
    const more = ['--l1-ratio', '0.1,0.9', '--csv', 's.csv', '--figure', 's.svg'];
    const args = ['search', 'train.svm', ...losses, ...more, ...few];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const lines = stdout.toString().trimEnd().split('\n');
    expect(lines).toHaveLength(7);
    expect(lines[0]).toMatch(/^# +loss +penalty +λ +error +gap +epochs$/);
    const errors = lines.slice(1).map((line) => Number(/([\d.]+) % {2}±/.exec(line)?.[1]));
    expect(errors).toEqual(errors.toSorted((left, right) => left - right));
    const [, loss, penalty] = /^1 {2}(\S+) +(\S+)/.exec(lines[1]) ?? [];
    const model = await readModel(join(folder, 'train.svm.model'));
    expect([model.loss.name, model.penalty.name]).toEqual([loss, penalty]);
    const csv = readFileSync(join(folder, 's.csv'), 'utf8').trimEnd().split('\n');
    expect(csv).toHaveLength(1 + 6 * 2);
    expect(csv[0]).toMatch(/^loss,penalty,lambda,mean,/);
    const figure = readFileSync(join(folder, 's.svg'), 'utf8');
    expect(markupFault(figure)).toBeUndefined();
    expect(figure).toContain('>hinge, elastic-net 0.9<');
  });

  test('as JSON, without a model', async () => {
    const folder = dataFolder();
    const args = ['search', 'train.svm', '--json', '--no-refit', '--quiet', ...few];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect([code, stderr]).toEqual([0, '']);
    const { ranking, ...rest } = JSON.parse(stdout.toString()) as {
      ranking: { loss: string; penalty: string; chosen: number }[];
    };
    expect(rest).toEqual({ metric: 'error', complete: true, folds: 3 });
    expect(ranking.map(({ loss, penalty }) => `${loss} ${penalty}`).toSorted()).toEqual([
      'hinge l1',
      'hinge l2',
      'logistic l1',
      'logistic l2',
    ]);
    expect(readdirSync(folder)).toEqual(['train.svm']);
  });

  test('bounds of the weights are those of every penalty', async () => {
    const folder = dataFolder();
    const args = ['search', 'train.svm', '--non-negative', '--quiet', ...few];
    const { code, stderr } = await runDso(args, { folder });
    expect([code, stderr]).toEqual([0, '']);
    const { weights } = await readModel(join(folder, 'train.svm.model'));
    expect(weights.every((weight) => weight >= 0)).toBe(true);
    expect(weights.some((weight) => weight > 0)).toBe(true);
  });

  test('a parameter goes to the loss whose it is', async () => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'real.svm'), sampleText({ ...shape, labels: 'real' }));
    const losses = ['--loss', 'square,huber', '--delta', '0.25', '--penalty', 'l2'];
    const args = ['search', 'real.svm', ...losses, '--json', '--no-refit', ...few];
    const { stdout } = await runDso(args, { folder });
    const { ranking } = JSON.parse(stdout.toString()) as { ranking: object[] };
    expect(ranking).toContainEqual(expect.objectContaining({ loss: 'huber', delta: 0.25 }));
  });
});

test.each([
  [['--loss', 'hinge,square'], /no measure fits both/],
  [['--loss', 'hing'], /did you mean 'hinge'/],
  [['--penalty', 'l3'], /it must be some of l2, l1, elastic-net/],
  [['--l1-ratio', '0.5'], /--l1-ratio is an option of --penalty elastic-net/],
  [['--delta', '2'], /not an option of any of the losses hinge, logistic/],
  [['--metric', 'loss'], /choose error or auc/],
  [
    ['--loss', 'hinge,,logistic'],
    /it must be names of losses or paths of modules, separated by commas/,
  ],
])('%j is refused', async (more, message) => {
  const folder = dataFolder();
  const { code, stderr } = await runHere(['search', 'train.svm', ...more, ...few], folder);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(readdirSync(folder)).toEqual(['train.svm']);
});

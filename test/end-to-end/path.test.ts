import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { runDso, startDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { runHere } from '../support/run-here.ts';
import { sampleText } from '../support/sample-text.ts';
import { markupFault, pngSize } from '../unit/train/compare/support/well-formed.ts';

const lastingFolder = lastingFolders();

const shape = { rows: 300, columns: 40, perRow: 8 };

function dataFolder(): string {
  const folder = lastingFolder();
  writeFileSync(join(folder, 'train.svm'), sampleText(shape));
  writeFileSync(join(folder, 'test.svm'), sampleText({ ...shape, rows: 150, seed: 2 }));
  return folder;
}

const problem = ['path', 'train.svm', '--loss', 'logistic', '--penalty', 'l1'];

describe.concurrent('dso path', () => {
  test('trains a model for every λ and keeps the best', async () => {
    const folder = dataFolder();
    const files = ['-o', 'best.model', '--models', 'all', '--csv', 'path.csv', '--figure', 'p.svg'];
    const args = [...problem, '--count', '6', '--test', 'test.svm', ...files];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const lines = stdout.toString().trimEnd().split('\n');
    expect(lines).toHaveLength(7);
    expect(lines[0]).toMatch(/^ +λ +non-zeros +objective +gap +epochs +test error$/);
    expect(lines[1]).toMatch(/^ *0\.\d+ +0 +0\.693147 /);
    expect(lines.filter((line) => line.endsWith('  best'))).toHaveLength(1);
    expect(stderr).toContain('model with the lowest test error in best.model');

    const models = readdirSync(join(folder, 'all'));
    expect(models).toHaveLength(6);
    expect(models[0]).toMatch(/^1-lambda-0\.\d+\.model$/);
    const index = lines.findIndex((line) => line.endsWith('  best')) - 1;
    const best = await readModel(join(folder, 'best.model'));
    expect(await readModel(join(folder, 'all', models[index]))).toEqual(best);

    const csv = readFileSync(join(folder, 'path.csv'), 'utf8').trimEnd().split('\n');
    expect(csv).toHaveLength(7);
    expect(csv[0]).toBe('lambda,nonzero,primal,dual,relative_gap,epochs,passes,stopped,test_error');
    expect(csv[index + 1].split(',')[0]).toBe(String(best.lambda));
    const figure = readFileSync(join(folder, 'p.svg'), 'utf8');
    expect(markupFault(figure)).toBeUndefined();
    expect(figure).toContain('train.svm: logistic loss, l1 penalty');
    expect(figure).toContain('Error on the test rows');
    expect(figure).toMatch(/>feature \d+</);
  });

  test('without test rows: table, JSON and a PNG of the weights', async () => {
    const folder = dataFolder();
    const args = [...problem, '--lambda', '0.01,0.1', '--json', '--figure', 'path.png'];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout.toString()) as {
      path: { lambda: number; nonzero: number; relativeGap: number }[];
    };
    expect(report).toMatchObject({ loss: 'logistic', penalty: 'l1', interrupted: false });
    expect(report).not.toHaveProperty('best');
    expect(report.path.map(({ lambda }) => lambda)).toEqual([0.1, 0.01]);
    expect(report.path[1].nonzero).toBeGreaterThan(report.path[0].nonzero);
    expect(report.path[1].relativeGap).toBeLessThanOrEqual(1e-3);
    expect(pngSize(readFileSync(join(folder, 'path.png')))).toEqual([1280, 840]);
  });

  test('features have their names, from a table as well', async () => {
    const folder = lastingFolder();
    const rows = Array.from(
      { length: 60 },
      (_, k) => `${k % 7},${k % 5},${k % 3 ? 'dark' : 'light'},${k % 7 > 3 ? 'yes' : 'no'}`,
    );
    writeFileSync(join(folder, 'data.csv'), ['size,age,colour,label', ...rows].join('\n'));
    const args = ['path', 'data.csv', '--holdout', '0.2', '--count', '4', '--figure', 'p.svg'];
    const { code, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(0);
    const figure = readFileSync(join(folder, 'p.svg'), 'utf8');
    for (const name of ['size', 'age', 'colour=dark']) expect(figure).toContain(`>${name}</text>`);
  });

  test('a limit on epochs is reported and ends with 4', async () => {
    const folder = dataFolder();
    const args = [...problem, '--lambda', '1e-4', '--epochs', '2'];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code, stderr).toBe(4);
    expect(stdout.toString()).toMatch(/ 2 +epoch limit$/m);
  });

  test('Ctrl-C: what is done is shown and written', async ({ onTestFinished }) => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'large.svm'), sampleText({ rows: 3000, columns: 2000, perRow: 10 }));
    // At the second λ the relative gap never comes below 1e-11.
    const limits = ['--lambda', '10,1e-9', '--tolerance', '1e-14', '--epochs', '100000000'];
    const files = ['--holdout', '0.2', '-o', 'best.model', '--models', 'all', '--csv', 'p.csv'];
    const running = startDso(['path', 'large.svm', ...limits, ...files], { folder });
    onTestFinished(() => void running.process.kill('SIGKILL'));
    while (!existsSync(join(folder, 'all/1-lambda-10.model'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    running.process.kill('SIGINT');
    const { code, stdout, stderr } = await running.finished;
    expect(code, stderr).toBe(130);
    expect(stdout.toString().trimEnd().split('\n')).toHaveLength(2);
    expect((await readModel(join(folder, 'best.model'))).lambda).toBe(10);
    expect(readdirSync(join(folder, 'all'))).toEqual(['1-lambda-10.model']);
    expect(readFileSync(join(folder, 'p.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
  });
});

describe('refused before anything is read', () => {
  test.each([
    [['-o', 'x.model'], /give --test or --holdout/],
    [['--figure', 'x.gif'], /expected a name that ends in \.svg or \.png/],
    [['--models', 'train.svm'], /--models train\.svm: that is a file; expected a folder/],
    [['--lambda', '1,0'], /--lambda is 1,0; it must be numbers above 0, separated by commas/],
    [['--lambda', '1', '--count', '3'], /--lambda.*cannot be used with.*--count/s],
    [['--ratio', '2'], /--ratio is 2; it must be a number above 0 and below 1/],
    [['--csv', 'train.svm'], /also an input/],
    [['--csv', 'a.csv', '--figure', 'none/a.svg'], /no folder none/],
    [['--early-stop'], /--early-stop needs --test or --holdout/],
  ])('%j', async (more, message) => {
    const folder = dataFolder();
    const { code, stderr } = await runHere([...problem, ...more], folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(readdirSync(folder).sort()).toEqual(['test.svm', 'train.svm']);
  });
});

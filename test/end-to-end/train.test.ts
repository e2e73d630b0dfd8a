import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readModel } from '../../src/model/file.ts';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

const trainText = sampleText({ rows: 400, columns: 60, perRow: 8 });
const testText = sampleText({ rows: 200, columns: 60, perRow: 8, seed: 2 });

/** A folder with train.svm and test.svm. */
function sampleFolder(): string {
  const folder = lastingFolder();
  writeFileSync(join(folder, 'train.svm'), trainText);
  writeFileSync(join(folder, 'test.svm'), testText);
  return folder;
}

describe.concurrent('train, predict, evaluate, inspect', () => {
  test('work together', async () => {
    const folder = sampleFolder();
    const trained = await runDso(['train', 'train.svm', '--test', 'test.svm'], { folder });
    expect(trained.code, trained.stderr).toBe(0);
    expect(trained.stdout.length).toBe(0);
    expect(trained.stderr).toMatch(/^epoch 1 {2}objective 0\.\d+ {2}gap \S+ {2}test error /m);
    expect(trained.stderr).toMatch(
      /^within 0\.\d+ % of the optimum \(certified: relative duality gap \d\.\de-\d\)$/m,
    );
    expect(trained.stderr).toMatch(/^test error \d+\.\d\d %, AUPRC of 1 0\.\d+ on 200 rows$/m);
    expect(trained.stderr).toMatch(/^model in train\.svm\.model \(/m);
    expect(readdirSync(folder).sort()).toEqual(['test.svm', 'train.svm', 'train.svm.model']);

    const evaluated = await runDso(['evaluate', 'train.svm.model', 'test.svm', '--json'], {
      folder,
    });
    expect(evaluated.code, evaluated.stderr).toBe(0);
    const metrics = JSON.parse(evaluated.stdout.toString());
    expect(metrics).toMatchObject({ task: 'classification', rows: 200, logLoss: null });
    expect(metrics.accuracy).toBeGreaterThan(0.8);
    expect(metrics.auc).toBeGreaterThan(0.9);

    const predicted = await runDso(['predict', 'train.svm.model', 'test.svm'], { folder });
    expect(predicted.code, predicted.stderr).toBe(0);
    const labels = testText
      .trim()
      .split('\n')
      .map((line) => Number.parseInt(line, 10));
    const predictions = predicted.stdout.toString().trim().split('\n').map(Number);
    expect(predictions).toHaveLength(200);
    const wrong = predictions.filter((label, row) => label !== labels[row]).length;
    expect(wrong / 200).toBeCloseTo(metrics.error, 12);

    const inspected = await runDso(['inspect', 'train.svm.model', '--top', '3'], { folder });
    expect(inspected.code, inspected.stderr).toBe(0);
    expect(inspected.stdout.toString()).toContain('400 rows × 60 columns');
    expect(inspected.stdout.toString()).toContain('converged after');
  });

  test('weights in a box, which model and reports name', async () => {
    const folder = sampleFolder();
    const bounded = ['--lower', '-0.5', '--upper', '0.25', '--tolerance', '1e-5'];
    const trained = await runDso(['train', 'train.svm', '-o', 'm', ...bounded], { folder });
    expect(trained.code, trained.stderr).toBe(0);
    expect(trained.stderr).toMatch(/^hinge loss, l2 \(-0\.5 ≤ w ≤ 0\.25\) penalty, /m);
    const model = await readModel(join(folder, 'm'));
    expect(model.penalty).toEqual({ name: 'l2', l1: 0, l2: 1, low: -0.5, high: 0.25 });
    expect([Math.min(...model.weights), Math.max(...model.weights)]).toEqual([-0.5, 0.25]);
    const inspected = await runDso(['inspect', 'm'], { folder });
    expect(inspected.stdout.toString()).toMatch(/^penalty +l2 \(-0\.5 ≤ w ≤ 0\.25\), lambda/m);

    const other = ['train', 'train.svm', '--non-negative', '--solver', 'dcd', '-o', 'none'];
    const refused = await runDso(other, { folder });
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('dcd is not compatible with weights in [0, Infinity]');
  });

  test('a regression', async () => {
    const folder = lastingFolder();
    const text = sampleText({ rows: 300, columns: 20, perRow: 5, labels: 'real' });
    writeFileSync(join(folder, 'prices.svm'), text);
    const trained = await runDso(
      ['train', 'prices.svm', '--loss', 'square', '--intercept', '--quiet', '-o', 'm'],
      { folder },
    );
    expect(trained, trained.stderr).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await runDso(['evaluate', 'm', 'prices.svm', '--json'], { folder });
    const metrics = JSON.parse(stdout.toString());
    expect(Object.keys(metrics)).toEqual(['task', 'rows', 'mse', 'mae', 'r2']);
    expect(metrics.r2).toBeGreaterThan(0.9);
  });

  test('probabilities with the logistic loss, and only with it', async () => {
    const folder = sampleFolder();
    await runDso(['train', 'train.svm', '--loss', 'logistic', '-o', 'logistic'], { folder });
    const { stdout } = await runDso(['predict', 'logistic', 'test.svm', '--probabilities'], {
      folder,
    });
    const values = stdout.toString().trim().split('\n').map(Number);
    expect(values).toHaveLength(200);
    expect(values.every((value) => value > 0 && value < 1)).toBe(true);
    await runDso(['train', 'train.svm', '-o', 'hinge'], { folder });
    const refused = await runDso(['predict', 'hinge', 'test.svm', '--probabilities'], { folder });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'train with --loss logistic or --calibrate, or ask for scores',
    );
  });

  test('every loss and penalty by name', async () => {
    const folder = sampleFolder();
    const variants = [
      ['--loss', 'squared-hinge', '--penalty', 'l1', '--lambda', '0.01'],
      ['--loss', 'smoothed-hinge', '--smoothing', '0.5'],
      ['--loss', 'huber', '--delta', '0.5', '--penalty', 'elastic-net', '--l1-ratio', '0.3'],
      ['--loss', 'absolute', '--epsilon', '0.1', '--lambda', '0.1'],
      ['--loss', 'squared-absolute', '--epsilon', '0.1'],
      ['--loss', 'quantile', '--quantile', '0.3', '--lambda', '0.1'],
    ];
    for (const variant of variants) {
      const run = await runDso(['train', 'train.svm', '--json', '--quiet', ...variant], { folder });
      expect(run.code, `${variant.join(' ')}\n${run.stderr}`).toBe(0);
      expect(JSON.parse(run.stdout.toString())).toMatchObject({ loss: variant[1] });
    }
  });
});

describe.concurrent('outputs', () => {
  test('--json prints one object with the documented fields', async () => {
    const folder = sampleFolder();
    const run = await runDso(
      ['train', 'train.svm', '--json', '--holdout', '0.25', '--lambda', '1e-3', '--seed', '5'],
      { folder },
    );
    expect(run.code, run.stderr).toBe(0);
    const report = JSON.parse(run.stdout.toString());
    expect(report).toMatchObject({
      loss: 'hinge',
      penalty: 'l2',
      lambda: 1e-3,
      rows: 300,
      columns: 60,
      nonzeros: 2400,
      classes: [-1, 1],
      seed: 5,
      stopped: 'converged',
      test: { task: 'classification', rows: 100 },
    });
    for (const key of ['grid', 'threads', 'epochs', 'primal', 'dual', 'gap', 'relativeGap']) {
      expect(report[key], key).toBeTypeOf('number');
    }
    expect(report.solver).toBe('interior-point');
    expect(Object.keys(report.seconds).sort()).toEqual(['partition', 'read', 'total', 'train']);
    expect(report.seconds.total).toBeGreaterThanOrEqual(report.seconds.read);
    expect(report.primal).toBeGreaterThanOrEqual(report.dual);
    expect(report.relativeGap).toBeLessThanOrEqual(1e-3);
  });

  test('--log is the whole record: every epoch, and the result', async () => {
    const folder = sampleFolder();
    const run = await runDso(['train', 'train.svm', '--json', '--log', 'run.jsonl'], { folder });
    const report = JSON.parse(run.stdout.toString());
    const lines = readFileSync(join(folder, 'run.jsonl'), 'utf8').trim().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    const result = events.pop();
    expect(result).toMatchObject({ event: 'result', ...report, code: 0 });
    expect(events[0].event).toBe('start');
    expect(events.map(({ event }) => event)).toContain('begin');
    expect(events[0]).not.toHaveProperty('host');
    expect(events[0]).not.toHaveProperty('pid');
    const epochs = events.filter(({ event }) => event === 'epoch').map(({ epoch }) => epoch);
    expect(epochs).toEqual(Array.from({ length: report.epochs }, (_, k) => k + 1));
    const last = events.findLast(({ event }) => event === 'epoch');
    expect(last).toMatchObject({ epoch: report.epochs, primal: report.primal });
  });

  test('--quiet prints nothing; -o - puts the model on standard output', async () => {
    const folder = sampleFolder();
    const run = await runDso(['train', 'train.svm', '--quiet', '-o', '-'], { folder });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(folder).sort()).toEqual(['test.svm', 'train.svm']);
    const inspected = await runDso(['inspect', '-', '--json'], { input: run.stdout });
    expect(JSON.parse(inspected.stdout.toString())).toMatchObject({ columns: 60, rows: 400 });
  });

  test('the model does not depend on the number of threads', async () => {
    const folder = sampleFolder();
    for (const threads of ['1', '2', '3']) {
      const args = ['train', 'train.svm', '--threads', threads, '--grid', '3', '-o', threads];
      expect((await runDso(args, { folder })).code).toBe(0);
    }
    const [one, two, three] = ['1', '2', '3'].map((name) => readFileSync(join(folder, name)));
    expect(two.equals(one)).toBe(true);
    expect(three.equals(one)).toBe(true);
  });
});

describe.concurrent('sources', () => {
  test.each([
    ['train.svm.gz', gzipSync],
    ['train.svm.zst', zstdCompressSync],
  ])('%s gives the same model as plain text', async (name, compress) => {
    const folder = sampleFolder();
    writeFileSync(join(folder, name), compress(Buffer.from(trainText)));
    expect((await runDso(['train', name, '-o', 'a', '--quiet'], { folder })).stderr).toBe('');
    await runDso(['train', 'train.svm', '-o', 'b', '--quiet'], { folder });
    expect(readFileSync(join(folder, 'a')).equals(readFileSync(join(folder, 'b')))).toBe(true);
  });

  test('standard input, and the model it is called after', async () => {
    const folder = sampleFolder();
    const run = await runDso(['train', '-', '--quiet'], { folder, input: trainText });
    expect(run, run.stderr).toMatchObject({ code: 0, stderr: '' });
    await runDso(['train', 'train.svm', '--quiet'], { folder });
    const fromInput = readFileSync(join(folder, 'dso.model'));
    expect(fromInput.equals(readFileSync(join(folder, 'train.svm.model')))).toBe(true);
    const predicted = await runDso(['predict', 'dso.model', '-'], { folder, input: testText });
    expect(predicted.stdout.toString()).toMatch(/^(-?1\n){200}$/);
  });

  test('any two labels', async () => {
    const folder = lastingFolder();
    writeFileSync(
      join(folder, 'd.svm'),
      trainText.replaceAll(/^-1/gm, '1.5').replaceAll('+1', '7'),
    );
    await runDso(['train', 'd.svm', '--quiet', '-o', 'm'], { folder });
    const predicted = await runDso(['predict', 'm', 'd.svm'], { folder });
    expect(predicted.stdout.toString()).toMatch(/^(1\.5\n|7\n){400}$/);
  });

  test('--zero-based and --sum-duplicates', async () => {
    const folder = lastingFolder();
    const text = '1 0:1 2:1\n-1 1:1 1:1\n1 0:2\n-1 1:3\n';
    const args = ['train', '-', '--quiet', '-o', 'm', '--zero-based', '--sum-duplicates'];
    const run = await runDso(args, { folder, input: text });
    expect(run, run.stderr).toMatchObject({ code: 0, stderr: '' });
    const model = await readModel(join(folder, 'm'));
    expect(model).toMatchObject({ columns: 3, rows: 4, nonzeros: 5 });
  });
});

describe.concurrent('ending before the tolerance', () => {
  test('exit code 4, the model is written and the reason said', async () => {
    const folder = sampleFolder();
    const run = await runDso(['train', 'train.svm', '--epochs', '1', '--tolerance', '1e-12'], {
      folder,
    });
    expect(run.code, run.stderr).toBe(4);
    expect(run.stderr).toContain('stopped by the epoch limit');
    const model = await readModel(join(folder, 'train.svm.model'));
    expect(model.certificate).toMatchObject({ epochs: 1, stopped: 'epoch-limit' });
  });

  test('the time limit', async () => {
    const folder = sampleFolder();
    // Far below what the gap can come to.
    const never = ['--lambda', '1e-9', '--tolerance', '1e-300', '--epochs', '100000000'];
    const run = await runDso(['train', 'train.svm', '--time', '0.01', ...never], { folder });
    expect(run.code, run.stderr).toBe(4);
    const model = await readModel(join(folder, 'train.svm.model'));
    expect(model.certificate.stopped).toBe('time-limit');
  });
});

describe.concurrent('penalty factors', () => {
  test('are read from a file, one per line', async () => {
    const folder = sampleFolder();
    const factors = Array.from({ length: 60 }, (_, column) => (column === 4 ? '1e6' : '1'));
    writeFileSync(join(folder, 'factors.txt'), `${factors.join('\n')}\n`);
    const run = await runDso(
      ['train', 'train.svm', '--penalty-factors', 'factors.txt', '-o', 'm', '--quiet'],
      { folder },
    );
    expect(run, run.stderr).toMatchObject({ code: 0, stderr: '' });
    const { weights } = await readModel(join(folder, 'm'));
    expect(Math.abs(weights[4])).toBeLessThan(1e-2);
  });

  test('a bad line is named', async () => {
    const folder = sampleFolder();
    writeFileSync(join(folder, 'factors.txt'), '1\n'.repeat(59).concat('-2\n'));
    const args = ['train', 'train.svm', '--penalty-factors', 'factors.txt'];
    const run = await runDso(args, { folder });
    expect(run.code).toBe(3);
    expect(run.stderr).toContain('factors.txt:60: "-2"; expected a positive number');
    expect(existsSync(join(folder, 'train.svm.model'))).toBe(false);
  });
});

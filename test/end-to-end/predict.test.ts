import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeModel } from '../../src/model/file.ts';
import type { Model } from '../../src/model/model.ts';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { plainClasses, sampleModel, sampleRegression } from '../support/models.ts';

const lastingFolder = lastingFolders();

const logistic = { name: 'logistic', parameter: 0 };
const three = plainClasses([1, 2, -1], { classes: [1, 2, 10], loss: logistic });
const rows = '1 1:1\n2 1:0\n10 1:-2\n1 1:0.5\n';

async function run(
  command: 'predict' | 'evaluate',
  model: Model,
  ...flags: string[]
): Promise<{ code: number | null; text: string }> {
  const folder = lastingFolder();
  await writeModel(join(folder, 'm'), model);
  writeFileSync(join(folder, 'x.svm'), rows);
  const args = [command, 'm', 'x.svm', '--threads', '1', ...flags];
  const { code, stdout, stderr } = await runDso(args, { folder });
  return { code, text: stdout.toString() + stderr };
}

describe.concurrent('predict', () => {
  test('classes as they were written', async () => {
    expect(await run('predict', three)).toEqual({ code: 0, text: '2\n1\n10\n2\n' });
    const texts = { ...three, classes: ['ham', 'a\nb', 'spam'] };
    const { text } = await run('predict', texts, '--header');
    expect(text).toBe('label\n"a\\nb"\nham\nspam\n"a\\nb"\n');
  });

  test('scores of several classes, separated by tabs', async () => {
    const { text } = await run('predict', three, '--scores', '--header');
    expect(text).toBe('1\t2\t10\n1\t2\t-1\n0\t0\t0\n-2\t-4\t2\n0.5\t1\t-0.5\n');
  });

  test('probabilities of several classes sum to 1', async () => {
    const { text } = await run('predict', three, '--probabilities');
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      const sum = line.split('\t').reduce((total, p) => total + Number(p), 0);
      expect(sum).toBeCloseTo(1, 14);
    }
    const none = await run('predict', plainClasses([1, 2, -1]), '--probabilities');
    expect(none).toMatchObject({ code: 2, text: expect.stringContaining('or calibrated') });
  });

  test('one vector has one name', async () => {
    const model = sampleModel({ weights: Float64Array.of(1), loss: logistic });
    const first = async (...flags: string[]) =>
      (await run('predict', model, '--header', ...flags)).text.split('\n').slice(0, 3);
    expect(await first()).toEqual(['label', '1', '-1']);
    expect(await first('--scores')).toEqual(['score', '1', '0']);
    expect(await first('--probabilities')).toEqual(['probability', '0.7310585786300049', '0.5']);
  });

  test('--json: an object per row, keyed by class in the order of the classes', async () => {
    const lines = async (model: Model) => (await run('predict', model, '--json')).text.split('\n');
    const { loss: _, ...hinge } = three;
    const plain = { ...hinge, loss: { name: 'hinge', parameter: 0 } };
    expect((await lines(plain))[0]).toBe('{"label":2,"scores":{"1":1,"2":2,"10":-1}}');
    const multi: Model = { ...plain, classes: ['b', 'a', 'c'], multiLabel: true };
    expect((await lines(multi))[0]).toBe('{"labels":["b","a"],"scores":{"b":1,"a":2,"c":-1}}');
    const binary = sampleModel({ weights: Float64Array.of(1), loss: logistic });
    expect((await lines(binary))[1]).toBe(
      '{"label":-1,"score":0,"probabilities":{"-1":0.5,"1":0.5}}',
    );
    const [first] = await lines(three);
    const { probabilities } = JSON.parse(first);
    expect(Object.keys(probabilities)).toHaveLength(3);
    const poisson = { name: 'poisson', parameter: 0 };
    const counts = sampleRegression({ weights: Float64Array.of(1), loss: poisson });
    expect((await lines(counts))[1]).toBe('{"label":1,"score":0}');
    expect((await lines(sampleRegression({ weights: Float64Array.of(1) })))[3]).toBe(
      '{"label":0.5}',
    );
  });

  test('the threshold of the model decides, unless the command has one', async () => {
    const model = sampleModel({ weights: Float64Array.of(1), loss: logistic, threshold: 0.7 });
    expect((await run('predict', model)).text).toBe('1\n-1\n-1\n-1\n');
    expect((await run('predict', model, '--threshold', '0.3')).text).toBe('1\n1\n-1\n1\n');
    expect((await run('predict', model, '--json')).text).toContain('{"label":-1,"score":0.5');
    const { threshold: _, ...plain } = model;
    expect((await run('predict', plain)).text).toBe('1\n-1\n-1\n1\n');
  });

  test('a date that is missing, which never was, is named', async () => {
    const folder = lastingFolder();
    const day = (row: number) => `2024-03-${10 + (row % 20)}`;
    const rowsOf = (dateOf: (row: number) => string) =>
      `since,size,label\n${Array.from({ length: 40 }, (_, row) => `${dateOf(row)},${(row * 7) % 11},${row % 2}\n`).join('')}`;
    writeFileSync(join(folder, 't.csv'), rowsOf(day));
    writeFileSync(
      join(folder, 'u.csv'),
      rowsOf((row) => (row === 5 ? '' : day(row))),
    );
    await runDso(['train', 't.csv', '-o', 'm', '--quiet'], { folder });
    const note =
      'rows without a date in "since", which never happened in the training data: taken for 1970-01-01';
    expect((await runDso(['predict', 'm', 'u.csv'], { folder })).stderr).toContain(note);
    expect((await runDso(['predict', 'm', 't.csv'], { folder })).stderr).not.toContain(note);
  });

  test('--json goes with no other form', async () => {
    expect(await run('predict', three, '--json', '--scores')).toMatchObject({ code: 2 });
    expect(await run('predict', three, '--json', '--header')).toMatchObject({ code: 2 });
  });

  test('-o writes the same to a file', async () => {
    const folder = lastingFolder();
    await writeModel(join(folder, 'm'), three);
    writeFileSync(join(folder, 'x.svm'), rows);
    const args = ['predict', 'm', 'x.svm', '--scores', '--header', '-o', 'out.tsv'];
    expect(await runDso(args, { folder })).toMatchObject({ code: 0 });
    const { text } = await run('predict', three, '--scores', '--header');
    expect(readFileSync(join(folder, 'out.tsv'), 'utf8')).toBe(text);
  });
});

describe.concurrent('evaluate', () => {
  test('several classes: a line for each, and who is taken for whom', async () => {
    const { text } = await run('evaluate', plainClasses([1, 2, -1], { classes: [1, 2, 10] }));
    expect(text).toBe(`rows         4
classes      3
accuracy     25.00 %
error        75.00 %
macro F1     0.333333
weighted F1  0.25
macro AUC    0.777778

class  precision  recall  F1  rows
1              0       0   0     2
2              0       0   0     1
10             1       1   1     1

label \\ predicted  1  2  10
1                  0  2   0
2                  1  0   0
10                 0  0   1
`);
    const { text: json } = await run('evaluate', three, '--json');
    expect(JSON.parse(json)).toMatchObject({
      task: 'multi-class',
      confusion: [
        { label: 1, predicted: 2, rows: 2 },
        { label: 2, predicted: 1, rows: 1 },
        { label: 10, predicted: 10, rows: 1 },
      ],
      logLoss: expect.any(Number),
    });
  });

  test('very many classes: the worst ones and the largest confusions', async () => {
    const weights = Array.from({ length: 30 }, (_, k) => (k === 4 ? 2 : k === 6 ? -1 : 0));
    const classes = weights.map((_, index) => index + 1);
    const { text } = await run('evaluate', plainClasses(weights, { classes }));
    expect(text).toContain('classes with the least F1 (--json has all):\n');
    expect(text).toContain(
      'largest confusions of 3:\nlabel  predicted  rows\n1              5     2\n',
    );
    expect(text).not.toContain('label \\ predicted');
  });

  test('multi-label and Poisson', async () => {
    const multi: Model = { ...three, multiLabel: true };
    const { text } = await run('evaluate', multi);
    expect(text).toMatch(/^rows {13}4\nclasses {10}3\nmicro F1/);
    expect(text).toContain('subset accuracy  25.00 %\nHamming loss     25.00 %\n');
    const loss = { name: 'poisson', parameter: 0 };
    const counts = sampleRegression({ weights: Float64Array.of(1), loss });
    expect((await run('evaluate', counts)).text).toMatch(/^mean deviance {8}[0-9.]+$/m);
    const quantile = sampleRegression({
      weights: Float64Array.of(1),
      loss: { name: 'quantile', parameter: 0.9 },
    });
    expect((await run('evaluate', quantile)).text).toMatch(
      /^mean pinball loss {4}3\.2625\nlabels not above {5}25\.00 %$/m,
    );
  });

  test('rows of one class have metrics, but no curves', async () => {
    const folder = lastingFolder();
    await writeModel(join(folder, 'm'), sampleModel({ weights: Float64Array.of(1) }));
    writeFileSync(join(folder, 'x.svm'), '1 1:1\n1 1:-1\n');
    const args = ['evaluate', 'm', 'x.svm', '--figure', 'f.svg'];
    const { code, stdout, stderr } = await runDso(args, { folder });
    expect(code).toBe(3);
    expect(stderr).toContain('x.svm: curves need rows of both classes');
    expect(stdout.toString()).toMatch(/^accuracy +50.00 %$/m);
  });

  test('an unknown label is named', async () => {
    const model = plainClasses([1, 2, -1], { classes: [1, 2, 3] });
    expect(await run('evaluate', model)).toMatchObject({
      code: 3,
      text: expect.stringContaining('does not know label 10 (first in row 3)'),
    });
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { writeModel } from '../../src/model/file.ts';
import type { Model } from '../../src/model/model.ts';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { plainClasses, sampleClasses, sampleModel, sampleRegression } from '../support/models.ts';

const lastingFolder = lastingFolders();

async function folderWith(model: Model): Promise<string> {
  const folder = lastingFolder();
  await writeModel(join(folder, 'm'), model);
  writeFileSync(join(folder, 'names.gz'), gzipSync('zero\none\ntwo\nthree\n'));
  return folder;
}

async function inspect(model: Model, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await runDso(['inspect', 'm', ...args], {
    folder: await folderWith(model),
  });
  return stdout.toString() + stderr;
}

describe.concurrent('one vector', () => {
  test('shows the header, the norms and the largest weights with their names', async () => {
    expect(
      await inspect(sampleModel(), '--top', '1', '--names', 'names.gz'),
    ).toBe(`task         classification: negative -1, positive 1
loss         hinge
penalty      l2, lambda 1e-4
trained on   10 rows × 4 columns, 25 non-zeros
solver       ring, grid 2, seed 1
stopped      converged after 9 epochs
objective    0.31133, at least 0.3111 for any weights
certificate  within 0.075 % of the optimum (certified: relative duality gap 7.4e-4)
weights      3 of 4 are not 0 (75.00 %)
norms        L1 3.75, L2 2.41091
intercept    0

features that speak for 1:
4  +2            three

features that speak for -1:
2  -1.25         one
`);
  });

  test('--json, --zero-based', async () => {
    const flags = ['--json', '--zero-based', '--top', '1', '--names', 'names.gz'];
    expect(JSON.parse(await inspect(sampleModel(), ...flags))).toMatchObject({
      loss: { name: 'hinge' },
      certificate: { stopped: 'converged' },
      weights: { nonzero: 3, l1Norm: 3.75, largest: 2 },
      vectors: [
        {
          class: 1,
          intercept: 0,
          positive: [{ feature: 3, name: 'three', weight: 2 }],
          negative: [{ feature: 1, name: 'one', weight: -1.25 }],
        },
      ],
    });
  });

  test('--top 0 lists nothing', async () => {
    expect(await inspect(sampleModel(), '--top', '0')).not.toContain('speak for');
  });

  test('regression: what raises and what lowers; names in the model need no file', async () => {
    const model = sampleRegression({ featureNames: ['age', 'rooms', 'pool', 'garden\t'] });
    const text = await inspect(model);
    expect(text).toContain('features     4 names\n');
    expect(text).toContain('raise the prediction:\n4  +2            "garden\\t"\n1  +0.5');
    expect(text).toContain('lower the prediction:\n2  -1.25         rooms\n');
  });

  test('a stream leaves no certificate, and another program none', async () => {
    const certificate = {
      primal: 0.5,
      dual: -Infinity,
      gap: Infinity,
      relativeGap: Infinity,
      epochs: 1,
    };
    const stream = sampleModel({ certificate: { ...certificate, stopped: 'stream' } });
    const text = await inspect(stream);
    expect(text).toContain('certificate  none: it learned from a stream that was not stored\n');
    expect(text).not.toContain('objective');
    const imported = sampleModel({ certificate: { ...certificate, stopped: 'imported' } });
    const other = await inspect(imported);
    expect(other).toContain('certificate  none: another program trained it');
    expect(other).not.toMatch(/lambda|trained on|seed/);
  });
});

describe.concurrent('several classes', () => {
  test('a table of the classes, then what speaks for and against each', async () => {
    expect(
      await inspect(sampleClasses()),
    ).toBe(`task           classification: 3 classes, each against the others
loss           logistic
penalty        l2 (w ≥ 0), lambda 1e-4
trained on     10 rows × 2 columns, 25 non-zeros
solver         ring, grid 2, seed 1
stopped        converged after 9 epochs
objective      0.93399, at least 0.9333 for any weights
certificate    within 0.075 % of the optimum (certified: relative duality gap 7.4e-4)
worst class    dog: within 100 % of the optimum (certified: relative duality gap 5.0e-1)
weights        5 of 6 are not 0 (83.33 %)
norms          L1 6.875, L2 3.85073
intercepts     from -1 to 0.5
features       2 names
fields         1 of numbers, 1 of categories
rows           divided by their length before they are scored
probabilities  calibrated (platt)
made by        dso 0.1.0
data           sha256:0123
options        lambda 0.0001, loss logistic, unit-rows true

class        not 0     L1       L2  intercept     gap
cat              2   1.75  1.34629        0.5  7.4e-4
dog              1      2        2          0  5.0e-1
fish, "raw"      2  3.125   3.0026         -1  7.4e-4

cat
  for      legs +0.5
  against  "colour=\\"dark\\n red\\"" -1.25
dog
  for      "colour=\\"dark\\n red\\"" +2
  against  none
fish, "raw"
  for      "colour=\\"dark\\n red\\"" +0.125
  against  legs -3
`);
  });

  test('--class shows one', async () => {
    const text = await inspect(sampleClasses(), '--class', 'fish, "raw"');
    expect(text).toMatch(
      /speak for fish, "raw":\n2 {2}\+0\.125 .*\n\nfeatures that speak against fish, "raw":\n1/,
    );
    expect(text).not.toContain('dog\n');
    const flags = ['--class', 'dog', '--json'];
    const { vectors } = JSON.parse(await inspect(sampleClasses(), ...flags));
    expect(vectors).toMatchObject([{ class: 'dog', certificate: { epochs: 12 }, negative: [] }]);
  });

  test('of two classes either can be selected; an unknown one is an error', async () => {
    const text = await inspect(sampleModel(), '--class', '-1');
    expect(text).toContain('speak for -1:\n2  -1.25');
    expect(text).not.toContain('speak for 1:');
    expect(await inspect(sampleModel(), '--class', '7')).toContain(
      '--class 7: the model has no such class; it has -1, 1',
    );
    expect(await inspect(sampleRegression(), '--class', '7')).toContain('regression');
  });

  test('a thousand: the first ones, and how to see the others', async () => {
    const weights = Array.from({ length: 1000 }, (_, k) => (k % 2 === 0 ? k + 1 : -k));
    const model = plainClasses(weights, { multiLabel: true });
    const text = await inspect(model);
    expect(text).toContain('task         multi-label: any of 1,000 classes\n');
    expect(text).toContain('… and 980 more: --class NAME shows one, --json all');
    expect(text.split('\n').length).toBeLessThan(40);
    expect(await inspect(model, '--class', 'c998')).toContain('speak for c998:\n1  +999');
    const { vectors } = JSON.parse(await inspect(model, '--json', '--top', '1'));
    expect(vectors).toHaveLength(1000);
    expect(vectors[3]).toMatchObject({ class: 'c3', negative: [{ feature: 1, weight: -3 }] });
  });
});

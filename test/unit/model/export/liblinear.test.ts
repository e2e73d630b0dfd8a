import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Dataset } from '../../../../src/data/dataset.ts';
import type { SparseRow } from '../../../../src/data/from-arrays.ts';
import { exportModel, importModel } from '../../../../src/model/export/index.ts';
import type { Model } from '../../../../src/model/model.ts';
import { predict } from '../../../../src/model/predict/predict.ts';
import { sampleModel, sampleRegression } from '../../../support/models.ts';
import { randomModel, randomRows } from '../../../support/random-models.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const absent =
  spawnSync('liblinear-predict').error !== undefined &&
  'liblinear-predict is not installed (Debian package liblinear-tools)';

function libsvm(rows: readonly SparseRow[], labels: ArrayLike<number>): string {
  return rows
    .map(({ indices, values }, row) => {
      const pairs = Array.from(indices, (column, entry) => `${column + 1}:${values[entry]}`);
      return `${[labels[row], ...pairs].join(' ')}\n`;
    })
    .join('');
}

function runTool(program: string, args: readonly string[], folder: string): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder });
  expect(status, Buffer.concat([stdout, stderr]).toString()).toBe(0);
}

/** The lines of what liblinear-predict writes. */
function liblinearPredict(
  text: string,
  rows: readonly SparseRow[],
  ...options: string[]
): string[] {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'rows'), libsvm(rows, new Float64Array(rows.length)));
  writeFileSync(join(folder, 'model'), text);
  runTool('liblinear-predict', [...options, 'rows', 'model', 'out'], folder);
  return readFileSync(join(folder, 'out'), 'utf8').trim().split('\n');
}

const logistic = { name: 'logistic', parameter: 0 };
const lasso = { name: 'l1', l1: 1, l2: 0 };
const noIntercept = new Float64Array(1);

const kinds: Readonly<Record<string, Model>> = {
  'an SVM': randomModel(),
  'an SVM with a weight of -0': randomModel({ columns: 2, weights: Float64Array.of(-0, 1) }),
  'an SVM without intercept': randomModel({ intercepts: noIntercept }),
  'a squared hinge, l1': randomModel({
    loss: { name: 'squared-hinge', parameter: 0 },
    penalty: lasso,
  }),
  'classes 1 and 2': randomModel({ classes: [1, 2] }),
  'logistic regression': randomModel({ loss: logistic }),
  'logistic regression, l1': randomModel({ loss: logistic, penalty: lasso }, 0.3),
  'four classes': randomModel({ classes: [-3, 0, 5, 11] }),
  'four classes, logistic': randomModel({ classes: [-3, 0, 5, 11], loss: logistic }),
  'least squares': randomModel({ task: 'regression' }),
  'absolute loss': randomModel({ task: 'regression', loss: { name: 'absolute', parameter: 0.1 } }),
};

describe.each(Object.entries(kinds))('%s', (_, model) => {
  const { rows, dataset } = randomRows(model.columns, 50);

  test.skipIf(absent)(`liblinear-predict predicts as we do${absent ? `: ${absent}` : ''}`, () => {
    const found = liblinearPredict(exportModel(model, 'liblinear'), rows).map(Number);
    const expected = [...(predict(model, dataset) as Float64Array)];
    // Regression is printed with six digits.
    if (model.classes === undefined) {
      for (const [row, value] of expected.entries()) expect(found[row]).toBeCloseTo(value, 4);
    } else expect(found).toEqual(expected);
  });

  if (model.loss.name === 'logistic')
    test.skipIf(absent)(
      `liblinear-predict -b 1 gives our probabilities${absent ? `: ${absent}` : ''}`,
      () => {
        const text = exportModel(model, 'liblinear');
        const [head, ...lines] = liblinearPredict(text, rows, '-b', '1');
        const order = head.split(' ').slice(1).map(Number);
        const expected = predict(model, dataset, { output: 'probabilities' });
        const classes = model.classes!;
        for (const [row, line] of lines.entries()) {
          const found = line.split(' ').slice(1).map(Number);
          for (const [position, label] of order.entries()) {
            const index = classes.indexOf(label);
            const ours =
              classes.length === 2
                ? Math.abs(1 - index - expected[row])
                : expected[row * classes.length + index];
            expect(found[position]).toBeCloseTo(ours, 4);
          }
        }
      },
    );

  test('comes back with the same bits', () => {
    const back = importModel(exportModel(model, 'liblinear'));
    expect(back.weights).toEqual(model.weights);
    expect(back.intercepts).toEqual(model.intercepts);
    expect(back.classes).toEqual(model.classes);
    expect(back.task).toBe(model.task);
    expect(back.certificate).toMatchObject({ dual: -Infinity, gap: Infinity, stopped: 'imported' });
  });
});

/** The classes with the largest score, row by row: of equal ones LIBLINEAR may take another. */
function bestClasses(model: Model, dataset: Dataset): number[][] {
  const classes = model.classes as readonly number[];
  const vectors = model.intercepts.length;
  const scores = predict(model, dataset, { output: 'scores' });
  return Array.from({ length: dataset.rows }, (_, row) => {
    const [first, ...rest] = scores.subarray(row * vectors, (row + 1) * vectors);
    const each = vectors === 1 ? [-first, first] : [first, ...rest];
    const largest = Math.max(...each);
    return classes.filter((__, index) => each[index] === largest);
  });
}

describe('models of liblinear-train', () => {
  const solvers = ['0', '1', '2', '3', '4', '5', '6', '7', '11', '12', '13'];
  const problems = solvers.flatMap((solver) =>
    [2, 4].flatMap((classes) => ['-1', '1', '2.5'].map((bias) => ({ solver, classes, bias }))),
  );

  test.skipIf(absent).each(problems)(
    'solver $solver, $classes classes, bias $bias: predicts the same after import',
    ({ solver, classes, bias }) => {
      const folder = temporaryFolder();
      const { rows, dataset } = randomRows(12, 60, Number(solver) + classes);
      // Descending, so that the order in the file is not ours.
      const labels = rows.map((_, row) => classes - (row % classes));
      writeFileSync(join(folder, 'data'), libsvm(rows, labels));
      runTool('liblinear-train', ['-q', '-s', solver, '-B', bias, 'data', 'model'], folder);
      const text = readFileSync(join(folder, 'model'), 'utf8');
      const model = importModel(text);
      const expected = liblinearPredict(text, rows).map(Number);
      if (model.classes === undefined) {
        const found = predict(model, dataset) as Float64Array;
        for (const [row, value] of expected.entries()) expect(found[row]).toBeCloseTo(value, 4);
      } else {
        for (const [row, best] of bestClasses(model, dataset).entries()) {
          expect(best).toContain(expected[row]);
        }
      }
    },
  );
});

describe('says what LIBLINEAR cannot hold', () => {
  test.each([
    [sampleModel({ classes: ['ham', 'spam'] }), /the class "ham"; LIBLINEAR has whole numbers/],
    [sampleModel({ classes: [0.5, 1] }), /the class 0\.5/],
    [sampleModel({ classes: [0, 2 ** 31] }), /the class 2147483648/],
    [sampleModel({ classes: [1, 2], multiLabel: true }), /several labels/],
    [sampleRegression({ loss: { name: 'poisson', parameter: 0 } }), /exp\(score\)/],
  ])('%#', (model, message) => {
    expect(() => exportModel(model, 'liblinear')).toThrow(message);
  });
});

describe('a damaged file', () => {
  const good = exportModel(randomModel({ columns: 2, classes: [1, 2, 3] }), 'liblinear');
  const changed = (from: string | RegExp, to: string): string => {
    expect(good).toMatch(from);
    return good.replace(from, to);
  };

  test.each([
    [changed('L2R_L1LOSS_SVC_DUAL', 'ONECLASS_SVM'), 'line 6: solver_type ONECLASS_SVM; expected'],
    [changed(/^nr_class 3\n/m, ''), 'line 5: no line "nr_class" before the weights'],
    [changed('label 1 2 3', 'label 1 2'), '2 labels; expected one for each of 3 classes'],
    [changed('label 1 2 3', 'label 1 2 2'), 'a label appears twice'],
    [changed('label 1 2 3', 'label 1 b 3'), 'line 3: "label 1 b 3"; expected finite numbers'],
    [
      changed('label 1 2 3', 'label 1 2 1e999'),
      'line 3: "label 1 2 1e999"; expected finite numbers',
    ],
    [
      changed('bias 1', 'bias 1e300').replace(/\S+ \n$/, '-1e300 \n'),
      'its weight times bias 1e+300 is -Infinity, too large a number',
    ],
    [
      changed('nr_feature 2', 'nr_feature 2147483647'),
      'the file ends after line 6; expected 6442450944 weights, and ',
    ],
    [changed('bias 1', 'bias 1\nbias 1'), 'line 6: a second line "bias"'],
    [changed('bias 1', 'colour 1'), 'line 5: "colour 1"; expected solver_type'],
    [changed('nr_feature 2', 'nr_feature -2'), 'nr_feature -2; expected a whole number'],
    [changed('nr_feature 2', 'nr_feature 3'), 'the file ends after line 9; expected weights of 1'],
    [changed('nr_feature 2', 'nr_feature 1'), 'line 9: '],
    [changed(/\nw\n\S+/, '\nw\n0x1'), 'line 7: the weight "0x1"; expected a finite number'],
    [changed(/\nw\n\S+/, '\nw\nnan'), 'line 7: the weight "nan"'],
    [changed(/\nw\n\S+ /, '\nw\n'), 'line 7: 2 weights in'],
    [changed(/\nw\n[\s\S]*/, '\n'), 'the file ends after line 5; expected a line "w"'],
    ['', 'an empty file'],
    ['hello', 'it begins with "hello"'],
  ])('%#: the message has the position', (text, message) => {
    expect(() => importModel(text, 'm.txt')).toThrow(expect.objectContaining({ kind: 'data' }));
    expect(() => importModel(text, 'm.txt')).toThrow(message);
    expect(() => importModel(text, 'm.txt')).toThrow('m.txt');
  });
});

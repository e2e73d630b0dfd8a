import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { main } from '../../src/apps/cli/program.ts';
import { stream } from '../../src/math/random.ts';
import { memoryIo } from '../support/memory-io.ts';
import { realData } from '../support/real-data.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** `dso liblinear-train` compared with the program that it replaces. */
const absent =
  spawnSync('liblinear-train').error !== undefined &&
  'liblinear-train is not installed (Debian package liblinear-tools)';
const withReason = (title: string, reason: string | false) =>
  reason ? `${title}: skipped, ${reason}` : title;

interface Row {
  readonly label: number;
  readonly pairs: readonly (readonly [number, number])[];
}

interface ModelFile {
  readonly solver: string;
  readonly labels: readonly number[];
  readonly bias: number;
  /** By feature, the bias last: one weight for each vector. */
  readonly weights: readonly (readonly number[])[];
}

function rowsOf(text: string): Row[] {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [label, ...pairs] = line.trim().split(/\s+/);
      return {
        label: Number(label),
        pairs: pairs.map((pair) => pair.split(':').map(Number) as [number, number]),
      };
    });
}

function readModelFile(path: string): ModelFile {
  const [head, table] = readFileSync(path, 'utf8').split('\nw\n');
  const field = (name: string) =>
    head
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .slice(1) ?? [];
  return {
    solver: field('solver_type')[0],
    labels: field('label').filter(Boolean).map(Number),
    bias: Number(field('bias')[0]),
    weights: table
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number)),
  };
}

/** LIBLINEAR's objectives, one for each vector, by its documentation: no code of ours. */
function objectives(
  type: number,
  rows: readonly Row[],
  { labels, bias, weights }: ModelFile,
  { cost = 1, epsilon = 0.1, factors = new Map<number, number>() },
): number[] {
  const losses: Record<number, (score: number, y: number) => number> = {
    0: (u, y) => Math.log1p(Math.exp(-Math.abs(u))) + Math.max(0, -y * u),
    1: (u, y) => Math.max(0, 1 - y * u) ** 2,
    3: (u, y) => Math.max(0, 1 - y * u),
    11: (u, y) => Math.max(0, Math.abs(u - y) - epsilon) ** 2,
    13: (u, y) => Math.max(0, Math.abs(u - y) - epsilon),
  };
  const loss = losses[{ 2: 1, 5: 1, 6: 0, 7: 0, 12: 11 }[type] ?? type];
  return weights[0].map((_, vector) => {
    let total = 0;
    for (const feature of weights) {
      const w = feature[vector];
      total += type === 5 || type === 6 ? Math.abs(w) : (w * w) / 2;
    }
    for (const { label, pairs } of rows) {
      let score = bias >= 0 ? bias * weights[weights.length - 1][vector] : 0;
      for (const [index, value] of pairs) score += weights[index - 1][vector] * value;
      const positive = labels.length === 2 ? labels[0] : labels[vector];
      const weighs = labels.length === 2 || label === positive;
      const own = weighs ? (factors.get(label) ?? 1) : 1;
      const target = type > 10 ? label : label === positive ? 1 : -1;
      total += cost * own * loss(score, target);
    }
    return total;
  });
}

interface Pair {
  readonly folder: string;
  readonly ours: ModelFile;
  readonly theirs: ModelFile;
  /** Theirs with a finer criterion: their defaults may be percents away from the optimum. */
  readonly best: { readonly file: ModelFile; readonly values: readonly number[] };
  readonly output: string;
}

/** What is printed of each vector. */
function valuesIn(output: string): number[] {
  return [...output.matchAll(/^Objective value = (\S+)$/gm)].map(([, one]) => Number(one));
}

/** Both programs on the same data with the same options. */
async function trainBoth(text: string, options: readonly string[]): Promise<Pair> {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  writeFileSync(path('data'), text);
  const trainReal = (name: string, more: readonly string[]) => {
    const words = [...options, ...more, path('data'), path(name)];
    const { status, stdout, stderr } = spawnSync('liblinear-train', words);
    expect(status, stderr.toString()).toBe(0);
    return { file: readModelFile(path(name)), values: valuesIn(stdout.toString()) };
  };
  const theirs = trainReal('theirs', []).file;
  const best = trainReal('best', ['-e', '1e-5']);
  const io = memoryIo();
  const code = await main(['liblinear-train', ...options, path('data'), path('ours')], io);
  expect(code, io.stderr.text).toBe(0);
  return {
    folder,
    ours: readModelFile(path('ours')),
    theirs,
    best,
    output: io.stdout.text,
  };
}

/** Ours is as good as theirs or better, and the same where theirs is at the optimum. */
function expectSameObjectives(
  type: number,
  rows: readonly Row[],
  { ours, theirs, best, output }: Pair,
  settings: Parameters<typeof objectives>[3] = {},
): void {
  expect(ours).toMatchObject({
    solver: theirs.solver,
    labels: theirs.labels,
    bias: theirs.bias,
  });
  expect(ours.weights).toHaveLength(theirs.weights.length);
  const found = objectives(type, rows, ours, settings);
  const expected = objectives(type, rows, theirs, settings);
  // Of the hinge and the absolute loss their dual value gets to the optimum long before the weights.
  const least = [3, 13].includes(type)
    ? best.values.map((value) => -value)
    : objectives(type, rows, best.file, settings);
  expect(found).toHaveLength(expected.length);
  for (const [vector, value] of found.entries()) {
    expect(value).toBeLessThanOrEqual(expected[vector] * (1 + 1e-4));
    expect(Math.abs(value - least[vector])).toBeLessThanOrEqual(1e-4 * least[vector]);
  }
  const printed = valuesIn(output);
  expect(printed).toHaveLength(found.length);
  for (const [vector, value] of printed.entries()) {
    expect(Math.abs(Math.abs(value) - found[vector])).toBeLessThanOrEqual(1e-4 * found[vector]);
    expect(Math.sign(value)).toBe([1, 3, 7, 12, 13].includes(type) ? -1 : 1);
  }
}

/** liblinear-predict takes our model, and predicts what the weights say. */
function expectPredictions({ folder, ours }: Pair, rows: readonly Row[], type: number): void {
  const args = ['data', 'ours', 'predicted'];
  const { status, stderr } = spawnSync('liblinear-predict', args, { cwd: folder });
  expect(status, stderr.toString()).toBe(0);
  const found = readFileSync(join(folder, 'predicted'), 'utf8').trim().split('\n').map(Number);
  const { weights, labels, bias } = ours;
  expect(found).toHaveLength(rows.length);
  for (const [row, { pairs }] of rows.entries()) {
    const scores = weights[0].map((_, vector) => {
      let score = bias >= 0 ? bias * weights[weights.length - 1][vector] : 0;
      for (const [index, value] of pairs) score += weights[index - 1][vector] * value;
      return score;
    });
    if (type > 10) expect(found[row]).toBeCloseTo(scores[0], 3);
    else if (scores.length === 1) expect(found[row]).toBe(labels[scores[0] > 0 ? 0 : 1]);
    else expect(found[row]).toBe(labels[scores.indexOf(Math.max(...scores))]);
  }
}

const shape = { rows: 300, columns: 40, perRow: 8 } as const;
const twoClasses = sampleText(shape);
const real = sampleText({ ...shape, labels: 'real' });

/** Rows of three clouds; the first labels seen are 7, then -2, then 3. */
function threeClasses(): string {
  const random = stream(5, 9);
  const labels = [7, -2, 3];
  return Array.from({ length: 150 }, (_, row) => {
    const kind = row < 3 ? row : random.below(3);
    const pairs = Array.from({ length: 6 }, (_unused, column) => {
      const value = random.normal() + (column % 3 === kind ? 1.2 : 0);
      return `${column + 1}:${value.toFixed(3)}`;
    });
    return `${labels[kind]} ${pairs.join(' ')}\n`;
  }).join('');
}

describe.skipIf(absent)(withReason('compared with liblinear-train', absent), () => {
  test.each([0, 1, 2, 3, 5, 6, 7])('-s %i: objective, predictions', async (type) => {
    const pair = await trainBoth(twoClasses, ['-s', `${type}`]);
    expectSameObjectives(type, rowsOf(twoClasses), pair);
    expectPredictions(pair, rowsOf(twoClasses), type);
  });

  test.each([11, 12, 13])('-s %i: objective, predictions', async (type) => {
    const options = ['-s', `${type}`, '-p', '0.3', '-c', '0.05', '-B', '1'];
    const pair = await trainBoth(real, options);
    expectSameObjectives(type, rowsOf(real), pair, { epsilon: 0.3, cost: 0.05 });
    expectPredictions(pair, rowsOf(real), type);
  });

  test.each([0, 1, 3, 5])('-s %i with a bias, a cost and weights', async (type) => {
    const options = ['-s', `${type}`, '-B', '2.5', '-c', '0.2', '-w1', '3', '-w-1', '0.5'];
    const pair = await trainBoth(twoClasses, options);
    const factors = new Map([
      [1, 3],
      [-1, 0.5],
    ]);
    expectSameObjectives(type, rowsOf(twoClasses), pair, { cost: 0.2, factors });
    expectPredictions(pair, rowsOf(twoClasses), type);
  });

  test.each([0, 2, 3, 6])('-s %i: three classes, one of them weighted', async (type) => {
    const text = threeClasses();
    const pair = await trainBoth(text, ['-s', `${type}`, '-w-2', '5', '-B', '1']);
    expect(pair.ours.labels).toEqual([7, -2, 3]);
    expectSameObjectives(type, rowsOf(text), pair, { factors: new Map([[-2, 5]]) });
    expectPredictions(pair, rowsOf(text), type);
  });

  test.each([
    ['-1 and then +1: +1 is first all the same', ['-1', '+1'], [1, -1]],
    ['1 and then 2: the first one seen is first', ['1', '2'], [1, 2]],
    ['2 and then 1', ['2', '1'], [2, 1]],
  ])('labels %s', async (_, [first, second], order) => {
    const lines = Array.from({ length: 30 }, (_unused, row) =>
      row % 3 === 0 ? `${first} 1:${1 + row / 30}` : `${second} 1:${-1 - row / 30} 2:1`,
    );
    const text = `${lines.join('\n')}\n`;
    const pair = await trainBoth(text, []);
    expect(pair.ours.labels).toEqual(order);
    expectSameObjectives(1, rowsOf(text), pair);
    expectPredictions(pair, rowsOf(text), 1);
  });

  const { path: a9a, missing: noData } = realData('a9a.svm.gz');
  test.skipIf(noData)(withReason('a9a with -s 1 and -s 0', noData), async () => {
    const text = gunzipSync(readFileSync(a9a)).toString();
    for (const type of [1, 0]) {
      const pair = await trainBoth(text, ['-s', `${type}`]);
      expectSameObjectives(type, rowsOf(text), pair);
    }
  });
});

async function run(args: readonly string[]) {
  const io = memoryIo();
  const code = await main(['liblinear-train', ...args], io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

function dataFile(text: string): string {
  const path = join(temporaryFolder(), 'data.svm');
  writeFileSync(path, text);
  return path;
}

describe('on its own', () => {
  test('-R leaves the bias out of the penalty', async () => {
    const path = dataFile(
      twoClasses.replaceAll(/^-1/gm, '+1 41:1').replaceAll(/^\+1 41/gm, '-1 41'),
    );
    const model = (name: string) => `${path}.${name}`;
    const options = ['-s', '0', '-B', '1', '-c', '0.001', '-e', '1e-6', '-q'];
    expect(await run([...options, path, model('bounded')])).toMatchObject({ code: 0, stdout: '' });
    expect(await run([...options, '-R', path, model('free')])).toMatchObject({ code: 0 });
    const size = (name: string) => Math.abs(readModelFile(model(name)).weights.at(-1)![0]);
    expect(size('free')).toBeGreaterThan(5 * size('bounded'));
    // At the optimum the slope of a free bias is 0.
    const rows = rowsOf(readFileSync(path, 'utf8'));
    const { weights, labels } = readModelFile(model('free'));
    const slope = rows.reduce((sum, { label, pairs }) => {
      let score = weights.at(-1)![0];
      for (const [index, value] of pairs) score += weights[index - 1][0] * value;
      const y = label === labels[0] ? 1 : -1;
      return sum - y / (1 + Math.exp(y * score));
    }, 0);
    expect(Math.abs(slope) / rows.length).toBeLessThan(1e-4);
  });

  test('-v prints what liblinear-train prints, and writes no model', async () => {
    const path = dataFile(twoClasses);
    const { code, stdout } = await run(['-v', '5', '-q', path, `${path}.model`]);
    expect(code).toBe(0);
    const accuracy = Number(/^Cross Validation Accuracy = (\S+)%\n$/.exec(stdout)?.[1]);
    expect(accuracy).toBeGreaterThan(80);
    expect(accuracy).toBeLessThan(100);
    expect(existsSync(`${path}.model`)).toBe(false);
    expect((await run(['-v', '5', path])).stdout).toBe(stdout);
  });

  test('-v on three classes and on real labels', async () => {
    const classes = await run(['-v', '3', dataFile(threeClasses())]);
    expect(Number(/Accuracy = (\S+)%/.exec(classes.stdout)?.[1])).toBeGreaterThan(60);
    const { stdout } = await run(['-s', '11', '-v', '4', dataFile(real)]);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(2);
    const error = Number(/^Cross Validation Mean squared error = (\S+)$/.exec(lines[0])?.[1]);
    const correlation = Number(
      /^Cross Validation Squared correlation coefficient = (\S+)$/.exec(lines[1])?.[1],
    );
    expect(error).toBeGreaterThan(0);
    expect(correlation).toBeGreaterThan(0.9);
    expect(correlation).toBeLessThan(1);
  });

  test('dso import reads the model', async () => {
    const path = dataFile(threeClasses());
    await run(['-q', path, `${path}.liblinear`]);
    const { importModel } = await import('../../src/model/export/index.ts');
    const model = importModel(readFileSync(`${path}.liblinear`), 'model');
    expect(model.classes).toEqual([-2, 3, 7]);
  });

  test('says what a class weight does not reach', async () => {
    const path = dataFile(twoClasses);
    const { stderr } = await run(['-w5', '2', path, `${path}.model`]);
    expect(stderr).toBe('note: -w5 changes nothing: no row has that label\n');
  });

  test.each([
    [['-s', '4'], 2, '-s 4: the SVM of Crammer and Singer'],
    [['-s', '21'], 2, '-s 21: the one-class SVM'],
    [['-z', '1'], 2, 'unknown option -z'],
    [['-w1', '0', '-w-1', '0'], 2, '-w: all rows count 0, and nothing is left to train on'],
    [['-w1', '0', '-w-1', '0', '-v', '2'], 2, '-w: all rows count 0'],
  ])('%j: exit code %i', async (options, code, message) => {
    const path = dataFile(twoClasses);
    const found = await run([...options, path, `${path}.model`]);
    expect(found.code).toBe(code);
    expect(found.stderr).toContain(message);
    expect(existsSync(`${path}.model`)).toBe(false);
  });

  test.each([
    ['1 1:x\n', 'data.svm:1: value "x" of feature 1'],
    ['1.5 1:1\n2 1:2\n', 'label 1.5; expected whole numbers'],
    ['red 1:1\nblue 1:2\n', 'label "red"; LIBLINEAR has whole numbers'],
    ['1 1:1\n1 1:2\n', 'all labels are 1'],
  ])('data %j: exit code 3', async (text, message) => {
    const path = dataFile(text);
    const found = await run([path, `${path}.model`]);
    expect(found.code).toBe(3);
    expect(found.stderr).toContain(message);
    expect(existsSync(`${path}.model`)).toBe(false);
  });
});

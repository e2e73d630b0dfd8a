import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeModel, encodeModel } from '../../../../src/model/file.ts';
import type { Model } from '../../../../src/model/model.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import {
  learnStream,
  type ProgressiveOptions,
  type ProgressiveReport,
} from '../../../../src/train/stream/learning.ts';
import { sampleText } from '../../../support/sample-text.ts';
import { piecesOf } from '../../../support/slow-chunks.ts';

async function learn(
  source: string | AsyncIterable<Uint8Array>,
  more: Partial<ProgressiveOptions> = {},
) {
  const reports: ProgressiveReport[] = [];
  const snapshots: Model[] = [];
  const notices: string[] = [];
  const chunks = typeof source === 'string' ? piecesOf(source, 1 << 16) : source;
  const result = await learnStream(chunks, 'rows', {
    loss: losses.hinge(),
    penalty: penalties.l2(),
    lambda: 1e-6,
    reading: {},
    snapshot: {},
    onReport: (report) => void reports.push(report),
    onNotice: (message) => void notices.push(message),
    onSnapshot: async (model) => void snapshots.push(decodeModel(encodeModel(model), 'copy')),
    ...more,
  });
  return { ...result, reports, snapshots, notices };
}

const text = sampleText({ rows: 300, columns: 30, perRow: 6 });
const firstRows = (count: number) => `${text.split('\n').slice(0, count).join('\n')}\n`;

test('reports come after 1, 2, 4, 8 … rows, and at the end', async () => {
  const { reports, report } = await learn(firstRows(50));
  expect(reports.map(({ rows }) => rows)).toEqual([1, 2, 4, 8, 16, 32, 50]);
  expect(report).toEqual(reports[6]);
  for (const [all, recent] of [
    ['loss', 'recentLoss'],
    ['error', 'recentError'],
  ] as const) {
    const total = reports.reduce((sum, one, index) => {
      const before = index === 0 ? 0 : reports[index - 1].rows;
      return sum + one[recent] * (one.rows - before);
    }, 0);
    expect(report[all]).toBeCloseTo(total / 50, 12);
  }
});

test('loss and error are those of the model of all rows before each row', async () => {
  const lines = text
    .trim()
    .replaceAll(/:(-?)[0-9.]+/g, ':$11')
    .split('\n');
  const upTo = (count: number) => `${lines.slice(0, count).join('\n')}\n`;
  const { reports } = await learn(upTo(120), { reportEvery: 20 });
  const start = 20;
  let [loss, wrong] = [0, 0];
  for (let row = start; row < 120; row++) {
    const { model } = await learn(upTo(row));
    const [label, ...pairs] = lines[row].split(' ');
    const score = pairs.reduce((sum, pair) => {
      const [index, value] = pair.split(':').map(Number);
      return sum + (model.weights[index - 1] ?? 0) * value;
    }, 0);
    loss += Math.max(0, 1 - Number(label) * score);
    wrong += Number(label) * score > 0 ? 0 : 1;
  }
  const recent = reports.filter(({ rows }) => rows > start);
  expect(recent).toHaveLength(5);
  const mean = (key: 'recentLoss' | 'recentError') =>
    recent.reduce((sum, report) => sum + report[key], 0) / recent.length;
  expect(mean('recentLoss')).toBeCloseTo(loss / 100, 9);
  expect(mean('recentError')).toBeCloseTo(wrong / 100, 12);
});

test('the same bits however the stream is cut, and whatever is asked on the way', async () => {
  const { model } = await learn(text);
  const wanted = encodeModel(model);
  for (const size of [1, 13, 1000]) {
    const cut = await learn(piecesOf(text, size), { snapshot: { rows: 7 }, reportEvery: 3 });
    expect(encodeModel(cut.model)).toEqual(wanted);
  }
});

test('golden numbers', async () => {
  const { model, report } = await learn('1 1:2\n-1 2:1\n1 1:2\n', { lambda: 1e-300 });
  expect(model).toMatchObject({
    classes: [-1, 1],
    columns: 2,
    rows: 3,
    nonzeros: 3,
    solver: 'sgd',
  });
  // Steps of 0.5/√1 for both columns, then of 0.5/√2 for the first.
  expect(model.weights[0]).toBeCloseTo((0.5 + 0.5 / Math.SQRT2) / 2, 15);
  expect(model.weights[1]).toBe(-0.5);
  expect(report.loss).toBeCloseTo((1 + 1 + 0.5) / 3, 15);
  expect(report.error).toBeCloseTo(2 / 3, 15);
  expect(model.certificate).toMatchObject({ dual: -Infinity, stopped: 'stream' });
});

test('errors: nothing is known of the first row, then the only class, then what the model says', async () => {
  // An empty row has the score 0, which is the negative class.
  const { reports } = await learn('1 1:1\n1 2:1\n-1 3:1\n-1\n1\n1 1:1\n', { reportEvery: 1 });
  expect(reports.map(({ recentError }) => recentError)).toEqual([1, 0, 1, 0, 1, 0]);
  const { reports: turned } = await learn('0 1:1\n1 2:1\n0\n1\n', { reportEvery: 1 });
  expect(turned.map(({ recentError }) => recentError)).toEqual([1, 1, 0, 1]);
});

test('the order in which classes appear does not matter', async () => {
  const { model } = await learn('1 1:1\n0 2:1\n');
  const { model: other } = await learn('0 2:1\n1 1:1\n');
  expect(model.classes).toEqual([0, 1]);
  expect(other.classes).toEqual([0, 1]);
  expect(model.weights[0]).toBeGreaterThan(0);
  expect(other.weights[0]).toBeGreaterThan(0);
  expect(other.weights[1]).toBeLessThan(0);
});

describe('snapshots', () => {
  test('every n rows: each is the model of the rows until then', async () => {
    const { snapshots } = await learn(text, { snapshot: { rows: 100 } });
    expect(snapshots.map(({ rows }) => rows)).toEqual([100, 200, 300]);
    for (const snapshot of snapshots) {
      const { model } = await learn(firstRows(snapshot.rows));
      expect(encodeModel(snapshot)).toEqual(encodeModel(model));
    }
  });

  test('after a time, while the stream is open and silent', async () => {
    let release = () => {};
    const silence = new Promise<void>((resolve) => {
      release = resolve;
    });
    async function* slowly() {
      yield Buffer.from('1 1:1\n-1 2:1\n');
      await silence;
    }
    const saved: number[] = [];
    const { model } = await learn(slowly(), {
      snapshot: { seconds: 0.01 },
      onSnapshot: async ({ rows }) => {
        saved.push(rows);
        release();
      },
    });
    expect(saved[0]).toBe(2);
    expect(model.rows).toBe(2);
  });

  test('not before there are two classes', async () => {
    const { snapshots } = await learn('1 1:1\n1 1:1\n-1 1:1\n', { snapshot: { rows: 1 } });
    expect(snapshots.map(({ rows }) => rows)).toEqual([3]);
  });

  test('those of before an error stay', async () => {
    const saved: number[] = [];
    const onSnapshot = async ({ rows }: Model) => void saved.push(rows);
    const broken = `${firstRows(25)}+1 1:oops\n`;
    await expect(learn(broken, { snapshot: { rows: 10 }, onSnapshot })).rejects.toThrow(
      'rows:26: value "oops" of feature 1',
    );
    expect(saved).toEqual([10, 20]);
  });
});

test('a signal ends the stream; what has been learned becomes the model', async () => {
  const stop = new AbortController();
  async function* endless() {
    for (;;) yield Buffer.from('1 1:1\n-1 2:1\n');
  }
  const { model } = await learn(endless(), {
    signal: stop.signal,
    onReport: ({ rows }) => {
      if (rows === 64) stop.abort();
    },
  });
  expect(model.rows).toBeGreaterThanOrEqual(64);
});

test('a signal is heard while nothing comes', async () => {
  const stop = new AbortController();
  async function* silent() {
    yield Buffer.from('1 1:1\n-1 2:1\n');
    await new Promise(() => {});
  }
  const onReport = ({ rows }: ProgressiveReport) => {
    if (rows === 2) setImmediate(() => stop.abort());
  };
  expect((await learn(silent(), { signal: stop.signal, onReport })).model.rows).toBe(2);
});

test('row weights count, in the sums too', async () => {
  const { report } = await learn('1 |f a\n-1 3 |f b\n1 |f a\n', { lambda: 1e-300 });
  expect(report.loss).toBeCloseTo((1 + 3 * 1 + 0.5) / 5, 15);
  expect(report.error).toBeCloseTo(4 / 5, 15);
});

test('CSV with categories that appear on the way', async () => {
  const csv = 'city,age,label\nParis,30,yes\nRome,40,no\nOslo,50,yes\nParis,20,yes\n';
  const { model, notices } = await learn(csv, { intercept: true });
  expect(model.featureNames).toEqual(['age', 'city=Paris', 'city=Rome', 'city=Oslo']);
  expect(model.classes).toEqual(['no', 'yes']);
  expect(model.recipe?.fields?.map(({ kind }) => kind)).toEqual(['category', 'number', 'label']);
  expect(model.intercepts[0]).not.toBe(0);
  expect(notices).toEqual([
    'CSV: label column "label", 1 numeric and 1 categorical columns (by the first row)',
  ]);
});

test('hashed names: all columns are there', async () => {
  const { model } = await learn('1 |f a\n-1 |f b\n', { reading: { hashBits: 6 } });
  expect(model.columns).toBe(64);
  expect(model.weights).toHaveLength(64);
  expect(model.featureNames).toBeUndefined();
  expect(model.recipe).toEqual({ hashBits: 6 });
});

test('regression has the mean squared error', async () => {
  const { model, report } = await learn('2 1:1\n4 1:1\n', { loss: losses.square() });
  expect(model.classes).toBeUndefined();
  expect(report.loss).toBeCloseTo(report.error / 2, 12);
  expect(model.weights[0]).toBeGreaterThan(0);
});

test('gzip', async () => {
  const packed = gzipSync(text);
  async function* chunks() {
    for (let at = 0; at < packed.length; at += 500) yield packed.subarray(at, at + 500);
  }
  const { model } = await learn(chunks());
  expect(encodeModel(model)).toEqual(encodeModel((await learn(text)).model));
});

describe('faults', () => {
  test.each([
    ['1 1:1\n2 1:1\n3 1:1\n', {}, 'rows: row 3 has label 3, the third after 1 and 2'],
    ['1 1:1\n1 1:1\n', {}, 'rows: all labels are 1; classification needs two classes'],
    ['', {}, 'rows: no rows'],
    ['label,a\n', {}, 'rows: no rows'],
    ['a 1:1\nb 1:1\n', { loss: losses.square() }, 'rows: row 1 has label a; the square loss needs'],
    ['1 1:1\n-1 1:1\n', { loss: losses.poisson() }, 'rows: row 2 has label -1; the poisson loss'],
  ])('%j', async (rows, more, message) => {
    await expect(learn(rows, more)).rejects.toThrow(message);
  });
});

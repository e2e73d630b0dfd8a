import { describe, expect, test } from 'vitest';
import { lossByName, losses } from '../../../../src/problem/losses/index.ts';
import type { Loss } from '../../../../src/problem/losses/loss.ts';
import { penalties } from '../../../../src/problem/penalties/index.ts';
import { OnlineLearner } from '../../../../src/train/stream/learner.ts';
import { sampleFor } from '../../../support/data.ts';

interface Settings {
  readonly loss: Loss;
  readonly penalty: { readonly l1: number; readonly l2: number };
  readonly lambda: number;
  readonly stepSize?: number;
  readonly intercept?: boolean;
}

/** The same method with dense rows and the penalty in force at every row, not only when it matters. */
class NaiveLearner {
  readonly v: number[];
  readonly #settings: Settings;
  readonly #squares: number[];
  readonly #rates: number[];
  readonly #largest: number[];
  #rows = 0;
  #entries = 0;
  #totalWeight = 0;
  #labels = 0;

  constructor(columns: number, settings: Settings) {
    this.#settings = settings;
    const zeros = () => new Array<number>(columns + 1).fill(0);
    [this.v, this.#squares, this.#rates, this.#largest] = [zeros(), zeros(), zeros(), zeros()];
    this.#largest[columns] = 1;
  }

  learn(row: readonly number[], y: number, c: number): number {
    const { loss, stepSize = 0.5, intercept } = this.#settings;
    const x = [...row, intercept ? 1 : 0];
    x.forEach((value, j) => {
      this.#largest[j] = Math.max(this.#largest[j], Math.abs(value));
    });
    const z = x.map((value, j) => (value === 0 ? 0 : value / this.#largest[j]));
    const score = z.reduce((sum, value, j) => sum + value * this.v[j], 0);
    const slope = c * loss.derivative(score, y, loss.parameter);
    this.#rows += 1;
    this.#entries += x.filter((value) => value !== 0).length;
    this.#totalWeight += c;
    this.#labels += c * y * y;
    const scaled = loss.task === 'regression' && loss.name !== 'poisson';
    const scale = scaled ? Math.sqrt(this.#labels / this.#totalWeight) : 1;
    const base = (stepSize * scale) / Math.sqrt(Math.max(1, this.#entries / this.#rows));
    for (const [j, value] of z.entries()) {
      this.#decay(j, value === 0 ? c : 0);
      if (value === 0 || slope === 0) {
        if (value !== 0) this.#decay(j, c);
        continue;
      }
      this.#squares[j] += (slope * value) ** 2;
      this.#rates[j] = base / Math.sqrt(this.#squares[j]);
      this.v[j] -= this.#rates[j] * slope * value;
      this.#decay(j, c);
    }
    return score;
  }

  weights(): number[] {
    return this.v.slice(0, -1).map((v, j) => (this.#largest[j] > 0 ? v / this.#largest[j] : 0));
  }

  /** dv/dt = −λ (l1 sign(v)/N + l2 v/N²), solved by many small steps. */
  #decay(j: number, time: number): void {
    const { penalty, lambda } = this.#settings;
    if (time === 0 || this.v[j] === 0 || j === this.v.length - 1) return;
    const [l1, l2] = [
      (lambda * penalty.l1) / this.#largest[j],
      (lambda * penalty.l2) / this.#largest[j] ** 2,
    ];
    const t = this.#rates[j] * time;
    const size = Math.abs(this.v[j]);
    const left = l2 > 0 ? (size + l1 / l2) * Math.exp(-l2 * t) - l1 / l2 : size - l1 * t;
    this.v[j] = left > 0 ? Math.sign(this.v[j]) * left : 0;
  }
}

function both(settings: Settings, seed: number) {
  const { rows, labels } = sampleFor(settings.loss, { seed, rows: 80, columns: 6 });
  const learner = new OnlineLearner(settings);
  const naive = new NaiveLearner(6, settings);
  const scores: [number, number][] = [];
  for (const [i, row] of rows.entries()) {
    const columns = [...row.keys()].filter((j) => row[j] !== 0);
    const weight = 1 + (i % 3);
    const found = learner.learn({
      indices: Int32Array.from(columns),
      values: Float32Array.from(columns, (j) => row[j]),
      from: 0,
      to: columns.length,
      target: labels[i],
      weight,
    });
    scores.push([found, naive.learn(row, labels[i], weight)]);
  }
  return { learner, naive, scores };
}

describe('agrees with a dense program in which the penalty is in force all the time', () => {
  const kinds = ['l2', 'l1', 'elasticNet'] as const;
  const names = ['hinge', 'logistic', 'squared-hinge', 'square', 'absolute', 'poisson'];
  test.each(names.flatMap((name) => kinds.map((kind) => [name, kind] as const)))(
    '%s, %s',
    (name, kind) => {
      const settings = {
        loss: lossByName(name),
        penalty: penalties[kind](),
        lambda: 0.01,
        intercept: kind === 'l2',
        stepSize: name === 'poisson' ? 0.1 : 0.5,
      };
      const { learner, naive, scores } = both(settings, 3);
      for (const [found, wanted] of scores) expect(found).toBeCloseTo(wanted, 9);
      const weights = learner.weights(6);
      naive.weights().forEach((wanted, j) => {
        expect(weights[j]).toBeCloseTo(wanted, 9);
      });
      expect(learner.intercept).toBeCloseTo(settings.intercept ? naive.v[6] : 0, 9);
      expect(weights.some((weight) => weight !== 0)).toBe(true);
    },
  );
});

const row = (x: number, target: number, column = 0, weight = 1) => ({
  indices: Int32Array.of(column),
  values: Float32Array.of(x),
  from: 0,
  to: 1,
  target,
  weight,
});

const hinge = { loss: losses.hinge(), penalty: penalties.l2(), lambda: 0 };

test('golden numbers: two rows of one value', () => {
  const learner = new OnlineLearner(hinge);
  // w = 0, slope −1: v = 0.5, in units of the value 2.
  expect(learner.learn(row(2, 1))).toBe(0);
  expect(learner.weights(1)).toEqual(Float64Array.of(0.25));
  // The second step is shorter by √2.
  expect(learner.learn(row(2, 1))).toBe(0.5);
  expect(learner.weights(1)[0]).toBeCloseTo(0.25 + 0.25 / Math.SQRT2, 15);
  // Beyond the margin nothing is learned.
  expect(learner.learn(row(4, 1))).toBeCloseTo(0.5 + 0.5 / Math.SQRT2, 15);
});

test('the unit of a feature changes nothing', () => {
  const scoresIn = (unit: number) => {
    const learner = new OnlineLearner(hinge);
    return [1, -2, 0.5, 4, -1].map((x, i) => learner.learn(row(x * unit, i % 2 === 0 ? 1 : -1)));
  };
  expect(scoresIn(1024)).toEqual(scoresIn(1));
});

test('a value far larger than all before does not blow up the score', () => {
  const learner = new OnlineLearner(hinge);
  learner.learn(row(0.001, 1));
  expect(Math.abs(learner.learn(row(1000, -1)))).toBeLessThanOrEqual(1);
});

test('a row that counts nothing is predicted, and teaches nothing', () => {
  const learner = new OnlineLearner(hinge);
  learner.learn(row(1, 1));
  const before = learner.weights(1);
  expect(learner.learn(row(1, -1, 0, 0))).toBe(0.5);
  expect(learner.weights(1)).toEqual(before);
});

test('asking for the weights changes no bit of what follows', () => {
  const settings = { ...hinge, lambda: 0.1 };
  const [asked, left] = [new OnlineLearner(settings), new OnlineLearner(settings)];
  for (let i = 0; i < 50; i++) {
    const next = row(1 + (i % 7), i % 3 === 0 ? 1 : -1, i % 5);
    asked.weights(5);
    expect(asked.learn(next)).toBe(left.learn(next));
  }
  expect(asked.weights(5)).toEqual(left.weights(5));
});

test('a label beyond all bounds is reported with its row', () => {
  const learner = new OnlineLearner({ ...hinge, loss: losses.square() });
  learner.learn(row(1, 1));
  expect(() => learner.learn(row(1, 1e200))).toThrow(/^row 2 has label 1e\+200 and score 0\.5: /);
});

test('a column that no machine has room for is reported with its row', () => {
  expect(() => new OnlineLearner(hinge).learn(row(1, 1, 2 ** 31 - 3))).toThrow(
    /^row 1 has column 2147483646: that needs .* this machine has/,
  );
});

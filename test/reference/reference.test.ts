/** The reference solver's own proof: optimality checked without its method. */
import { describe, expect, test } from 'vitest';
import { type Random, stream } from '../../src/math/random.ts';
import { type ReferenceProblem, referenceObjective, referenceOptimum } from './reference.ts';

const losses = [
  { name: 'hinge' },
  { name: 'squared-hinge' },
  { name: 'smoothed-hinge', parameter: 0.5 },
  { name: 'logistic' },
  { name: 'square' },
  { name: 'huber', parameter: 0.7 },
  { name: 'absolute', parameter: 0.2 },
  { name: 'squared-absolute', parameter: 0.2 },
  { name: 'quantile', parameter: 0.3 },
  { name: 'poisson' },
];
const penalties = [
  { l1: 0, l2: 1 },
  { l1: 1, l2: 0 },
  { l1: 0.3, l2: 0.7 },
];
const regression = ['square', 'huber', 'absolute', 'squared-absolute', 'quantile'];

function randomProblem(
  random: Random,
  loss: ReferenceProblem['loss'],
  penalty: ReferenceProblem['penalty'],
): ReferenceProblem {
  const columns = 6;
  const draw = () => (random.uniform() < 0.7 ? random.normal() : 0);
  const rows = Array.from({ length: 40 }, () => Array.from({ length: columns }, draw));
  const planted = Array.from({ length: columns }, () => random.normal());
  const labels = rows.map((row) => {
    const score = row.reduce((sum, x, j) => sum + x * planted[j], 0.4) + random.normal();
    if (loss.name === 'poisson') return Math.round(Math.exp(score / 2));
    return regression.includes(loss.name) ? score : Math.sign(score);
  });
  return { rows, labels, loss, penalty, lambda: 0.02 };
}

const bounds = [{}, { low: 0 }, { low: -0.3, high: 0.2 }, { high: 0 }];
const cases = losses.flatMap((loss) =>
  penalties.flatMap((penalty) =>
    bounds.map((box) => ({
      label: `${loss.name}, l1 = ${penalty.l1}, bounds ${JSON.stringify(box)}`,
      loss,
      penalty: { ...penalty, ...box },
    })),
  ),
);

describe.each(cases)('$label', ({ loss, penalty }) => {
  test.each([
    { intercept: false, factors: false, counts: false },
    { intercept: true, factors: false, counts: false },
    { intercept: true, factors: true, counts: false },
    { intercept: true, factors: false, counts: true },
  ])('no step improves it ($intercept, $factors, $counts)', ({ intercept, factors, counts }) => {
    const random = stream(21, 1);
    const plain = randomProblem(random, loss, penalty);
    const problem: ReferenceProblem = {
      ...plain,
      intercept,
      ...(counts ? { rowWeights: plain.rows.map(() => random.below(4) / 2) } : {}),
      ...(factors ? { penaltyFactors: [1, 2, 0.5, 3, 0.1, 1] } : {}),
    };
    const best = referenceOptimum(problem);
    expect(best.value).toBeCloseTo(referenceObjective(problem, best.weights, best.intercept), 14);
    let least = Infinity;
    const trials = process.env.DSO_TEST_FULL ? 3000 : 1000;
    for (let trial = 0; trial < trials; trial += 1) {
      const size = 10 ** -random.below(7);
      const along = random.below(best.weights.length + 2);
      const move = (j: number) =>
        along >= best.weights.length || along === j ? random.normal() : 0;
      const weights = best.weights.map((w, j) => w + size * move(j));
      const offset = intercept ? best.intercept + size * random.normal() : 0;
      least = Math.min(least, referenceObjective(problem, weights, offset));
    }
    expect(least).toBeGreaterThan(best.value - 1e-11);
  });
});

test('a weight of k is k copies of the row', () => {
  const plain = randomProblem(stream(22, 1), losses[0], penalties[2]);
  const rowWeights = plain.rows.map((_, row) => row % 4);
  const order = rowWeights.flatMap((count, row) => new Array<number>(count).fill(row));
  const copies = {
    ...plain,
    rows: order.map((row) => plain.rows[row]),
    labels: order.map((row) => plain.labels[row]),
  };
  const { value } = referenceOptimum({ ...plain, rowWeights });
  expect(Math.abs(value - referenceOptimum(copies).value)).toBeLessThan(1e-10);
});

/** The dual with L2: (1/m) Σ −ℓ*(−α_i) − ‖Σ α_i x_i / m‖² / (2λ), with −ℓ*(−a) as given. */
interface Dual {
  readonly low: (y: number) => number;
  readonly high: (y: number) => number;
  readonly gain: (a: number, y: number) => number;
}

const entropy = (b: number) => (b > 0 && b < 1 ? -b * Math.log(b) - (1 - b) * Math.log(1 - b) : 0);
const xLogX = (x: number) => (x > 0 ? x * Math.log(x) : 0);
const unit = { low: (y: number) => Math.min(0, y), high: (y: number) => Math.max(0, y) };
const duals: Readonly<Record<string, Dual>> = {
  hinge: { ...unit, gain: (a, y) => a * y },
  'squared-hinge': {
    low: (y) => Math.min(0, 100 * y),
    high: (y) => Math.max(0, 100 * y),
    gain: (a, y) => a * y - (a * a) / 4,
  },
  'smoothed-hinge': { ...unit, gain: (a, y) => a * y - (a * a) / 4 },
  logistic: { ...unit, gain: (a, y) => entropy(a * y) },
  square: { low: () => -100, high: () => 100, gain: (a, y) => a * y - (a * a) / 2 },
  huber: { low: () => -0.7, high: () => 0.7, gain: (a, y) => a * y - (a * a) / 2 },
  absolute: { low: () => -1, high: () => 1, gain: (a, y) => a * y - 0.2 * Math.abs(a) },
  'squared-absolute': {
    low: () => -100,
    high: () => 100,
    gain: (a, y) => a * y - 0.2 * Math.abs(a) - (a * a) / 4,
  },
  quantile: { low: () => -0.7, high: () => 0.3, gain: (a, y) => a * y },
  poisson: {
    low: () => -100,
    high: (y) => y,
    gain: (a, y) => xLogX(y) - xLogX(y - a) - a,
  },
};

/** The maximiser of a concave function on an interval, by golden section. */
function maximise(f: (a: number) => number, low: number, high: number): number {
  const ratio = (Math.sqrt(5) - 1) / 2;
  let [left, right] = [low, high];
  let [a, b] = [right - ratio * (right - left), left + ratio * (right - left)];
  let [atA, atB] = [f(a), f(b)];
  while (right - left > 1e-11) {
    if (atA >= atB) {
      [right, b, atB] = [b, a, atA];
      a = right - ratio * (right - left);
      atA = f(a);
    } else {
      [left, a, atA] = [a, b, atB];
      b = left + ratio * (right - left);
      atB = f(b);
    }
  }
  return [low, high, (left + right) / 2].reduce((best, x) => (f(x) > f(best) ? x : best));
}

/** A lower bound of P*: coordinate ascent on the dual, each coordinate by golden section. */
function dualBound(problem: ReferenceProblem, dual: Dual, sweeps: number): number {
  const { rows, labels, lambda } = problem;
  const m = rows.length;
  const alpha = labels.map(() => 0);
  const w = rows[0].map(() => 0);
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    rows.forEach((row, i) => {
      const [y, old] = [labels[i], alpha[i]];
      const score = row.reduce((sum, x, j) => sum + x * w[j], 0);
      const stiffness = row.reduce((sum, x) => sum + x * x, 0) / (lambda * m);
      const local = (a: number) =>
        dual.gain(a, y) - score * (a - old) - (stiffness / 2) * (a - old) ** 2;
      alpha[i] = maximise(local, dual.low(y), dual.high(y));
      row.forEach((x, j) => {
        w[j] += ((alpha[i] - old) * x) / (lambda * m);
      });
    });
  }
  const gains = alpha.reduce((sum, a, i) => sum + dual.gain(a, labels[i]), 0);
  return gains / m - (lambda / 2) * w.reduce((sum, x) => sum + x * x, 0);
}

test.each(losses)('$name + L2: a dual point proves it to 1e-8', (loss) => {
  const problem = randomProblem(stream(21, 2), loss, { l1: 0, l2: 1 });
  const { value } = referenceOptimum(problem);
  const bound = dualBound(problem, duals[loss.name], 600);
  expect(value - bound).toBeGreaterThan(-1e-10);
  expect((value - bound) / value).toBeLessThan(1e-8);
});

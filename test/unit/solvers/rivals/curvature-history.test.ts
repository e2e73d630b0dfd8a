/** The two-loop recursion against the matrices it represents. */
import { describe, expect, test } from 'vitest';
import { shareTeam, Team } from '../../../../src/engine/team.ts';
import { stream } from '../../../../src/math/random.ts';
import { CurvatureHistory } from '../../../../src/solvers/rivals/curvature-history.ts';

const size = 6;
const random = stream(11, 1);
const draw = () => Float64Array.from({ length: size }, () => random.normal());

/** Two blocks of three columns. */
const columnsOf = (array: Float64Array, block: number) =>
  array.subarray(3 * block, 3 * (block + 1));

function historyOf(length: number, damped = { position: 0, block: -1, factor: 1 }) {
  const team = new Team(shareTeam({ threads: 1, workers: 2, cores: 1 }), 0);
  const pairs = Array.from({ length }, () => ({
    step: new Float64Array(size),
    change: new Float64Array(size),
  }));
  return new CurvatureHistory(team, columnsOf, pairs, damped);
}

type Pair = readonly [Float64Array, Float64Array];

/** A step and what a diagonal matrix makes of it. */
function pairOf(): Pair {
  const step = draw();
  return [step, step.map((s, j) => (1 + j) * s)];
}

function learn(history: CurvatureHistory, [step, change]: Pair): void {
  const pair = history.next();
  pair.step.set(step);
  pair.change.set(change);
  history.add();
}

const product = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, k) => sum + x * b[k], 0);

/** H v by H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy, the newest pair outermost. */
function denseApply(pairs: readonly Pair[], base: Float64Array, v: Float64Array): Float64Array {
  if (pairs.length === 0) return v.map((x, j) => base[j] * x);
  const [s, y] = pairs[pairs.length - 1];
  const inverse = 1 / product(s, y);
  const share = inverse * product(s, v);
  const right = v.map((x, j) => x - share * y[j]);
  const middle = denseApply(pairs.slice(0, -1), base, right);
  const back = inverse * product(y, middle);
  return middle.map((x, j) => x + (share - back) * s[j]);
}

function expectClose(found: Float64Array, expected: Float64Array): void {
  found.forEach((x, j) => {
    expect(x).toBeCloseTo(expected[j], 11);
  });
}

describe('H', () => {
  test('without a pair is H₀', () => {
    const v = draw();
    const direction = v.slice();
    historyOf(3).apply(direction);
    expect([...direction]).toEqual([...v]);
    historyOf(3, { position: 4, block: 1, factor: 0.25 }).apply(direction);
    expect(direction[4]).toBe(0.25 * v[4]);
    expect(direction[3]).toBe(v[3]);
  });

  test.each([1, 2, 3, 5])('is the product of the last three of %i pairs', (count) => {
    const history = historyOf(3);
    const all = Array.from({ length: count }, pairOf);
    for (const pair of all) learn(history, pair);
    expect(history.size).toBe(Math.min(3, count));
    const [s, y] = all[count - 1];
    const base = new Float64Array(size).fill(product(s, y) / product(y, y));
    const v = draw();
    const expected = denseApply(all.slice(-3), base, v);
    history.apply(v);
    expectClose(v, expected);
  });

  test('takes the newest change to the newest step', () => {
    const history = historyOf(3, { position: 1, block: 0, factor: 0.1 });
    let last = pairOf();
    for (let k = 0; k < 4; k++) {
      last = pairOf();
      learn(history, last);
    }
    const direction = last[1].slice();
    history.apply(direction);
    expectClose(direction, last[0]);
  });

  test('has a smaller diagonal at a damped column', () => {
    const history = historyOf(3, { position: 5, block: 1, factor: 0.1 });
    const pair = pairOf();
    learn(history, pair);
    const diagonal = Float64Array.of(1, 1, 1, 1, 1, 0.1);
    const [s, y] = pair;
    const mapped = y.map((x, j) => diagonal[j] * x);
    const base = diagonal.map((x) => (x * product(s, y)) / product(y, mapped));
    const v = draw();
    const expected = denseApply([pair], base, v);
    history.apply(v);
    expectClose(v, expected);
  });
});

test('pairs without curvature are not stored, and clear removes all', () => {
  const history = historyOf(2);
  learn(history, [Float64Array.of(1, 0, 0, 0, 0, 0), Float64Array.of(0, 1, 0, 0, 0, 0)]);
  learn(history, [Float64Array.of(1, 0, 0, 0, 0, 0), Float64Array.of(-1, 0, 0, 0, 0, 0)]);
  learn(history, [new Float64Array(size), new Float64Array(size)]);
  expect(history.size).toBe(0);
  learn(history, pairOf());
  learn(history, pairOf());
  learn(history, pairOf());
  expect(history.size).toBe(2);
  history.clear();
  expect(history.size).toBe(0);
});

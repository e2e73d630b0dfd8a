import { describe, expect, test } from 'vitest';
import { stream } from '../../../../src/math/random.ts';
import { fitIsotonic, fitPlatt } from '../../../../src/model/metrics/fit-calibration.ts';
import { calibrated } from '../../../../src/model/predict/predict.ts';
import { fc } from '../../../support/property.ts';

interface Rows {
  readonly scores: Float64Array;
  readonly positives: Uint8Array;
  readonly weights?: Float64Array;
}

const examples = { numRuns: 200 };

/** A few rows, with equal scores among them. */
const someRows = fc
  .array(
    fc.record({
      score: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ min: -5, max: 5, noNaN: true })),
      positive: fc.boolean(),
      weight: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((rows) => ({
    scores: Float64Array.from(rows, ({ score }) => score),
    positives: Uint8Array.from(rows, ({ positive }) => (positive ? 1 : 0)),
    weights: Float64Array.from(rows, ({ weight }) => weight),
  }));

/** Rows whose chance of being positive follows a curve. */
function drawn(count: number, seed = 1): Rows {
  const random = stream(seed, 9);
  const scores = Float64Array.from({ length: count }, () => 3 * random.normal());
  const positives = Uint8Array.from(scores, (score) =>
    random.uniform() < 1 / (1 + Math.exp(0.5 - 1.4 * score)) ? 1 : 0,
  );
  return { scores, positives };
}

/** As many equal rows as the weight says. */
function repeated({ scores, positives, weights }: Required<Rows>): Rows {
  const rows = [...scores.keys()].flatMap((row) => new Array<number>(weights[row]).fill(row));
  return {
    scores: Float64Array.from(rows, (row) => scores[row]),
    positives: Uint8Array.from(rows, (row) => positives[row]),
  };
}

/** The derivatives of Platt's likelihood by its textbook formula, per unit of weight. */
function plattGradient({ scores, positives, weights }: Rows, slope: number, offset: number) {
  const weightOf = (row: number) => weights?.[row] ?? 1;
  const count = (expected: number) =>
    scores.reduce((sum, _, row) => sum + (positives[row] === expected ? weightOf(row) : 0), 0);
  const [positive, negative] = [count(1), count(0)];
  const targets = [1 / (negative + 2), (positive + 1) / (positive + 2)];
  let [bySlope, byOffset, size] = [0, 0, 0];
  scores.forEach((score, row) => {
    const probability = 1 / (1 + Math.exp(slope * score + offset));
    const missing = weightOf(row) * (targets[positives[row]] - probability);
    bySlope += missing * score;
    byOffset += missing;
    size += weightOf(row) * Math.max(1, Math.abs(score));
  });
  return Math.max(Math.abs(bySlope), Math.abs(byOffset)) / size;
}

describe('Platt scaling', () => {
  test('its gradient is 0 at the solution, with and without weights', () => {
    fc.assert(
      fc.property(someRows, (rows) => {
        const { slope, offset } = fitPlatt(rows.scores, rows.positives, rows.weights);
        expect(plattGradient(rows, slope, offset)).toBeLessThan(1e-9);
        const plain = fitPlatt(rows.scores, rows.positives);
        const bare = { scores: rows.scores, positives: rows.positives };
        expect(plattGradient(bare, plain.slope, plain.offset)).toBeLessThan(1e-9);
      }),
      examples,
    );
  });

  test('finds the curve the rows were drawn from, at any scale and offset of the scores', () => {
    const { scores, positives } = drawn(200_000);
    const { slope, offset } = fitPlatt(scores, positives);
    expect(slope).toBeCloseTo(-1.4, 1);
    expect(offset).toBeCloseTo(0.5, 1);
    const moved = fitPlatt(
      scores.map((score) => 1e6 + 1e3 * score),
      positives,
    );
    expect(moved.slope * 1e3).toBeCloseTo(slope, 6);
    expect(moved.offset + moved.slope * 1e6).toBeCloseTo(offset, 6);
  });

  test('a weight counts like as many rows', () => {
    fc.assert(
      fc.property(someRows, (rows) => {
        const whole = fitPlatt(rows.scores, rows.positives, rows.weights);
        const { scores, positives } = repeated(rows);
        const copies = fitPlatt(scores, positives);
        for (const score of [-2, 0, 3]) {
          expect(calibrated(whole, score)).toBeCloseTo(calibrated(copies, score), 8);
        }
      }),
      examples,
    );
  });

  test('scores that separate the classes have a finite slope', () => {
    const { slope, offset } = fitPlatt(Float64Array.of(-2, -1, 1, 2), Uint8Array.of(0, 0, 1, 1));
    expect(slope).toBeLessThan(0);
    expect(slope).toBeGreaterThan(-10);
    expect(offset).toBeCloseTo(0, 9);
  });

  test('equal scores have no slope, and the mean of the targets', () => {
    const scores = new Float64Array(5).fill(7);
    const fit = fitPlatt(scores, Uint8Array.of(1, 1, 1, 0, 0));
    expect(fit.slope).toBe(0);
    expect(calibrated(fit, 7)).toBeCloseTo((3 * (4 / 5) + 2 * (1 / 4)) / 5, 10);
  });

  test.each([
    [0, 1 / 5],
    [1, 4 / 5],
  ])('one class alone (%i): its target at every score', (positive, target) => {
    const fit = fitPlatt(Float64Array.of(-4, 0, 9), new Uint8Array(3).fill(positive));
    for (const score of [-4, 0, 9, 100]) expect(calibrated(fit, score)).toBeCloseTo(target, 9);
  });

  test('of no rows nothing is known', () => {
    expect(calibrated(fitPlatt(new Float64Array(0), new Uint8Array(0)), 3)).toBe(0.5);
  });
});

/** Σ weight · (value − y)² for a value per row. */
function squares({ positives, weights }: Rows, prediction: (row: number) => number): number {
  return positives.reduce(
    (sum, positive, row) => sum + (weights?.[row] ?? 1) * (prediction(row) - positive) ** 2,
    0,
  );
}

/**
 * The least sum of squares of any rising function, by trying every way to cut the sorted scores
 * into runs of one value each: the best value of a run is its mean.
 */
function leastSquares(rows: Rows): number {
  const levels = [...new Set(rows.scores)].sort((a, b) => a - b);
  const members = levels.map((level) =>
    [...rows.scores.keys()].filter((row) => rows.scores[row] === level),
  );
  let least = Infinity;
  for (let cuts = 0; cuts < 2 ** (levels.length - 1); cuts += 1) {
    const runs: number[][] = [[]];
    members.forEach((some, level) => {
      if (level > 0 && (cuts >> (level - 1)) & 1) runs.push([]);
      runs.at(-1)?.push(...some);
    });
    const weightOf = (row: number) => rows.weights?.[row] ?? 1;
    const means = runs.map(
      (run) =>
        run.reduce((sum, row) => sum + weightOf(row) * rows.positives[row], 0) /
        run.reduce((sum, row) => sum + weightOf(row), 0),
    );
    if (means.some((mean, run) => run > 0 && mean < means[run - 1])) continue;
    const runOf = (row: number) => runs.findIndex((run) => run.includes(row));
    least = Math.min(
      least,
      squares(rows, (row) => means[runOf(row)]),
    );
  }
  return least;
}

describe('isotonic regression', () => {
  test('rises, between 0 and 1, with scores that ascend', () => {
    fc.assert(
      fc.property(someRows, ({ scores, positives, weights }) => {
        const fit = fitIsotonic(scores, positives, weights);
        expect(fit.scores).toHaveLength(fit.probabilities.length);
        for (let k = 0; k < fit.scores.length; k += 1) {
          expect(fit.probabilities[k]).toBeGreaterThanOrEqual(0);
          expect(fit.probabilities[k]).toBeLessThanOrEqual(1);
          if (k === 0) continue;
          expect(fit.scores[k]).toBeGreaterThan(fit.scores[k - 1]);
          expect(fit.probabilities[k]).toBeGreaterThanOrEqual(fit.probabilities[k - 1]);
        }
      }),
      examples,
    );
  });

  test('no rising function is nearer to the rows', () => {
    fc.assert(
      fc.property(someRows, fc.boolean(), (drawnRows, weighted) => {
        const { scores, positives } = drawnRows;
        const rows: Rows = weighted ? drawnRows : { scores, positives };
        const fit = fitIsotonic(rows.scores, rows.positives, rows.weights);
        const found = squares(rows, (row) => calibrated(fit, rows.scores[row]));
        expect(Math.abs(found - leastSquares(rows))).toBeLessThan(1e-10);
      }),
      examples,
    );
  });

  test('an example by hand: ties first, then neighbours that do not rise', () => {
    const scores = Float64Array.of(1, 2, 2, 3, 4, 5);
    const fit = fitIsotonic(scores, Uint8Array.of(0, 1, 0, 0, 1, 1));
    expect(fit).toEqual({
      method: 'isotonic',
      scores: [1, 2, 3, 4, 5],
      probabilities: [0, 1 / 3, 1 / 3, 1, 1],
    });
    expect(calibrated(fit, 1.5)).toBeCloseTo(1 / 6, 15);
    expect(calibrated(fit, -9)).toBe(0);
    expect(calibrated(fit, 9)).toBe(1);
  });

  test('a weight counts like as many rows, and none like none', () => {
    fc.assert(
      fc.property(someRows, (rows) => {
        const { scores, positives } = repeated(rows);
        const copies = fitIsotonic(scores, positives);
        expect(fitIsotonic(rows.scores, rows.positives, rows.weights)).toEqual(copies);
        const silent = rows.weights.map((weight, row) => (row === 0 ? 0 : weight));
        const rest = {
          scores: rows.scores.slice(1),
          positives: rows.positives.slice(1),
          weights: rows.weights.slice(1),
        };
        const without = fitIsotonic(rest.scores, rest.positives, rest.weights);
        expect(fitIsotonic(rows.scores, rows.positives, silent)).toEqual(without);
      }),
      examples,
    );
  });

  test('equal scores have one point; one class alone is certain; no rows say nothing', () => {
    const equal = fitIsotonic(new Float64Array(4).fill(2), Uint8Array.of(1, 0, 0, 0));
    expect(equal).toMatchObject({ scores: [2], probabilities: [0.25] });
    const alone = fitIsotonic(Float64Array.of(3, 1), Uint8Array.of(1, 1));
    expect(alone).toMatchObject({ scores: [1, 3], probabilities: [1, 1] });
    const none = fitIsotonic(new Float64Array(0), new Uint8Array(0));
    expect(calibrated(none, 4)).toBe(0.5);
  });

  test('follows the curve that many rows were drawn from', () => {
    const { scores, positives } = drawn(100_000);
    const fit = fitIsotonic(scores, positives);
    for (const score of [-2, -1, 0, 1, 2]) {
      const expected = 1 / (1 + Math.exp(0.5 - 1.4 * score));
      expect(Math.abs(calibrated(fit, score) - expected)).toBeLessThan(0.05);
    }
  });
});

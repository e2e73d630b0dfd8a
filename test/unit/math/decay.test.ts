import { describe, expect, test } from 'vitest';
import { decayed, meanOfDecay } from '../../../src/math/decay.ts';

/** The flow by its closed form; l2 must not be 0. */
function naive(w: number, time: number, l1: number, l2: number): number {
  const size = (Math.abs(w) + l1 / l2) * Math.exp(-l2 * time) - l1 / l2;
  return Math.sign(w) * Math.max(0, size);
}

const times = [1e-6, 1e-3, 0.2, 1, 7, 300];
const strengths = [1e-7, 1e-3, 0.0078, 0.0079, 0.4, 5];

describe('decayed', () => {
  test('agrees with the closed form', () => {
    for (const w of [2.5, -0.3]) {
      for (const time of times) {
        for (const l1 of [0, 0.01, 1]) {
          for (const l2 of strengths.slice(1)) {
            expect(decayed(w, time, l1, l2)).toBeCloseTo(naive(w, time, l1, l2), 12);
          }
        }
      }
    }
  });

  test('without l2 it is the soft threshold, without both it stands still', () => {
    expect(decayed(2.5, 3, 0.5, 0)).toBe(1);
    expect(decayed(-2.5, 3, 0.5, 0)).toBe(-1);
    expect(decayed(-2.5, 6, 0.5, 0)).toBe(0);
    expect(decayed(-2.5, 1e9, 0, 0)).toBe(-2.5);
    expect(decayed(2.5, 1e9, 0, 1)).toBeCloseTo(0, 12);
  });

  test('two stretches of time lead to where one does', () => {
    for (const l1 of [0, 0.003]) {
      for (const l2 of [0, ...strengths]) {
        for (const [a, b] of [
          [0.1, 0.7],
          [1e-4, 3],
          [2, 1e-5],
        ]) {
          const split = decayed(decayed(1.3, a, l1, l2), b, l1, l2);
          expect(Math.abs(split - decayed(1.3, a + b, l1, l2))).toBeLessThan(4e-16);
        }
      }
    }
  });
});

test('meanOfDecay is the mean over time, to the exactness of a fine sum', () => {
  const steps = 4000;
  for (const l1 of [0, 0.02, 3]) {
    for (const l2 of [0, ...strengths]) {
      for (const time of [1e-3, 0.3, 2, 60]) {
        let sum = 0;
        for (let k = 0; k < steps; k++) sum += decayed(-1.7, ((k + 0.5) / steps) * time, l1, l2);
        const end = decayed(-1.7, time, l1, l2);
        const mean = meanOfDecay(-1.7, end, time, l1, l2);
        expect(Math.abs(mean - sum / steps), `${l1} ${l2} ${time}`).toBeLessThan(2e-4);
      }
    }
  }
});

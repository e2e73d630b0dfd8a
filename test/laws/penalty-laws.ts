/** What holds of every penalty without a box; the tests of a new one call this. */
import { expect, test } from 'vitest';
import type { Penalty } from '../../src/problem/penalties/index.ts';
import { fc } from '../support/property.ts';
import { numbers } from './cases.ts';

const weights = fc.oneof(numbers(-10, 10), fc.constantFrom(0, 1, -1, 1e-12));
const steps = fc.oneof(numbers(0, 10), fc.constantFrom(0, 1e-9));
const runs = { numRuns: 500 };

export function penaltyLaws(penalty: Penalty): void {
  test('is l1 |w| + (l2/2) w²', () => {
    fc.assert(
      fc.property(weights, (w) => {
        const expected = penalty.l1 * Math.abs(w) + (penalty.l2 / 2) * w ** 2;
        expect(Math.abs(penalty.value(w) - expected)).toBeLessThanOrEqual(1e-14 * (1 + expected));
      }),
      runs,
    );
  });

  test('subgradient inequality, and 0 at 0', () => {
    expect(penalty.subgradient(0)).toBe(0);
    fc.assert(
      fc.property(weights, weights, (w, v) => {
        const line = penalty.value(w) + penalty.subgradient(w) * (v - w);
        expect(penalty.value(v)).toBeGreaterThanOrEqual(line - 1e-13 * (1 + Math.abs(line)));
      }),
      runs,
    );
  });

  test('prox beats every other point', () => {
    fc.assert(
      fc.property(weights, steps, weights, (w, t, rival) => {
        const cost = (x: number) => t * penalty.value(x) + 0.5 * (x - w) ** 2;
        const found = penalty.prox(w, t);
        for (const x of [rival, 0, w, found + 1e-4, found - 1e-4, found / 2]) {
          expect(cost(found)).toBeLessThanOrEqual(cost(x) + 1e-13 * (1 + cost(x)));
        }
      }),
      runs,
    );
  });

  test('Fenchel–Young: φ(w) + φ*(s) ≥ s w, with equality at a subgradient', () => {
    fc.assert(
      fc.property(weights, numbers(-12, 12), (w, s) => {
        expect(penalty.value(w) + penalty.conjugate(s)).toBeGreaterThanOrEqual(s * w - 1e-12);
        const slope = penalty.subgradient(w);
        const gap = penalty.value(w) + penalty.conjugate(slope) - slope * w;
        expect(Math.abs(gap)).toBeLessThanOrEqual(1e-12);
      }),
      runs,
    );
  });

  test('Moreau: the envelopes of tφ and of its conjugate add up to w²/2', () => {
    fc.assert(
      fc.property(weights, numbers(1e-3, 10), (w, t) => {
        const near = penalty.prox(w, t);
        const far = w - near;
        // A rounding error must not carry far/t over the edge of the domain of L1's conjugate.
        const envelope = t * penalty.value(near) + 0.5 * far ** 2;
        const other = t * penalty.conjugate((far / t) * (1 - 1e-12)) + 0.5 * near ** 2;
        expect(Math.abs(envelope + other - 0.5 * w ** 2)).toBeLessThanOrEqual(1e-9);
      }),
      runs,
    );
  });

  test('the conjugate is infinite just where a pure L1 makes it so', () => {
    const outside = penalty.conjugate(penalty.l1 + 0.5);
    expect(outside === Infinity).toBe(penalty.l2 === 0);
    expect(penalty.conjugate(penalty.l1)).toBe(0);
    expect(penalty.conjugate(-penalty.l1)).toBe(0);
  });
}

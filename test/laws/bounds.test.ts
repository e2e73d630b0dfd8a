/** Penalties with bounds on the weights: the laws of penalties, where φ is infinite outside a box. */
import { describe, expect, test } from 'vitest';
import { penalties } from '../../src/problem/penalties/index.ts';
import { fc } from '../support/property.ts';
import { numbers, penaltyCases } from './cases.ts';

const boxes = [
  { low: 0, high: Infinity },
  { low: -Infinity, high: 0 },
  { low: -0.5, high: 2 },
  { low: -1e-3, high: 0 },
  { low: 0, high: 0 },
  { low: -3, high: Infinity },
];

const cases = penaltyCases.flatMap(({ label, penalty: free }) =>
  boxes.map((box) => ({
    label: `${label} in [${box.low}, ${box.high}]`,
    free,
    box,
    penalty: penalties.bounded(free, box),
  })),
);

const runs = { numRuns: 200 };

describe.each(cases)('$label', ({ penalty, free, box: { low, high } }) => {
  const clip = (w: number) => Math.min(high, Math.max(low, w));
  const weights = fc.oneof(numbers(-10, 10), fc.constantFrom(0, 1e-12, -1e-12)).map(clip);
  const anywhere = fc.oneof(numbers(-10, 10), fc.constantFrom(0, 1, -1));

  test('is the penalty itself in the box and infinite outside', () => {
    fc.assert(
      fc.property(anywhere, (w) => {
        expect(penalty.value(w)).toBe(w >= low && w <= high ? free.value(w) : Infinity);
      }),
      runs,
    );
  });

  test('subgradient inequality in the box', () => {
    fc.assert(
      fc.property(weights, weights, (w, v) => {
        const line = penalty.value(w) + penalty.subgradient(w) * (v - w);
        expect(penalty.value(v)).toBeGreaterThanOrEqual(line - 1e-13 * (1 + Math.abs(line)));
      }),
      runs,
    );
  });

  test('prox is in the box and beats every other point of it', () => {
    fc.assert(
      fc.property(anywhere, numbers(0, 10), weights, (w, t, rival) => {
        const cost = (x: number) => t * free.value(x) + 0.5 * (x - w) ** 2;
        const found = penalty.prox(w, t);
        expect(found >= low && found <= high).toBe(true);
        for (const x of [rival, 0, clip(w), clip(found + 1e-4), clip(found - 1e-4)]) {
          expect(cost(found)).toBeLessThanOrEqual(cost(x) + 1e-13 * (1 + cost(x)));
        }
      }),
      runs,
    );
  });

  test('Fenchel–Young: φ(w) + φ*(s) ≥ s w, with equality at a subgradient', () => {
    fc.assert(
      fc.property(weights, numbers(-12, 12), numbers(0, 5), (w, s, push) => {
        expect(penalty.value(w) + penalty.conjugate(s)).toBeGreaterThanOrEqual(s * w - 1e-12);
        // At an end of the box every slope further outwards is a subgradient too.
        const outwards = (w === high ? push : 0) - (w === low && w !== high ? push : 0);
        const slope = penalty.subgradient(w) + outwards;
        const gap = penalty.value(w) + penalty.conjugate(slope) - slope * w;
        expect(Math.abs(gap)).toBeLessThanOrEqual(1e-11);
      }),
      runs,
    );
  });

  test('the conjugate is the greatest s w − φ(w) of a fine grid over the box', () => {
    const from = Math.max(low, -40);
    const to = Math.min(high, 40);
    const grid = Array.from({ length: 2001 }, (_, k) => from + (k / 2000) * (to - from));
    const step = (to - from) / 2000;
    fc.assert(
      fc.property(numbers(-5, 5), (s) => {
        const tried = [0, ...grid].map((w) => s * w - free.value(w));
        const greatest = Math.max(...tried);
        const found = penalty.conjugate(s);
        if (found === Infinity) {
          // Without l2 nothing holds w on a side without an end once |s| > l1.
          expect(penalty.l2).toBe(0);
          expect(Math.abs(s)).toBeGreaterThan(penalty.l1);
          expect(s > 0 ? high : -low).toBe(Infinity);
          return;
        }
        // With a small l2 the best w may lie beyond the grid.
        if (Math.abs(s) > penalty.l1 + 39 * penalty.l2 && (s > 0 ? high : -low) > 40) return;
        expect(found).toBeGreaterThanOrEqual(greatest - 1e-12 * (1 + greatest));
        // Slopes in the box are bounded by |s| and those of φ: no point is far above its neighbour.
        expect(found - greatest).toBeLessThanOrEqual(
          (1 + Math.abs(s) + 40 * penalty.l2) * step + 1e-12,
        );
      }),
      { numRuns: 60 },
    );
  });
});

test('boxes in boxes are their intersection', () => {
  const inner = penalties.bounded(penalties.nonNegative(penalties.l1()), { low: -2, high: 3 });
  expect(inner).toMatchObject({ name: 'l1', low: 0, high: 3 });
  expect(penalties.bounded(inner, {})).toMatchObject({ low: 0, high: 3 });
});

/**
 * Training computes with a penalty's numbers, in kernels; the laws test its functions. Here both
 * kinds of kernels give the value, slope, prox and conjugate that the functions give.
 */
import { describe, expect, test } from 'vitest';
import { losses } from '../../src/problem/losses/index.ts';
import { type Penalty, penalties } from '../../src/problem/penalties/index.ts';
import { Desk } from '../unit/solvers/kernels/desk.ts';
import { penaltyCases } from './cases.ts';

const boxes = [{}, { low: 0 }, { low: -0.5, high: 2 }];
const points = [-10, -2.5, -1, -0.25, 0, 1e-9, 0.5, 1, 3, 40];

const cases = penaltyCases.flatMap(({ penalty }) =>
  boxes.map((box) => penalties.bounded(penalty, box)),
);

function setUp(name: 'plain' | 'wasm', { l1, l2, low = -Infinity, high = Infinity }: Penalty) {
  const desk = new Desk();
  const kernels = desk.kernels(name, losses.square());
  const one = (...values: number[]) => desk.doubles(...values);
  const box = Number.isFinite(low) || Number.isFinite(high);
  return {
    desk,
    kernels,
    one,
    l1: one(l1),
    l2: one(l2),
    box: box ? { low: one(low), high: one(high) } : undefined,
  };
}

describe.each(['plain', 'wasm'] as const)('%s kernels', (name) => {
  describe.each(cases)('$name, l1 $l1, from $low to $high', (penalty) => {
    const { low = -Infinity, high = Infinity } = penalty;
    const inside = points.filter((w) => w >= low && w <= high);

    test('value and subgradient', () => {
      const { kernels, one, l1, l2 } = setUp(name, penalty);
      for (const w of inside) {
        expect(kernels.penaltySum(one(w), l1, l2)).toBe(penalty.value(w));
        if (w === 0) continue;
        const slope = kernels.penaltySlope(one(w), one(w + 1), l1, l2, 0);
        expect(slope).toBeCloseTo(penalty.subgradient(w), 14);
      }
    });

    test('conjugate, where it is finite', () => {
      const { kernels, one, l1, l2, box } = setUp(name, penalty);
      for (const s of points.filter((point) => penalty.conjugate(point) < Infinity)) {
        const found = box
          ? kernels.boundedConjugateSum(one(s), l1, l2, box, 1)
          : kernels.penaltyConjugateSum(one(s), l1, l2);
        expect(found).toBeCloseTo(penalty.conjugate(s), 12);
      }
    });

    test('prox: a step of column mode', () => {
      const { desk, kernels, one, l1, l2, box } = setUp(name, penalty);
      for (const [gradient, hessian] of [
        [0.75, 2],
        [-3, 0.5],
        [0, 1],
      ]) {
        for (const w of inside) {
          const columns = {
            weights: one(w),
            gradients: one(gradient),
            hessians: one(hessian),
            l1,
            l2,
            counts: desk.ints(1),
            level: desk.bytes(0),
            skip: desk.bytes(0),
            ...(box && { box }),
          };
          const pending = { units: desk.ints(0), deltas: one(0) };
          kernels.stepColumns(desk.ints(0), 0, 1, columns, 1, pending, one(0, 0));
          const expected = penalty.prox(w - gradient / hessian, 1 / hessian);
          expect(columns.weights[0]).toBeCloseTo(expected, 12);
        }
      }
    });
  });
});

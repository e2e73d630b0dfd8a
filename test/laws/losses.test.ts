import { describe, expect, test } from 'vitest';
import { exactLossOf } from '../../src/problem/exact-losses.ts';
import { fc } from '../support/property.ts';
import { labelsOf, lossCases, numbers } from './cases.ts';
import { lossLaws } from './loss-laws.ts';

const scores = numbers(-20, 20);
const runs = { numRuns: 400 };

describe.each(lossCases)('loss $label', ({ loss }) => lossLaws(loss));

test.each(lossCases)('$label can be verified in double-double arithmetic', ({ loss }) => {
  expect(exactLossOf(loss)).toBeDefined();
});

/** The largest slope of ℓ', by loss and parameter; of Poisson's where its straight line begins. */
const steepest: Readonly<Record<string, (parameter: number) => number>> = {
  'squared-hinge': () => 2,
  'smoothed-hinge': (smoothing) => 1 / smoothing,
  logistic: () => 0.25,
  square: () => 1,
  huber: () => 1,
  'squared-absolute': () => 2,
  poisson: () => Math.exp(200) * (1 + 1e-14),
};

test.each(lossCases.filter(({ loss }) => Object.hasOwn(steepest, loss.name)))(
  '$label: the curvature is at most the largest slope of ℓ′',
  ({ loss }) => {
    const most = steepest[loss.name](loss.parameter) * (1 + 1e-15);
    fc.assert(
      fc.property(numbers(-1e3, 1e3), labelsOf(loss), (u, y) => {
        const slope = loss.derivative(u, y, loss.parameter);
        expect(loss.curvature(u, y, loss.parameter, slope)).toBeLessThanOrEqual(most);
      }),
      runs,
    );
  },
);

const smoothCases = lossCases.filter(({ loss }) => loss.smooth);
const logisticCases = smoothCases.filter(({ loss }) => loss.name === 'logistic');
const poissonCases = smoothCases.filter(({ loss }) => loss.name === 'poisson');
const quadraticCases = smoothCases.filter(
  ({ loss }) => !['logistic', 'poisson'].includes(loss.name),
);

test.each(quadraticCases)(
  '$label: where ℓ slopes, the quadratic with this curvature is above ℓ',
  ({ loss }) => {
    fc.assert(
      fc.property(scores, scores, labelsOf(loss), (u, v, y) => {
        const p = loss.parameter;
        const slope = loss.derivative(u, y, p);
        fc.pre(slope !== 0);
        const step = v - u;
        const quadratic =
          loss.value(u, y, p) +
          slope * step +
          0.5 * loss.curvature(u, y, p, loss.derivative(u, y, p)) * step * step;
        const allowed = 1e-12 * (1 + Math.abs(slope * step) + Math.abs(quadratic));
        expect(quadratic).toBeGreaterThanOrEqual(loss.value(v, y, p) - allowed);
      }),
      runs,
    );
  },
);

test.each(logisticCases)('$label: curvature = finite difference of ℓ′ above the floor', (item) => {
  const { loss } = item;
  const h = 1e-4;
  fc.assert(
    fc.property(scores, labelsOf(loss), (u, y) => {
      const difference = (loss.derivative(u + h, y, 0) - loss.derivative(u - h, y, 0)) / (2 * h);
      expect(
        Math.abs(loss.curvature(u, y, 0, loss.derivative(u, y, 0)) - Math.max(difference, 1e-3)),
      ).toBeLessThan(1e-8);
    }),
    runs,
  );
});

test.each(poissonCases)(
  '$label: curvature = finite difference of ℓ′ from half the label on',
  (item) => {
    const { loss } = item;
    fc.assert(
      fc.property(scores, labelsOf(loss), (u, y) => {
        const slope = loss.derivative(u, y, 0);
        const found = loss.curvature(u, y, 0, slope);
        const h = 1e-4;
        const difference = (loss.derivative(u + h, y, 0) - loss.derivative(u - h, y, 0)) / (2 * h);
        const expected = Math.max(difference, y / 2, 1e-9);
        // The slope has lost what is small next to the label.
        expect(Math.abs(found - expected)).toBeLessThanOrEqual(1e-8 * expected + 1e-11);
        expect(Math.abs(slope / found)).toBeLessThanOrEqual(2 * (1 + 1e-12));
      }),
      runs,
    );
  },
);

test.each(poissonCases)('$label: no score overflows', ({ loss }) => {
  fc.assert(
    fc.property(numbers(-1e6, 1e6), labelsOf(loss), numbers(0, 1e4), (u, y, q) => {
      const slope = loss.derivative(u, y, 0);
      const numbersMade = [
        loss.value(u, y, 0),
        slope ** 2,
        loss.curvature(u, y, 0, slope) ** 2,
        loss.dualStep(0, u, q, y, 0) ** 2,
      ];
      expect(numbersMade.filter((number) => !Number.isFinite(number))).toEqual([]);
    }),
    runs,
  );
});

import { describe, expect, test } from 'vitest';
import { fc } from '../support/property.ts';
import { fractions, insideDomain, labelsOf, lossCases, numbers } from './cases.ts';

const scores = numbers(-20, 20);
const runs = { numRuns: 400 };

describe.each(lossCases)('loss $label', ({ loss, steepest, kinks, conjugateKinks }) => {
  const p = loss.parameter;
  const labels = labelsOf(loss);
  const value = (u: number, y: number) => loss.value(u, y, p);
  const derivative = (u: number, y: number) => loss.derivative(u, y, p);
  const conjugate = (s: number, y: number) => loss.conjugate(s, y, p);
  /** What rounding may do to sums of such terms. */
  const rounding = (...terms: number[]) =>
    1e-13 * terms.reduce((total, term) => total + Math.abs(term), 1);

  test('is ≥ 0 and convex, with the derivative as a subgradient', () => {
    fc.assert(
      fc.property(scores, scores, labels, fractions, (u, v, y, t) => {
        const [a, b] = [value(u, y), value(v, y)];
        const middle = value((1 - t) * u + t * v, y);
        const line = a + derivative(u, y) * (v - u);
        expect(a).toBeGreaterThanOrEqual(0);
        expect(middle).toBeLessThanOrEqual((1 - t) * a + t * b + rounding(a, b));
        expect(b).toBeGreaterThanOrEqual(line - rounding(a, b, line));
      }),
      runs,
    );
  });

  test('derivative = finite difference away from kinks', () => {
    const h = 1e-5;
    fc.assert(
      fc.property(scores, labels, (u, y) => {
        fc.pre(kinks(y).every((kink) => Math.abs(u - kink) > 2 * h));
        const difference = (value(u + h, y) - value(u - h, y)) / (2 * h);
        const allowed = (Number.isFinite(steepest) ? steepest * h : 0) + rounding(value(u, y)) / h;
        expect(Math.abs(derivative(u, y) - difference)).toBeLessThanOrEqual(allowed);
      }),
      runs,
    );
  });

  test('derivatives lie in the domain of the conjugate', () => {
    fc.assert(
      fc.property(numbers(-1e3, 1e3), labels, (u, y) => {
        expect(derivative(u, y)).toBeGreaterThanOrEqual(loss.conjugateLow(y, p));
        expect(derivative(u, y)).toBeLessThanOrEqual(loss.conjugateHigh(y, p));
      }),
      runs,
    );
  });

  test('Fenchel–Young: ℓ(u) + ℓ*(s) ≥ s u, with equality at s = ℓ′(u)', () => {
    fc.assert(
      fc.property(scores, labels, fractions, (u, y, t) => {
        const s = insideDomain(loss, y, t);
        const [a, b] = [value(u, y), conjugate(s, y)];
        expect(a + b - s * u).toBeGreaterThanOrEqual(-rounding(a, b, s * u));
        const slope = derivative(u, y);
        const touching = conjugate(slope, y);
        const gap = a + touching - slope * u;
        expect(Math.abs(gap)).toBeLessThanOrEqual(rounding(a, touching, slope * u));
      }),
      runs,
    );
  });

  test('biconjugate: sup over s of s u − ℓ*(s) is ℓ(u)', () => {
    fc.assert(
      fc.property(scores, labels, (u, y) => {
        // Where insideDomain cuts the domain, the best s has to lie on this side.
        fc.pre(Math.abs(derivative(u, y)) < 100);
        // Ternary search: the function of s is concave.
        let [low, high] = [insideDomain(loss, y, 0), insideDomain(loss, y, 1)];
        const line = (s: number) => s * u - conjugate(s, y);
        for (let i = 0; i < 120; i += 1) {
          const [a, b] = [low + (high - low) / 3, high - (high - low) / 3];
          if (line(a) < line(b)) low = a;
          else high = b;
        }
        const best = line(0.5 * (low + high));
        expect(Math.abs(best - value(u, y))).toBeLessThanOrEqual(1e-11 * (1 + value(u, y)));
      }),
      { numRuns: 100 },
    );
  });

  test('conjugateDerivative = finite difference inside the domain', () => {
    const h = 1e-6;
    fc.assert(
      fc.property(labels, numbers(0.01, 0.99), (y, t) => {
        const s = insideDomain(loss, y, t);
        fc.pre(conjugateKinks.every((kink) => Math.abs(s - kink) > 2 * h));
        const difference = (conjugate(s + h, y) - conjugate(s - h, y)) / (2 * h);
        const slope = loss.conjugateDerivative(s, y, p);
        expect(Math.abs(slope - difference)).toBeLessThanOrEqual(
          1e-7 + rounding(conjugate(s, y)) / h,
        );
      }),
      runs,
    );
  });

  test('at the ends of the domain all is finite, and ℓ* is monotone in slope towards them', () => {
    fc.assert(
      fc.property(labels, fractions, (y, t) => {
        const inside = loss.conjugateDerivative(insideDomain(loss, y, t), y, p);
        const [low, high] = [insideDomain(loss, y, 0), insideDomain(loss, y, 1)];
        for (const end of [low, high]) expect(Number.isFinite(conjugate(end, y))).toBe(true);
        const [atLow, atHigh] = [low, high].map((end) => loss.conjugateDerivative(end, y, p));
        expect(Number.isFinite(atLow) && Number.isFinite(atHigh)).toBe(true);
        expect(atLow).toBeLessThanOrEqual(inside);
        expect(atHigh).toBeGreaterThanOrEqual(inside);
      }),
      runs,
    );
  });

  test(loss.smooth ? 'curvature is positive and at most the steepest' : 'curvature is 0', () => {
    fc.assert(
      fc.property(numbers(-1e3, 1e3), labels, (u, y) => {
        const curvature = loss.curvature(u, y, p, loss.derivative(u, y, p));
        expect(curvature > 0).toBe(loss.smooth);
        expect(curvature).toBeLessThanOrEqual(loss.smooth ? steepest * (1 + 1e-15) : 0);
      }),
      runs,
    );
  });
});

const smoothCases = lossCases.filter(({ loss }) => loss.smooth);
const logisticCases = smoothCases.filter(({ loss }) => loss.name === 'logistic');
const poissonCases = smoothCases.filter(({ loss }) => loss.name === 'poisson');
const quadraticCases = smoothCases.filter(
  ({ loss }) => !['logistic', 'poisson'].includes(loss.name),
);

test.each(quadraticCases)(
  '$label: where ℓ slopes, the quadratic with this curvature lies above ℓ',
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
        // The slope has lost what is small beside the label.
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

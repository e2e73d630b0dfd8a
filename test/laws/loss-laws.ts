/** What holds of every loss; the tests of a new one call this. */
import { expect, test } from 'vitest';
import { add, exact, product, subtract } from '../../src/math/double-double.ts';
import { exactLossOf } from '../../src/problem/exact-losses.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { fc } from '../support/property.ts';
import { fractions, insideDomain, labelsOf, numbers } from './cases.ts';

const scores = numbers(-20, 20);
const runs = { numRuns: 400 };

export function lossLaws(loss: Loss): void {
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

  // Of a convex function a difference quotient is between the derivatives at its ends.
  test('finite differences lie between derivatives', () => {
    const h = 1e-5;
    fc.assert(
      fc.property(scores, labels, (u, y) => {
        const difference = (value(u + h, y) - value(u - h, y)) / (2 * h);
        const allowed = rounding(value(u + h, y), value(u - h, y)) / h;
        expect(derivative(u - h, y)).toBeLessThanOrEqual(difference + allowed);
        expect(derivative(u + h, y)).toBeGreaterThanOrEqual(difference - allowed);
        expect(derivative(u - h, y)).toBeLessThanOrEqual(derivative(u, y) + rounding());
        expect(derivative(u + h, y)).toBeGreaterThanOrEqual(derivative(u, y) - rounding());
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

  const inFull = exactLossOf(loss);
  if (inFull)
    test('in double-double arithmetic it is the same function, and Fenchel–Young', () => {
      fc.assert(
        fc.property(scores, labels, fractions, (u, y, t) => {
          const s = insideDomain(loss, y, t);
          const [a, b] = [inFull.value(exact(u), y, p), inFull.conjugate(exact(s), y, p)];
          expect(Math.abs(a.hi - value(u, y))).toBeLessThanOrEqual(rounding(a.hi, s * u, y));
          expect(Math.abs(b.hi - conjugate(s, y))).toBeLessThanOrEqual(rounding(b.hi, s * y));
          const terms = [a.hi, b.hi, s * u, s * y, y].reduce((sum, x) => sum + Math.abs(x), 1);
          const slack = subtract(add(a, b), product(s, u));
          expect(slack.hi).toBeGreaterThanOrEqual(-1e-27 * terms);
        }),
        runs,
      );
    });

  test('finite differences of the conjugate lie between its derivatives', () => {
    const h = 1e-6;
    fc.assert(
      fc.property(labels, numbers(0.01, 0.99), (y, t) => {
        const s = insideDomain(loss, y, t);
        const slope = (at: number) => loss.conjugateDerivative(at, y, p);
        const difference = (conjugate(s + h, y) - conjugate(s - h, y)) / (2 * h);
        const allowed = rounding(conjugate(s, y)) / h;
        expect(slope(s - h)).toBeLessThanOrEqual(difference + allowed);
        expect(slope(s + h)).toBeGreaterThanOrEqual(difference - allowed);
        expect(slope(s - h)).toBeLessThanOrEqual(slope(s) + rounding(slope(s)));
        expect(slope(s + h)).toBeGreaterThanOrEqual(slope(s) - rounding(slope(s)));
      }),
      runs,
    );
  });

  test('the second derivative of the conjugate is the slope of its derivative', () => {
    const { conjugateCurvature } = loss;
    if (!conjugateCurvature) return;
    fc.assert(
      fc.property(labels, numbers(0.05, 0.95), (y, t) => {
        const s = insideDomain(loss, y, t);
        const h = 1e-5 * Math.abs(s);
        // Two pieces meet at 0.
        if (h === 0) return;
        const [below, above] = [s - h, s + h].map((at) => loss.conjugateDerivative(at, y, p));
        const expected = conjugateCurvature(s, y, p) * 2 * h;
        const allowed = 1e-4 * Math.abs(expected) + rounding(below) + rounding(above);
        expect(Math.abs(above - below - expected)).toBeLessThanOrEqual(allowed);
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

  test(`the curvature is ${loss.smooth ? 'positive' : '0'}`, () => {
    fc.assert(
      fc.property(numbers(-1e3, 1e3), labels, (u, y) => {
        const curvature = loss.curvature(u, y, p, loss.derivative(u, y, p));
        expect(curvature > 0).toBe(loss.smooth);
        expect(Number.isFinite(curvature)).toBe(true);
      }),
      runs,
    );
  });
}

interface Question {
  readonly alpha: number;
  readonly u: number;
  readonly q: number;
  readonly y: number;
}

/** A stiffness of any size, 0 included. */
export const stiffness = fc.oneof(
  fc.constant(0),
  numbers(-8, 4).map((power) => 10 ** power),
);

function questionsOf(loss: Loss): fc.Arbitrary<Question> {
  return fc.record({
    alpha: fc.oneof(numbers(-1, 1), numbers(-5, 5), fc.constantFrom(0, 1, -1)),
    u: fc.oneof(numbers(-20, 20), numbers(-1, 1), fc.constantFrom(0, 1, -1)),
    q: stiffness,
    y: labelsOf(loss),
  });
}

/** −ℓ*(−a) − u (a − α) − (q/2)(a − α)² and the size of what was added up. */
function objective(loss: Loss, { alpha, u, q, y }: Question, a: number) {
  const conjugate = loss.conjugate(-a, y, loss.parameter);
  const linear = u * (a - alpha);
  const square = 0.5 * q * (a - alpha) * (a - alpha);
  return {
    value: -conjugate - linear - square,
    rounding: 1e-13 * (1 + Math.abs(conjugate) + Math.abs(linear) + square),
  };
}

/** What holds of every dual step. */
export function dualStepLaws(loss: Loss): void {
  const step = (question: Question) =>
    loss.dualStep(question.alpha, question.u, question.q, question.y, loss.parameter);

  test('is in the domain and beats every other point of it', () => {
    fc.assert(
      fc.property(
        questionsOf(loss),
        fc.array(fractions, { minLength: 20, maxLength: 20 }),
        (question, rivals) => {
          const { y } = question;
          const found = step(question);
          expect(-found).toBeGreaterThanOrEqual(loss.conjugateLow(y, loss.parameter));
          expect(-found).toBeLessThanOrEqual(loss.conjugateHigh(y, loss.parameter));
          const best = objective(loss, question, found);
          const grid = Array.from({ length: 41 }, (_, i) => i / 40);
          const near = [-1e-3, -1e-6, 1e-6, 1e-3].map((shift) => found + shift);
          const inside = near.filter(
            (a) => -a >= insideDomain(loss, y, 0) && -a <= insideDomain(loss, y, 1),
          );
          const others = [...grid, ...rivals].map((t) => -insideDomain(loss, y, t));
          for (const a of [...others, ...inside]) {
            const rival = objective(loss, question, a);
            expect(best.value).toBeGreaterThanOrEqual(rival.value - best.rounding - rival.rounding);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('stays where the optimality condition already holds', () => {
    fc.assert(
      fc.property(numbers(-20, 20), labelsOf(loss), stiffness, (u, y, q) => {
        const alpha = -loss.derivative(u, y, loss.parameter);
        fc.pre(loss.smooth || q > 1e-6);
        const moved = step({ alpha, u, q, y });
        expect(Math.abs(moved - alpha)).toBeLessThanOrEqual(
          1e-14 * (1 + Math.abs(alpha) + 1 / (q + 1)),
        );
      }),
      { numRuns: 300 },
    );
  });
}

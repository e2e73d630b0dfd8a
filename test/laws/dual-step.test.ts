import { describe, expect, test } from 'vitest';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { fc } from '../support/property.ts';
import { fractions, insideDomain, labelsOf, lossCases, numbers } from './cases.ts';

interface Question {
  readonly alpha: number;
  readonly u: number;
  readonly q: number;
  readonly y: number;
}

/** A stiffness of any size, 0 included. */
const stiffness = fc.oneof(
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

describe.each(lossCases)('dual step of $label', ({ loss }) => {
  const step = (question: Question) =>
    loss.dualStep(question.alpha, question.u, question.q, question.y, loss.parameter);

  test('lies in the domain and beats every other point of it', () => {
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
});

test('the logistic step satisfies its equation to rounding, at tiny β too', () => {
  const { loss } = lossCases.find((item) => item.loss.name === 'logistic')!;
  const olds = fc.oneof(
    numbers(0, 1),
    numbers(-2, 3),
    numbers(-300, 0).map((p) => 10 ** p),
  );
  const margins = fc.oneof(numbers(-30, 30), numbers(-700, 700));
  fc.assert(
    fc.property(olds, margins, stiffness, fc.constantFrom(-1, 1), (old, margin, q, y) => {
      const beta = y * loss.dualStep(y * old, y * margin, q, y, 0);
      expect(beta).toBeGreaterThanOrEqual(0);
      expect(beta).toBeLessThanOrEqual(1);
      fc.pre(beta > 1e-300 && beta < 1);
      const logit = Math.log(beta) - Math.log1p(-beta);
      const residual = logit + margin + q * (beta - old);
      // The rounding of β itself shifts its logit by this much.
      const resolution = 1.2e-16 / (1 - beta) + q * 1.2e-16 * beta;
      const scale = Math.abs(logit) + Math.abs(margin) + q * (1 + Math.abs(old)) + 1;
      expect(Math.abs(residual)).toBeLessThanOrEqual(2e-15 * scale + 2 * resolution);
    }),
    { numRuns: 5000 },
  );
});

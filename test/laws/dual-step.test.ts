import { describe, expect, test } from 'vitest';
import { fc } from '../support/property.ts';
import { lossCases, numbers } from './cases.ts';
import { dualStepLaws, stiffness } from './loss-laws.ts';

describe.each(lossCases)('dual step of $label', ({ loss }) => dualStepLaws(loss));

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

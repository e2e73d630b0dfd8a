/** More columns than rows, and rows that separate: where curvatures vanish and matrices are singular. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import { train } from '../../src/train/train.ts';
import { sampleFor } from '../support/data.ts';

const solver = solvers.workingSet();
const wide = { rows: 40, columns: 600, density: 1 };

describe.each([
  { loss: losses.logistic(), penalty: penalties.l1(), lambda: 1e-4 },
  { loss: losses.squaredHinge(), penalty: penalties.l1(), lambda: 1e-2 },
  { loss: losses.squaredHinge(), penalty: penalties.l1(), lambda: 1e-4 },
  { loss: losses.squaredHinge(), penalty: penalties.elasticNet(), lambda: 1e-3 },
  { loss: losses.smoothedHinge(), penalty: penalties.l1(), lambda: 1e-4 },
  { loss: losses.huber({ delta: 0.1 }), penalty: penalties.l1(), lambda: 1e-4 },
])('$loss.name, $penalty.name, λ = $lambda', ({ loss, penalty, lambda }) => {
  test.each([1, 3])('grid %i', async (grid) => {
    const { dataset } = sampleFor(loss, wide);
    const options = { loss, penalty, lambda, solver, grid, tolerance: 1e-6, epochs: 300 };
    const { report } = await train(dataset, { ...options, threads: 1 });
    expect(report.stopped).toBe('converged');
  });
});

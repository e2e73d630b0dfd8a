/** More columns than rows, and rows that separate: where curvatures vanish and matrices are singular. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../src/math/random.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';
import { datasetOf, sampleFor } from '../support/data.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Working set steps get nowhere there, so auto goes on with the interior point method, on rows. */
describe('auto hands over from working-set', () => {
  const random = stream(1, 0);
  const rows = Array.from({ length: 40 }, () =>
    Array.from({ length: 300 }, () => (random.uniform() < 0.3 ? Math.fround(random.normal()) : 0)),
  );
  const counts = rows.map(([a, b, c]) => Math.round(4 * Math.exp(a + b - c)));
  const options: TrainOptions = {
    loss: losses.poisson(),
    penalty: penalties.l1(),
    lambda: 1e-6,
    intercept: true,
    threads: 1,
  };

  test.each([1, 3])(
    'grid %i: a certificate, from a checkpoint and on two threads, too',
    async (grid) => {
      const data = datasetOf(rows, counts);
      const whole = await train(data, { ...options, grid });
      expect(whole.report).toMatchObject({ stopped: 'converged', solver: 'interior-point' });
      const late = whole.report.epochs - 2;
      for (const epochs of [1, late]) {
        const folder = temporaryFolder();
        await train(data, { ...options, grid, threads: 2, epochs, checkpoint: { folder } });
        const rest = await train(data, { ...options, grid, resume: folder });
        expect(Buffer.compare(encodeModel(rest.model), encodeModel(whole.model))).toBe(0);
      }
    },
  );
});

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

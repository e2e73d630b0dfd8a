/** The optima that scikit-learn and LIBLINEAR found (see test/reference/generate.py). */
import { describe, expect, test } from 'vitest';
import { lossByName } from '../../src/problem/losses/index.ts';
import { penaltyByName } from '../../src/problem/penalties/index.ts';
import { readDense, readStored } from '../reference/stored.ts';
import { datasetOf } from '../support/data.ts';
import { trainCertified } from './certified.ts';

describe.each(readStored())('$loss.name + $penalty.name, λ = $lambda: $call', (stored) => {
  test.each([1, 4])('grid %i', async (grid) => {
    const { rows, labels } = readDense(stored.data);
    const { name, parameter } = stored.loss;
    const elastic = stored.penalty.name === 'elastic-net' ? stored.penalty.l1 : undefined;
    const loss = lossByName(name, parameter);
    const penalty = penaltyByName(stored.penalty.name, { l1Ratio: elastic });
    const linear = !loss.smooth && !(penalty.l2 > 0);
    const { lambda, intercept } = stored;
    const { report } = await trainCertified(datasetOf(rows, labels), stored.value, {
      loss,
      penalty,
      lambda,
      intercept,
      grid,
      threads: 1,
      epochs: 20_000,
      // The other programs' own solutions are this far from the optimum.
      tolerance: linear ? 1e-3 : 1e-6,
    });
    const bound = linear ? 1e-3 : 1e-6;
    expect(Math.abs(report.primal - stored.value) / stored.value).toBeLessThan(bound);
  });
});

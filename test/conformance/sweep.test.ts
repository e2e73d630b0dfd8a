/** Many small problems of odd shapes, with nothing chosen but the problem: all must be certified. */
import { describe, expect, test } from 'vitest';
import { train } from '../../src/train/train.ts';
import { sampleFor } from '../support/data.ts';
import { pairs } from './pairs.ts';

const shapes = [
  { rows: 5, columns: 2 },
  { rows: 20, columns: 3 },
  { rows: 40, columns: 30 },
  { rows: 15, columns: 50 },
];
/** An odd and an even one: λ and the grid differ between them. */
const seeds = process.env.DSO_TEST_FULL ? [1, 2, 3, 4, 5, 6] : [1, 2];

describe.each(pairs)('$title', ({ loss, penalty }) => {
  test.each(shapes)('$rows × $columns', async ({ rows, columns }) => {
    const failures: string[] = [];
    for (const seed of seeds) {
      const { labels, dataset } = sampleFor(loss, { seed, rows, columns, density: 0.6 });
      if (loss.task === 'classification' && new Set(labels).size < 2) continue;
      for (const intercept of [false, true]) {
        const lambda = seed % 2 === 0 ? 0.1 : 0.001;
        const grid = 1 + (seed % 2);
        const options = { loss, penalty, lambda, intercept, seed, grid, threads: 1 };
        const { report } = await train(dataset, options);
        if (report.stopped === 'converged' && report.primal >= report.dual * (1 - 1e-12)) continue;
        const { primal, dual, stopped } = report;
        failures.push(`seed ${seed}, intercept ${intercept}: ${stopped}, P ${primal}, D ${dual}`);
      }
    }
    expect(failures).toEqual([]);
  });
});

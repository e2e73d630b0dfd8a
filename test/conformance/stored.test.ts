/** The optima that scikit-learn, LIBLINEAR and glmnet found (see test/reference/generate.py). */
import { describe, expect, test } from 'vitest';
import { lossByName } from '../../src/problem/losses/index.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { type Penalty, penaltyByName } from '../../src/problem/penalties/index.ts';
import { solverByName, solverNames } from '../../src/solvers/index.ts';
import { readDense, readStored, type StoredOptimum } from '../reference/stored.ts';
import { datasetOf } from '../support/data.ts';
import { expectIncompatible, trainCertified } from './certified.ts';

interface Problem {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly intercept: boolean;
}

interface Way {
  readonly solver: string;
  readonly grid: number;
  /** What it must solve; it refuses all else. Default: everything. */
  readonly solves?: (problem: Problem) => boolean;
  /** Whether it gets to 1e-6 on linear programs, too. */
  readonly solvesLinear?: boolean;
}

const known: readonly string[] = solverNames;

const all: readonly Way[] = [
  { solver: 'auto', grid: 1 },
  { solver: 'auto', grid: 4 },
  { solver: 'ring', grid: 1 },
  { solver: 'interior-point', grid: 1, solvesLinear: true },
  { solver: 'newton', grid: 2, solves: ({ loss, penalty }) => loss.smooth && penalty.l1 === 0 },
  { solver: 'working-set', grid: 2, solves: ({ loss, penalty }) => loss.smooth && penalty.l1 > 0 },
  { solver: 'proximal-point', grid: 2 },
];
const ways = all.filter(({ solver }) => known.includes(solver));

function problemOf({ loss, penalty, intercept }: StoredOptimum): Problem {
  const l1Ratio = penalty.name === 'elastic-net' ? penalty.l1 : undefined;
  return {
    loss: lossByName(loss.name, loss.parameter),
    penalty: penaltyByName(penalty.name, { l1Ratio }),
    intercept,
  };
}

describe.each(readStored())('$data: $loss.name + $penalty.name, λ = $lambda: $call', (stored) => {
  const { rows, labels } = readDense(stored.data);
  const dataset = datasetOf(rows, labels);
  const problem = problemOf(stored);
  const linear = !problem.loss.smooth && !(problem.penalty.l2 > 0);

  test.for(ways)('$solver, grid $grid', async ({ solver, grid, solves, solvesLinear }) => {
    const tolerance = linear && !solvesLinear ? 1e-3 : 1e-6;
    const options = {
      ...problem,
      lambda: stored.lambda,
      solver: solverByName(solver),
      grid,
      threads: 1,
      epochs: 20_000,
      tolerance,
    };
    if (solves && !solves(problem)) return expectIncompatible(dataset, options);
    const { report } = await trainCertified(dataset, stored.value, options, stored.tolerance);
    const distance = Math.abs(report.primal - stored.value) / stored.value;
    expect(distance).toBeLessThan(tolerance + stored.tolerance);
    // The bound holds for the other program's optimum, which is at most `tolerance` above it.
    expect(report.dual).toBeLessThanOrEqual(stored.value * (1 + stored.tolerance));
  });
});

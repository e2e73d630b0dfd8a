/** A factor for each column's penalty. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { type Solver, solvers } from '../../src/solvers/index.ts';
import { referenceOptimum } from '../reference/reference.ts';
import { sample, sampleFor } from '../support/data.ts';
import { expectIncompatible, trainCertified } from './certified.ts';
import { pairs } from './pairs.ts';

const factors = [1, 2, 0.5, 3, 0.1, 1, 10, 0.01, 4, 1];

function solverOf(
  mode: 'rows' | 'columns' | 'interior point' | 'proximal',
  joining?: number,
): Solver {
  if (mode === 'proximal') return solvers.proximalPoint();
  return mode === 'interior point'
    ? solvers.interiorPoint(joining ? { joining } : {})
    : solvers.ring({ mode });
}

describe.each(pairs)('$title', ({ loss, penalty, linear }) => {
  const { rows, labels, dataset } = sampleFor(loss, { seed: 2 });
  const reference = { rows, labels, loss, penalty, lambda: 0.03, penaltyFactors: factors };

  test.for([
    { mode: 'rows' as const, intercept: false, grid: 1 },
    { mode: 'rows' as const, intercept: true, grid: 2 },
    { mode: 'columns' as const, intercept: true, grid: 1 },
    { mode: 'columns' as const, intercept: false, grid: 2 },
    { mode: 'interior point' as const, intercept: true, grid: 1, joining: 10 },
    { mode: 'interior point' as const, intercept: false, grid: 2, joining: 2 },
    { mode: 'proximal' as const, intercept: false, grid: 2 },
    { mode: 'proximal' as const, intercept: true, grid: 1 },
  ])('$mode, grid $grid, intercept $intercept', async ({ mode, intercept, grid, joining }) => {
    const options = {
      loss,
      penalty,
      lambda: 0.03,
      penaltyFactors: Float64Array.from(factors),
      intercept,
      grid,
      threads: 1,
      solver: solverOf(mode, joining),
      epochs: 20_000,
      tolerance: linear ? 1e-3 : 1e-6,
    };
    if (mode === 'columns' && !loss.smooth) return expectIncompatible(dataset, options);
    const { value } = referenceOptimum({ ...reference, intercept });
    await trainCertified(dataset, value, options);
    if (mode !== 'columns' || !(penalty.l1 > 0)) return;
    await trainCertified(dataset, value, { ...options, solver: solvers.workingSet() });
  });
});

test('a factor of 2 on every column is twice the λ', async () => {
  const { rows, labels, dataset } = sample({ seed: 3 });
  const common = { loss: losses.logistic(), penalty: penalties.elasticNet(), threads: 1 };
  const twos = { lambda: 0.05, penaltyFactors: new Float64Array(10).fill(2) };
  const { value } = referenceOptimum({ rows, labels, ...common, lambda: 0.1 });
  const doubled = await trainCertified(dataset, value, { ...common, ...twos, tolerance: 1e-9 });
  const plain = await trainCertified(dataset, value, { ...common, lambda: 0.1, tolerance: 1e-9 });
  doubled.model.weights.forEach((w, j) => {
    expect(w).toBeCloseTo(plain.model.weights[j], 3);
  });
});

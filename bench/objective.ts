import type { Dataset } from '../src/data/dataset.ts';
import { classesOf } from '../src/data/labels.ts';
import { CompensatedSum } from '../src/math/vectors.ts';
import type { Loss } from '../src/problem/losses/loss.ts';
import type { Penalty } from '../src/problem/penalties/index.ts';

/** What is minimized: no intercept, every row with weight 1. */
export interface BenchProblem {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly lambda: number;
}

/** P(w) = λ Σ φ(w_j) + (1/m) Σ ℓ(⟨w, x_i⟩, y_i), computed in one way for the weights of any program. */
export function objective(
  dataset: Dataset,
  { loss, penalty, lambda }: BenchProblem,
  weights: Float64Array,
): number {
  const positive = loss.task === 'regression' ? undefined : classesOf(dataset)[1];
  const losses = new CompensatedSum();
  for (const { rowOffsets, labels, indices, values } of dataset.parts) {
    for (let i = 0; i < labels.length; i++) {
      let score = 0;
      for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) {
        // A program may have left out columns at the end that it never saw.
        score += values[k] * (weights[indices[k]] ?? 0);
      }
      const target = positive === undefined ? labels[i] : labels[i] === positive ? 1 : -1;
      losses.add(loss.value(score, target, loss.parameter));
    }
  }
  const penalties = new CompensatedSum();
  for (const weight of weights) penalties.add(penalty.value(weight));
  return lambda * penalties.total + losses.total / dataset.rows;
}

export function nonzeroCount(weights: Float64Array): number {
  return weights.reduce((count, weight) => count + Number(weight !== 0), 0);
}

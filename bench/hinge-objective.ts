import type { Dataset } from '../src/data/dataset.ts';
import { classesOf } from '../src/data/labels.ts';
import { CompensatedSum } from '../src/math/vectors.ts';

/**
 * P(w) = λ/2 ‖w‖² + (1/m) Σ max(0, 1 − y ⟨w, x⟩) with λ = 1/m, computed in one way for the weights
 * of any program.
 */
export function hingeObjective(dataset: Dataset, weights: Float64Array): number {
  const [, positive] = classesOf(dataset);
  const losses = new CompensatedSum();
  for (const { rowOffsets, labels, indices, values } of dataset.parts) {
    for (let i = 0; i < labels.length; i++) {
      let score = 0;
      for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) {
        // A program may have left out columns at the end that it never saw.
        score += values[k] * (weights[indices[k]] ?? 0);
      }
      losses.add(Math.max(0, 1 - (labels[i] === positive ? score : -score)));
    }
  }
  const squares = new CompensatedSum();
  for (const weight of weights) squares.add(weight * weight);
  return (squares.total / 2 + losses.total) / dataset.rows;
}

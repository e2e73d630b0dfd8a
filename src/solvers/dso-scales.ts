import type { Loss } from '../problem/losses/loss.ts';
import type { Workplace } from './method.ts';
import type { DsoSettings } from './solver.ts';

/** Rows whose mean square is this near to 1 count as rows of unit length: files round them. */
const unitRows = 1e-3;

/**
 * Step sizes that did well on text: (η for w, η for α), by step rule and loss. AdaGrad forgets the
 * scale of the features; where rows are longer, as long a step of w moves the scores further.
 */
export function defaultSteps(
  place: Workplace,
  { step }: DsoSettings,
  loss: Loss,
): [number, number] {
  const { rows, mass } = place.problem;
  // Gradients are of the size 1/m in w and 1/W in α/c.
  if (step === 'sqrt') return [0.05 * rows, 0.05 * mass];
  const meanSquare = meanRowSquare(place);
  const [weight, alpha] = loss.name === 'logistic' ? [0.2, 0.15] : [0.3, 0.5];
  const isUnit = !(meanSquare > 0) || Math.abs(meanSquare - 1) < unitRows;
  return [isUnit ? weight : weight / Math.sqrt(meanSquare), alpha];
}

/** The mean of ‖x_i‖². */
function meanRowSquare({ problem, objective, team }: Workplace): number {
  const [sum] = team.reduce(1, (worker, sums) => {
    for (let block = 0; block < problem.grid.size; block++) {
      objective.cells.through(worker, block, ({ offsets, values }, first, end) => {
        for (let k = offsets[first]; k < offsets[end]; k++) sums[0] += values[k] * values[k];
      });
    }
  });
  return sum / Math.max(1, problem.rows);
}

/**
 * A bound on |w_j| at the optimum. At a saddle point λ l2 ‖w‖² ≤ P(0) and λ l1 ‖w‖₁ ≤ P(0), which
 * gives the appendix's 1/√λ for the SVM and √(log 2/λ) for logistic regression.
 */
export function boxOf(atZero: number, l1: number, l2: number): number {
  const quadratic = l2 > 0 ? Math.sqrt(atZero / l2) : Infinity;
  return l1 > 0 ? Math.min(quadratic, atZero / l1) : quadratic;
}

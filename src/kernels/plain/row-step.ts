import type { Loss } from '../../problem/losses/loss.ts';
import type { RowState, RowStep } from '../../solvers/kernels/kernels.ts';

/** A resting row is far from its bound when the dual gradient there exceeds this. */
const restMargin = 0.05;
const highestLevel = 3;

/** Its α is 0 for good. */
function restWithoutSay(i: number, rows: RowState, step: RowStep, stats: Float64Array): number {
  stats[0] += rows.counts[i];
  if (step.shrink !== 0) {
    rows.level[i] = highestLevel;
    rows.skip[i] = (1 << highestLevel) - 1;
  }
  return 0;
}

/**
 * The exact dual step of one row, as a function that returns the change of α and keeps the books.
 * For the loss c ℓ it is that of ℓ in α/c, with c times the curvature: α ← c step(α/c, u, c q).
 * Twin of assembly/row-step.ts.
 */
export function rowStep(loss: Loss) {
  const { parameter } = loss;

  return function stepRow(
    i: number,
    u: number,
    rows: RowState,
    step: RowStep,
    stats: Float64Array,
  ): number {
    const c = rows.importance[i];
    if (c === 0) return restWithoutSay(i, rows, step, stats);
    const y = rows.labels[i];
    const alpha = rows.alpha[i];
    const inverse = 1 / c;
    const q = (rows.norms[i] + step.damping * rows.collisions[i]) * step.inverseMass;
    const bend = q * c;
    const next = c * loss.dualStep(alpha * inverse, u, bend, y, parameter);
    const delta = next - alpha;
    if (delta !== 0) {
      rows.alpha[i] = next;
      rows.level[i] = 0;
      // An exact step ends where −α is the slope of ℓ.
      const curvature = loss.curvature(u + q * delta, y, parameter, -(next * inverse));
      stats[0] += 2 * rows.counts[i];
      stats[1] += curvature > 0 ? (bend * curvature) / (1 + bend * curvature) : 1;
      return delta;
    }
    stats[0] += rows.counts[i];
    if (step.shrink !== 0) {
      const slope = loss.conjugateDerivative(-(alpha * inverse), y, parameter) - u;
      let level = 0;
      if (slope > restMargin || slope < -restMargin) {
        level = rows.level[i] < highestLevel ? rows.level[i] + 1 : highestLevel;
        rows.skip[i] = (1 << level) - 1;
      }
      rows.level[i] = level;
    }
    return 0;
  };
}

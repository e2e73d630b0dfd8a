import type { Loss } from '../../losses/loss.ts';
import type { RowState, RowStep } from '../kernels.ts';

/** A resting row is far from its bound when the dual gradient there exceeds this. */
const restMargin = 0.05;
const highestLevel = 3;

/**
 * The exact dual step of one row, as a function that returns the change of α and keeps the books.
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
    const y = rows.labels[i];
    const alpha = rows.alpha[i];
    const q = (rows.norms[i] + step.damping * rows.collisions[i]) * step.inverseRows;
    const next = loss.dualStep(alpha, u, q, y, parameter);
    const delta = next - alpha;
    if (delta !== 0) {
      rows.alpha[i] = next;
      rows.level[i] = 0;
      // An exact step ends where −α is the slope of ℓ.
      const curvature = loss.curvature(u + q * delta, y, parameter, -next);
      stats[0] += 2 * rows.counts[i];
      stats[1] += curvature > 0 ? (q * curvature) / (1 + q * curvature) : 1;
      return delta;
    }
    stats[0] += rows.counts[i];
    if (step.shrink !== 0) {
      const slope = loss.conjugateDerivative(-alpha, y, parameter) - u;
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

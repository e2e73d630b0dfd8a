import type { SolverCode } from '../solver.ts';
import {
  allocateLbfgs,
  extensions,
  Lbfgs,
  type LbfgsMemory,
  type LbfgsSettings,
  rounding,
} from './lbfgs.ts';

/** What P must fall by, as a share of what its slope promises, for a projected step (Armijo). */
const sufficient = 1e-4;
/** Projected steps tried along one direction. */
const projections = 25;

/**
 * OWL-QN (Andrew and Gao 2007): L-BFGS where the penalty has an L1 part. The steepest descent is the
 * pseudo-gradient's, d keeps its signs, and the step is cut off where a weight would leave its
 * orthant, which takes a pass per try.
 */
class OwlQn extends Lbfgs {
  /** The first of ever shorter projected steps that lowers P enough: P there, or undefined. */
  protected override search(): number | undefined {
    const { objective } = this.context;
    const { primal: before } = this.scalars;
    let share = 1;
    if (this.history.size === 0) {
      // Nothing is known of the scale yet.
      this.advance(1);
      share = this.minimise(extensions, 0);
    }
    for (let tries = 0; share > 0 && tries < projections; tries++) {
      this.#project(share);
      const primal = objective.primal(this.next.weights, this.next.margins);
      const promised = sufficient * this.slope(0);
      if (promised < 0 && primal <= before + promised + rounding * Math.abs(before)) return primal;
      share *= Math.max(0.1, Math.min(0.5, this.minimise(0, 0)));
    }
    return undefined;
  }

  /** next ← w + share · d, cut off at the borders of the orthant. */
  #project(share: number): void {
    const { l1 } = this.context.problem;
    const { weights, next, nextMargins, steepest, direction } = this.memory;
    const [begin, end] = this.state.ownColumns;
    for (let j = begin; j < end; j++) {
      const moved = weights[j] + share * direction[j];
      const orthant = weights[j] === 0 ? steepest[j] : weights[j];
      next[j] = l1[j] > 0 && !(moved * orthant > 0) ? 0 : moved;
    }
    this.context.objective.margins(next, nextMargins);
    this.passes++;
  }
}

/** Limited-memory BFGS, or OWL-QN where the penalty has an L1 part. */
export const lbfgs: SolverCode<LbfgsSettings, LbfgsMemory> = {
  allocate: allocateLbfgs,
  create: (context, memory) =>
    context.problem.penalty.l1 > 0 ? new OwlQn(context, memory) : new Lbfgs(context, memory),
};

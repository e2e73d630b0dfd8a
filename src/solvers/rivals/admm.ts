import { clamp, softThreshold } from '../../math/scalars.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod } from '../block-state.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { AdmmCopies, type AdmmMemory, allocateAdmm } from './admm-copies.ts';

/** Over-relaxation (Boyd et al. §3.4.3): a third fewer iterations than 1; at 1.8 some stall. */
const relaxation = 1.6;
/** ρ changes by this factor when one relative residual is this many times the other. */
const change = 2;
const imbalance = 5;
/** ρ is fixed from then on: convergence is known for a constant ρ only. */
const adaptingEpochs = 60;

export interface AdmmSettings {
  /** Weight ρ of the quadratic tie to the consensus; by default found by balancing residuals. */
  readonly rho?: number;
  /** Passes of local dual coordinate descent per iteration (default 1). */
  readonly passes: number;
}

/**
 * Consensus ADMM over the row blocks (Boyd et al. 2010, §7 and 8). Worker q, with f_q(x) = (1/W) Σ c ℓ
 * over its own rows, has its own copy x_q of the weights z; u_q is the scaled dual variable of x_q = z.
 *
 *   x_q ← argmin f_q(x) + (ρ/2)‖x − z + u_q‖²
 *   z   ← argmin Σ_j λ f_j φ(z_j) + (ρ/2) Σ_q ‖x_q − z + u_q‖²
 *   u_q ← u_q + x_q − z
 *
 * The first is solved inexactly, by a few passes of dual coordinate descent from where the last
 * ones ended; it gives every row an α_i in its domain, hence a lower bound. A column's copies exist
 * only where the column occurs (§7.2), which saves rare columns the votes of those who know nothing
 * about them.
 *
 * ρ starts at the weighted mean of ‖x_i‖²/m, where a dual step can just go from end to end of its
 * domain, and is doubled or halved to balance the residuals (§3.4.1), each relative to what it is a
 * residual of: so a change of units, of features, labels or weights, does not tip the scales.
 */
export class Admm extends BlockMethod<AdmmCopies> {
  /** `adapting`: epochs in which ρ may still change. */
  protected override readonly scalars = { adapting: 0 };
  readonly #memory: AdmmMemory;
  readonly #passesPerEpoch: number;

  constructor(
    context: SolverContext,
    memory: AdmmMemory,
    { rho, passes }: AdmmSettings,
    loss: Loss,
  ) {
    super(new AdmmCopies(context, memory, rho), memory, memory.alpha);
    this.#memory = memory;
    this.#passesPerEpoch = passes;
    this.scalars.adapting = rho === undefined ? adaptingEpochs : 0;
    if (context.start) this.passes += this.state.startFrom(context.start, loss);
  }

  epoch(): void {
    const { team } = this.context;
    const { scalars, state } = this;
    this.passes += this.passesOf((worker) => state.descend(worker, this.#passesPerEpoch));
    state.sum(relaxation);
    this.#agree();
    state.share();
    const [apart, size, moved, pull] = team.reduce(4, (worker, values) => {
      state.follow(worker, relaxation, values);
    });
    if (scalars.adapting === 0) return;
    scalars.adapting--;
    // apart/size is the square of the primal residual, moved/pull that of the dual one.
    const tilt = imbalance * imbalance;
    if (apart * pull > tilt * moved * size) state.tighten(change);
    else if (moved * size > tilt * apart * pull) state.tighten(1 / change);
  }

  /**
   * z_j = soft(n ρ_j c, l1_j) / (l2_j + n ρ_j), with c the mean of x_q + u_q over n copies, clipped
   * where weights are bounded: the copies may leave the box, what they agree on does not.
   */
  #agree(): void {
    const { problem, objective } = this.context;
    const of = (array: Float64Array) => objective.ownColumns(array);
    const [weights, sums] = [of(this.#memory.weights), of(this.#memory.sums)];
    const [inverse, copyCounts] = [of(this.#memory.inverse), of(this.#memory.copyCounts)];
    const [l1, l2] = [of(problem.l1), of(problem.l2)];
    const box = problem.box && { low: of(problem.box.low), high: of(problem.box.high) };
    for (let j = 0; j < weights.length; j++) {
      if (copyCounts[j] === 0) continue;
      const pull = copyCounts[j] / inverse[j];
      const centre = weights[j] + sums[j] / copyCounts[j];
      const free = softThreshold(pull * centre, l1[j]) / (l2[j] + pull);
      weights[j] = box ? clamp(free, box.low[j], box.high[j]) : free;
    }
  }
}

export const admm: SolverCode<AdmmSettings, AdmmMemory> = {
  allocate: allocateAdmm,
  create: (context, memory, settings, loss) => new Admm(context, memory, settings, loss),
};

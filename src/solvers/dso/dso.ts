import type { Rotation } from '../../engine/ring.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod } from '../block-state.ts';
import type { SaddleStep } from '../kernels/kernels.ts';
import type { Gap } from '../objective/objective.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { allocateDso, type DsoMemory, type DsoSettings, DsoState } from './state.ts';
import { average, defaultSteps, initialize, takeSnapshot } from './steps.ts';

/**
 * Algorithm 1 of the paper: distributed stochastic optimization (DSO) of the saddle point problem.
 *
 *    1: Each processor q ∈ {1, …, p} initializes w^(q), α^(q)
 *    2: t ← 1
 *    3: repeat
 *    4:   η_t ← η₀/√t
 *    5:   for all r ∈ {1, …, p}
 *    6:     for all processors q ∈ {1, …, p} in parallel
 *    7:       for (i, j) ∈ Ω^(q, σ_r(q))
 *    8:         w_j ← w_j − η_t (λ∇φ_j(w_j)/|Ω̄_j| − α_i x_ij/m)
 *               α_i ← α_i + η_t (∇ℓ*_i(−α_i)/(m|Ω_i|) − w_j x_ij/m)
 *    9:       end for
 *   10:       send w^(σ_r(q)) to machine σ_{r+1}⁻¹(σ_r(q)) and receive w^(σ_{r+1}(q))
 *   11:     end for
 *   12:   end for
 *   13:   t ← t + 1
 *   14: until convergence
 *
 * The preset `algorithm-1` runs this as printed. The appendix adds AdaGrad's steps instead of
 * η₀/√t, variance reduction (SVRG), a start by local dual coordinate descent and boxes; Theorem 1 is
 * about the averaged iterate. Each is a setting, and its code is in steps.ts.
 */
export class Dso extends BlockMethod<DsoState> {
  declare readonly dualPoint: Float64Array;
  /** t of the last epoch. */
  protected override readonly scalars = { t: 0 };
  readonly #rotation: Rotation;
  /** η₀ of w and of α. */
  readonly #eta0: readonly [number, number];

  /** Line 1. `rotation`: in which order the workers meet the blocks, σ of the ring by default. */
  constructor(
    context: SolverContext,
    memory: DsoMemory,
    settings: DsoSettings,
    loss: Loss,
    rotation: Rotation = context.ring,
  ) {
    const { weights, alpha, weightSum, alphaSum, margins } = memory;
    const point = { weights: settings.average ? weightSum : weights, margins };
    super(new DsoState(context, memory, settings), point, settings.average ? alphaSum : alpha);
    this.#rotation = rotation;
    const [weightStep, alphaStep] = defaultSteps(this.state, loss);
    this.#eta0 = [settings.stepSize ?? weightStep, settings.dualStepSize ?? alphaStep];
    this.passes = initialize(this.state, loss);
  }

  /** The body of lines 3 to 14; runEpochs repeats it until convergence. */
  epoch(): void {
    const { settings, workers, lines, travel } = this.state;
    const { kernels, objective, team } = this.context;
    // Line 2 for the first epoch, line 13 for the others.
    const t = ++this.scalars.t;
    if (settings.svrg) takeSnapshot(this.state);
    const step = this.#stepAt(t);
    this.state.shuffleRows();
    // Lines 5, 6 and 10: σ is the block that worker q has in this inner iteration.
    travel.rotate(this.#rotation, (q, sigma) => {
      const { rows, order } = workers[q];
      const w = lines[sigma];
      // Lines 7 to 9.
      objective.cells.at(q, sigma).over(order, 0, order.length, (omega, begin, end) => {
        kernels.saddleRows(omega, order, begin, end, rows, w, step);
      });
    });
    team.barrier();
    this.state.collectWeights();
    this.passes += settings.svrg ? 4 : 2;
    if (settings.average) average(this.state, t);
  }

  /** Line 4: η_t = η₀/√t, or AdaGrad's numerator, which stays as it is. */
  #stepAt(t: number): SaddleStep {
    const { settings, adagrad } = this.state;
    const { penalty, totalWeight } = this.context.problem;
    const decay = adagrad ? 1 : 1 / Math.sqrt(t);
    const [weightStep, alphaStep] = this.#eta0;
    return {
      weightStep: weightStep * decay,
      alphaStep: alphaStep * decay,
      adagrad,
      svrg: settings.svrg,
      l1: penalty.l1,
      l2: penalty.l2,
      inverseTotalWeight: 1 / totalWeight,
    };
  }

  /** Of the last iterate, or of the average (Theorem 1). */
  override evaluate(): Gap {
    const { objective, problem } = this.context;
    const { image } = this.state.memory;
    const alpha = this.dualPoint;
    this.state.measure(this.weights, alpha);
    const primal = objective.primal(this.weights, this.margins);
    const dual = problem.intercept ? objective.dual(alpha) : objective.dualOfImage(alpha, image);
    return { primal, dual };
  }
}

export const dso: SolverCode<DsoSettings, DsoMemory> = {
  allocate: allocateDso,
  create: (context, memory, settings, loss) => new Dso(context, memory, settings, loss),
};

import type { StateArray } from '../../engine/checkpoint/state.ts';
import type { Rotation } from '../../engine/ring.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { SaddleStep } from '../kernels/kernels.ts';
import type { Gap } from '../objective/objective.ts';
import type { Method, SolverCode, SolverContext } from '../solver.ts';
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
 * The preset `algorithm-1` runs this as printed. The appendix adds AdaGrad's steps in place of
 * η₀/√t, variance reduction (SVRG), a start by local dual coordinate descent and boxes; Theorem 1 is
 * about the averaged iterate. Each is a setting, and its code is in steps.ts.
 */
export class Dso implements Method {
  passes: number;
  readonly polish = 0;
  readonly combinesIterates = false;
  readonly #state: DsoState;
  readonly #rotation: Rotation;
  /** η₀ of w and of α. */
  readonly #eta0: readonly [number, number];
  #t = 0;

  /** Lines 1 and 2. `rotation`: in which order the workers meet the blocks. */
  constructor(
    context: SolverContext,
    memory: DsoMemory,
    settings: DsoSettings,
    loss: Loss,
    rotation: Rotation = context.ring,
  ) {
    this.#state = new DsoState(context, memory, settings);
    this.#rotation = rotation;
    const [weightStep, alphaStep] = defaultSteps(this.#state, loss);
    this.#eta0 = [settings.stepSize ?? weightStep, settings.dualStepSize ?? alphaStep];
    this.passes = initialize(this.#state, loss);
  }

  /** Lines 4 to 13; runEpochs repeats it until convergence. */
  epoch(): void {
    const { context, settings, workers, lines, fields } = this.#state;
    const { kernels, objective, team } = context;
    this.#t += 1;
    if (settings.svrg) takeSnapshot(this.#state);
    const step = this.#stepAt(this.#t);
    this.#state.shuffleRows();
    this.#rotation.rotate(fields, (q, block) => {
      const { rows, order } = workers[q];
      const w = lines[block];
      objective.cells.at(q, block).over(order, 0, order.length, (omega, begin, end) => {
        kernels.saddleRows(omega, order, begin, end, rows, w, step);
      });
    });
    team.barrier();
    this.#state.collectWeights();
    this.passes += settings.svrg ? 4 : 2;
    if (settings.average) average(this.#state, this.#t);
  }

  /** Line 4: η_t = η₀/√t, or AdaGrad's numerator, which stays as it is. */
  #stepAt(t: number): SaddleStep {
    const { context, settings, adagrad } = this.#state;
    const { penalty, totalWeight } = context.problem;
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

  /** The last iterate, or the average (Theorem 1). */
  get weights(): Float64Array {
    const { memory, settings } = this.#state;
    return settings.average ? memory.weightSum : memory.weights;
  }

  get dualPoint(): Float64Array {
    const { memory, settings } = this.#state;
    return settings.average ? memory.alphaSum : memory.alpha;
  }

  get margins(): Float64Array {
    return this.#state.memory.margins;
  }

  evaluate(): Gap {
    const { context, memory } = this.#state;
    const { objective, problem } = context;
    const alpha = this.dualPoint;
    this.#state.measure(this.weights, alpha);
    const primal = objective.primal(this.weights, memory.margins);
    const dual = problem.intercept
      ? objective.dual(alpha)
      : objective.dualOfImage(alpha, memory.image);
    return { primal, dual };
  }

  /** The image behind every bound was computed from scratch. */
  certify(bound: number): number {
    return bound;
  }

  save() {
    this.#state.saveRandom();
    return { t: this.#t, passes: this.passes };
  }

  restore(saved: ReturnType<Dso['save']>): void {
    this.#t = saved.t;
    this.passes = saved.passes;
  }

  arrays(): StateArray[] {
    return this.#state.arrays();
  }

  resume(): void {
    this.#state.resume();
  }
}

export const dso: SolverCode<DsoSettings, DsoMemory> = {
  allocate: allocateDso,
  create: (context, memory, settings, loss) => new Dso(context, memory, settings, loss),
};

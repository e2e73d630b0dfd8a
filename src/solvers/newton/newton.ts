import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { findFlat } from '../../math/line-search.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod, BlockState, reserve } from '../block-state.ts';
import { type Gap, relativeGap } from '../objective/objective.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { allocateVectors, type Vector, Vectors } from '../vectors/vectors.ts';
import { ConjugateGradients } from './conjugate-gradients.ts';

/**
 * How exactly linear systems are solved: the share of the residual that is left, from the first step to
 * the last. Measured on text: with 0.1 for the first the squared hinge takes twice the passes.
 */
const [coarse, fine] = [0.25, 1e-3];
/** What the last step may leave. */
const loose = 0.5;
/** Of the root of the gap that is allowed, what remains of a residual when the tolerance is met. */
const remaining = 0.6;
/** A step ends where the slope of P is this share of what it was, a step that is cut or extended at the second. */
const flat = 0.1;
const flatter = 0.01;
/** A step that still leads down at its end is doubled, this many times at most. */
const doublings = 20;
/** P may rise by rounding errors, relative to itself. */
const rounding = 1e-14;
/** Margins that have been added up from this many steps are computed again. */
const stale = 8;
/** The gap after a whole step is mostly more than this share of what P has fallen by. */
const leastGap = 0.05;

export type NewtonSettings = Readonly<Record<string, never>>;

const rowNames = [
  'margins',
  'alpha',
  'foreseen',
  'bound',
  'curvatures',
  'stepImage',
  'directionImage',
  'weighted',
] as const;

type RowVectors = Readonly<Record<(typeof rowNames)[number], Vector>>;

function allocate(arena: Arena, partition: Partition) {
  const [rows, home] = [partition.rowOrder.length, partition.columnOrder.length];
  const travelling = ['weights', 'image', 'direction', 'result'] as const;
  return {
    vectors: allocateVectors(arena, partition),
    ...reserve(arena, 'float64', rows, rowNames),
    ...reserve(arena, 'float64', partition.bufferLength, travelling),
    ...reserve(arena, 'float64', home, ['residual', 'step', 'inverse', 'scaled']),
  };
}

type NewtonMemory = ReturnType<typeof allocate>;

/**
 * Newton's method for smooth losses with an L2 penalty (Nash 1985; for these losses Lin, Weng and Keerthi
 * 2008, "Trust region Newton method for large-scale logistic regression", here with a search along the
 * step). An epoch is a step. Its linear system
 *
 *   (R + XᵀTX/W) dw = v − R w,   R = diag λ l2 f_j, T = diag c_i ℓ''(u_i), v = Xᵀα/W, α_i = −c_i ℓ'(u_i),
 *
 * is solved by conjugate gradients, more exactly as the gradient falls. X dw comes with it, so that the
 * search along dw, by slopes of P, takes no pass over the data.
 *
 * α is a dual point, whose image the gradient has. After a whole step so is α − T X dw, the slopes
 * that the step foresaw: its image is nearly R w, and its bound mostly the better one.
 */
class Newton extends BlockMethod {
  protected override readonly scalars = {
    primal: 0,
    /** The best bound so far. */
    dual: -Infinity,
    /** What the last step has lowered P by. */
    fall: Infinity,
    /** Of the gradient at the first step, in the norm that its system has. */
    firstSize: 0,
    /** Steps since the margins were computed from the weights. */
    age: 0,
    /** The last step was a whole one. */
    whole: false,
    /** The image is that of α. */
    hasImage: false,
    /** No step leads down any more: the optimum, to rounding. */
    resting: false,
  };
  readonly #memory: NewtonMemory;
  readonly #vectors: Vectors;
  readonly #system: ConjugateGradients;
  readonly #row: RowVectors;
  readonly #column: Readonly<Record<'weights' | 'image' | 'step' | 'residual' | 'ridge', Vector>>;
  readonly #isBent: boolean;
  /** The gap of this point, once it has been evaluated. */
  #evaluated: Gap | undefined;

  constructor(context: SolverContext, memory: NewtonMemory, loss: Loss) {
    super(new BlockState(context), memory, memory.bound);
    const { objective, problem, team, start } = context;
    this.#isBent = loss.openEnds && loss.module === undefined;
    const vectors = new Vectors(context, memory.vectors);
    const named = rowNames.map((name) => [name, vectors.rows(memory[name])] as const);
    const row = Object.fromEntries(named) as RowVectors;
    const columns = (array: Float64Array) => vectors.columns(array);
    this.#memory = memory;
    this.#vectors = vectors;
    this.#row = row;
    this.#column = {
      weights: columns(memory.weights),
      image: columns(memory.image),
      step: columns(memory.step),
      residual: columns(memory.residual),
      ridge: columns(problem.l2),
    };
    const system = {
      ...this.#column,
      curvatures: row.curvatures,
      stepImage: row.stepImage,
      image: row.directionImage,
      weighted: row.weighted,
      direction: columns(memory.direction),
      result: columns(memory.result),
      inverse: columns(memory.inverse),
      scaled: columns(memory.scaled),
    };
    this.#system = new ConjugateGradients(vectors, system, problem.totalWeight);
    if (start) objective.copyColumns(start.weights, this.weights);
    if (start) this.#computeMargins();
    team.barrier();
    this.scalars.primal = this.#expand(row.margins) + this.#penalty();
    this.passes = vectors.products;
  }

  epoch(): void {
    if (this.scalars.resting) return;
    if (!this.#step()) {
      // Margins that are exact again may show the way.
      this.#computeMargins();
      this.#expand(this.#row.margins);
      this.scalars.resting = !this.#step();
    }
    this.#evaluated = undefined;
    this.passes = this.#vectors.products;
  }

  #computeMargins(): void {
    this.#vectors.product(this.#column.weights, this.#row.margins);
    this.scalars.age = 0;
  }

  /** The mean loss at the margins, with α and T of them. */
  #expand(margins: Vector): number {
    const { alpha, curvatures } = this.#row;
    this.scalars.hasImage = false;
    const sum = this.#vectors.expand(margins, this.#isBent, alpha, curvatures);
    return sum / this.context.problem.totalWeight;
  }

  /** The penalty of the weights. */
  #penalty(): number {
    const { objective, problem, kernels, team } = this.context;
    const [penalty] = team.reduce(1, (block, values) => {
      const of = (array: Float64Array) => objective.columnsOf(array, block);
      values[0] = kernels.penaltySum(of(this.weights), of(problem.l1), of(problem.l2));
    });
    return penalty;
  }

  /** The image of α. */
  #differentiate(): void {
    if (this.scalars.hasImage) return;
    this.#computeImage(this.#row.alpha, this.#column.image);
    this.scalars.hasImage = true;
  }

  #computeImage(alpha: Vector, image: Vector): void {
    this.#vectors.transposed(alpha, image);
    this.#vectors.scale(image, 1 / this.context.problem.totalWeight, image);
    this.context.team.barrier();
  }

  /** One step; false, and nothing has changed, when no point with a smaller P was found. */
  #step(): boolean {
    const { scalars } = this;
    const { weights, step } = this.#column;
    const { margins, stepImage } = this.#row;
    const vectors = this.#vectors;
    this.#differentiate();
    this.#solve();
    const { share, loss } = this.#search();
    if (share > 0) {
      vectors.combine(weights, weights, share, step);
      vectors.combine(margins, margins, share, stepImage);
      const primal = (loss ?? this.#expand(margins)) + this.#penalty();
      if (primal <= scalars.primal + rounding * Math.abs(scalars.primal)) {
        scalars.fall = scalars.primal - primal;
        scalars.primal = primal;
        scalars.whole = share === 1;
        scalars.age++;
        if (scalars.age >= stale) {
          this.#computeMargins();
          scalars.primal = this.#expand(margins) + this.#penalty();
        }
        return true;
      }
      vectors.combine(weights, weights, -share, step);
      vectors.combine(margins, margins, -share, stepImage);
    }
    scalars.whole = false;
    this.#expand(margins);
    return false;
  }

  /** dw and X dw. */
  #solve(): void {
    const vectors = this.#vectors;
    const { weights, image, residual, ridge } = this.#column;
    vectors.multiply(ridge, weights, residual);
    vectors.combine(residual, image, -1, residual);
    const size = this.#system.prepare();
    if (this.scalars.firstSize === 0) this.scalars.firstSize = size;
    const falling = Math.sqrt(size / this.scalars.firstSize);
    const accuracy = Math.min(coarse, Math.max(fine, falling));
    this.#system.solve(Math.max(accuracy, this.#enough));
  }

  /** The accuracy that a last step needs: errors of P are of second order. */
  get #enough(): number {
    const { primal, dual } = this.scalars;
    const goal = this.context.tolerance * Math.abs(primal);
    return primal > dual ? Math.min(loose, remaining * Math.sqrt(goal / (primal - dual))) : 0;
  }

  /** foreseen ← α − T X dw */
  #foresee(): void {
    const { alpha, curvatures, stepImage, foreseen } = this.#row;
    this.#vectors.multiply(curvatures, stepImage, foreseen);
    this.#vectors.combine(foreseen, alpha, -1, foreseen);
  }

  /** How much of the step to take, 0 if it does not lead down; and the mean loss there, with α and T. */
  #search(): { readonly share: number; readonly loss?: number } {
    const { weights, step, ridge, residual } = this.#column;
    const { alpha, stepImage, margins, weighted } = this.#row;
    const { totalWeight } = this.context.problem;
    const vectors = this.#vectors;
    vectors.multiply(ridge, step, residual);
    const [linear, square, falls] = vectors.dots(
      [residual, weights],
      [residual, step],
      [alpha, stepImage],
    );
    const atStart = falls / totalWeight - linear;
    if (!(atStart > 0)) return { share: 0 };
    const slopeOf = (slopes: Vector, share: number) => {
      const found = vectors.dots([slopes, stepImage])[0] / totalWeight - linear - share * square;
      // What overflows is far too long.
      return found < Infinity ? found : -Infinity;
    };
    const descent = (share: number) => {
      vectors.combine(weighted, margins, share, stepImage);
      vectors.slopes(weighted, weighted);
      return slopeOf(weighted, share);
    };
    this.#foresee();
    vectors.combine(weighted, margins, 1, stepImage);
    const loss = this.#expand(weighted);
    let [low, atLow] = [0, atStart];
    let [high, atHigh] = [1, slopeOf(alpha, 1)];
    if (Math.abs(atHigh) <= flat * atStart) return { share: 1, loss };
    for (let k = 0; k < doublings && atHigh > flatter * atStart; k++) {
      [low, atLow] = [high, atHigh];
      high *= 2;
      atHigh = descent(high);
    }
    if (atHigh >= -flatter * atStart) return { share: high };
    const goals = [-flatter * atStart, flatter * atStart] as const;
    return { share: findFlat(descent, [low, atLow], [high, atHigh], goals) };
  }

  override evaluate(): Gap {
    this.#evaluated ??= this.#findGap();
    return this.#evaluated;
  }

  #findGap(): Gap {
    const { primal, whole, fall } = this.scalars;
    const { tolerance, problem } = this.context;
    // Without an intercept α, whose image the next step needs, has a bound that takes no pass.
    const isFar = !problem.intercept && leastGap * fall > tolerance * Math.abs(primal);
    let dual = whole && !isFar ? this.#boundOf(this.#row.foreseen) : -Infinity;
    if (relativeGap({ primal, dual }) > tolerance) dual = this.#improve(dual);
    this.scalars.dual = Math.max(this.scalars.dual, dual);
    this.passes = this.#vectors.products;
    return { primal, dual };
  }

  /** D at a dual point made from slopes, which is then the point behind the bound. */
  #boundOf(slopes: Vector): number {
    const { objective } = this.context;
    const within = this.#vectors.rows(objective.withinDomain(slopes.all));
    const image = this.#vectors.columns(objective.scratchImage);
    this.#computeImage(within, image);
    this.#vectors.copy(within, this.#row.bound);
    return objective.dualOfImage(within.all, image.all);
  }

  /** The bound of α if it is better than what is known, else that. */
  #improve(known: number): number {
    const { objective, problem } = this.context;
    const { alpha, bound, weighted } = this.#row;
    const vectors = this.#vectors;
    if (!problem.intercept) {
      this.#differentiate();
      const found = objective.dualOfImage(alpha.all, this.#memory.image);
      if (found > known) vectors.copy(alpha, bound);
      return Math.max(found, known);
    }
    vectors.copy(bound, weighted);
    const found = this.#boundOf(alpha);
    if (found < known) vectors.copy(weighted, bound);
    return Math.max(found, known);
  }

  override arrays(): StateArray[] {
    const { margins, foreseen, weights } = this.#memory;
    return stateArrays({ row: { margins, foreseen }, column: { weights } });
  }

  /** Work that was counted before. */
  override resume(): void {
    const { hasImage } = this.scalars;
    this.#expand(this.#row.margins);
    if (hasImage) this.#differentiate();
    this.#vectors.products = this.passes;
  }
}

export const newton: SolverCode<NewtonSettings, NewtonMemory> = {
  allocate,
  create: (context, memory, _settings, loss) => new Newton(context, memory, loss),
};

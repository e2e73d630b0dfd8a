import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { BlockMethod, BlockState, reserve } from '../block-state.ts';
import { type Gap, type Point, relativeGap } from '../objective/objective.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import { allocateVectors, type Vector, Vectors } from '../vectors/vectors.ts';
import { startingAlpha } from '../warm-start.ts';
import { BestPoints } from './best-points.ts';
import { rootOfRising } from './line-search.ts';
import { allocateStep, NewtonStep } from './newton-step.ts';
import { SmoothedLoss } from './smoothed-loss.ts';
import { SmoothedPenalty } from './smoothed-penalty.ts';
import { startingWidth } from './width.ts';

/** Steps from one diagonal of the preconditioner to the next. */
const diagonalSteps = 8;
/** Steps after which what sums of many steps have made is computed afresh. */
const freshSteps = 64;
/** A step is taken whole if the slope at its end is at most this share of that at its start. */
const flatness = 0.1;
/** Lengths of a step that are tried first: of one that is too long, and of one that is too short. */
const shorter = [1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4];
const longer = [1.25, 1.5, 2, 3, 4, 6, 8, 16];
/** The width falls where the smoothed problem is solved to less than `calm` of the gap, and rises from `busy` on. */
const calm = 0.3;
const busy = 0.5;
const fall = 0.8;
const rise = 1.2;
/** With an L1 part the width is at least this share of what it was at first, and at most that. */
const narrowest = 1 / 8;
/** Evaluations that meet the tolerance, but not with exact zeros, before weights stay as they are. */
const patience = 10;

export interface ProximalSettings {
  /** Pairs of directions and their images under the second derivative that are remembered. */
  readonly history: number;
}

export type ProximalMemory = ReturnType<typeof allocateProximal>;

function allocateProximal(arena: Arena, partition: Partition, { history }: ProximalSettings) {
  const rows = partition.rowOrder.length;
  const home = partition.columnOrder.length;
  return {
    /** The point that is offered, the best one, and the iterate. */
    ...reserve(arena, 'float64', rows, ['margins', 'leastMargins', 'iterateMargins']),
    ...reserve(arena, 'float64', partition.bufferLength, ['weights', 'least', 'iterate', 'image']),
    ...reserve(arena, 'float64', rows, [
      'alpha',
      'highestAlpha',
      'centre',
      'curvatures',
      'scratch',
    ]),
    ...reserve(arena, 'float64', partition.bufferLength, ['highestImage']),
    ...reserve(arena, 'float64', home, ['gradient', 'bend', 'slopes', 'slopeCentre', 'pull']),
    step: allocateStep(arena, partition, history),
    vectors: allocateVectors(arena, partition),
  };
}

/**
 * The proximal point method on the dual, its problems solved by Newton's method with conjugate gradients.
 * Every loss is smoothed about a centre, a dual point, over a width γ; a step of Newton's method on
 * that is followed by a move of the centre to the dual point that the step has led to. So γ need not go to
 * 0. An epoch is a step.
 */
class ProximalPoint extends BlockMethod {
  protected override readonly scalars = {
    width: 0,
    widest: 0,
    steps: 0,
    /** How far the smoothed problem is from its solution, as a share of the gap. */
    ratio: 1,
    /** P and D of the best points, and P of the one that is offered. */
    primal: Infinity,
    dual: -Infinity,
    offered: Infinity,
    /** Evaluations that met the tolerance, but not with exact zeros. */
    dense: 0,
  };
  override readonly result: 'best' | 'latest';
  readonly #memory: ProximalMemory;
  readonly #vectors: Vectors;
  readonly #rows: Readonly<
    Record<'margins' | 'centre' | 'alpha' | 'curvatures' | 'scratch', Vector>
  >;
  readonly #point: Vector;
  readonly #image: Vector;
  readonly #gradient: Vector;
  readonly #loss: SmoothedLoss;
  readonly #penalty: SmoothedPenalty;
  readonly #step: NewtonStep;
  readonly #best: BestPoints;
  readonly #bestPoint: Point;
  #gap: Gap | undefined;

  constructor(context: SolverContext, memory: ProximalMemory, loss: Loss) {
    super(new BlockState(context), memory, memory.highestAlpha);
    this.#memory = memory;
    const vectors = new Vectors(context, memory.vectors);
    this.#vectors = vectors;
    const { alpha, centre, curvatures, scratch, iterateMargins } = memory;
    this.#rows = {
      margins: vectors.rows(iterateMargins),
      centre: vectors.rows(centre),
      alpha: vectors.rows(alpha),
      curvatures: vectors.rows(curvatures),
      scratch: vectors.rows(scratch),
    };
    this.#point = vectors.columns(memory.iterate);
    this.#image = vectors.columns(memory.image);
    this.#gradient = vectors.columns(memory.gradient);
    this.#loss = new SmoothedLoss(context, vectors, loss, this.#rows);
    this.#penalty = new SmoothedPenalty(context, memory);
    this.result = this.#penalty.hasL1 ? 'latest' : 'best';
    const system = { gradient: this.#gradient, curvatures: this.#rows.curvatures };
    const bend = vectors.columns(memory.bend);
    this.#step = new NewtonStep(context, vectors, memory.step, { ...system, bend });
    this.#bestPoint = this.#penalty.hasL1
      ? { weights: memory.least, margins: memory.leastMargins }
      : memory;
    const { residual, product, preconditioned } = memory.step;
    const tools = { context, vectors, loss, smoothed: this.#loss };
    const best = {
      primal: this.#bestPoint,
      dual: { alpha: memory.highestAlpha, image: memory.highestImage },
      change: { weights: residual, margins: product },
      trial: { weights: preconditioned, margins: scratch },
    };
    this.#best = new BestPoints(tools, best, this.scalars);
    if (!context.resumes) this.#start(loss);
  }

  #start(loss: Loss): void {
    const { objective, start } = this.context;
    const { iterate, alpha, iterateMargins } = this.#memory;
    if (start) {
      objective.copyColumns(start.weights, iterate);
      this.context.team.barrier();
      this.passes += startingAlpha(this.context, start, loss, iterateMargins, alpha);
      this.#loss.moveCentre();
      this.#vectors.product(this.#point, this.#rows.margins);
      this.#transform(this.#rows.alpha, this.#image);
      this.#penalty.start();
    }
    const { width, widest } = startingWidth(this.context, this.#vectors, loss, {
      rows: this.#rows.curvatures,
      columns: this.#image,
    });
    Object.assign(this.scalars, { width, widest });
    this.#count();
  }

  /** Products that have been made since the last call are passes. */
  #count(): void {
    this.passes += this.#vectors.products;
    this.#vectors.products = 0;
  }

  epoch(): void {
    if (!this.#gap) this.#evaluate();
    this.#gap = undefined;
    const { scalars } = this;
    if (scalars.steps % diagonalSteps === 0) this.#step.refreshDiagonal();
    scalars.steps++;
    this.#step.solve();
    const length = this.#search();
    const [w, u] = [this.#point, this.#rows.margins];
    this.#vectors.combine(w, w, length, this.#step.weights);
    this.#vectors.combine(u, u, length, this.#step.margins);
    if (scalars.steps % freshSteps === 0) this.#refresh();
    if (scalars.ratio <= 1) this.#moveCentre();
    this.#count();
  }

  #moveCentre(): void {
    const { scalars } = this;
    this.#findAlpha();
    this.#loss.moveCentre();
    this.#penalty.moveCentre(scalars.width);
    if (scalars.ratio < calm) scalars.width *= fall;
    else if (scalars.ratio > busy) scalars.width *= rise;
    if (!this.#penalty.hasL1) return;
    const least = narrowest * scalars.widest;
    scalars.width = Math.max(least, Math.min(scalars.widest, scalars.width));
  }

  /** α and the curvatures at the iterate, whose intercept is made to suit them. */
  #findAlpha(): void {
    const { problem } = this.context;
    const { width } = this.scalars;
    if (!problem.intercept) {
      this.#loss.update(width);
      return;
    }
    const shift = this.#loss.balance(width);
    const { interceptPosition: position } = problem;
    if (this.state.isOwn(position)) this.#point.all[position] += shift;
    this.context.team.barrier();
  }

  /** What is the sum of many steps, from its own definition. */
  #refresh(): void {
    const { team } = this.context;
    team.barrier();
    this.#vectors.product(this.#point, this.#rows.margins);
    const { weights, margins } = this.#bestPoint;
    this.#vectors.product(this.#vectors.columns(weights), this.#vectors.rows(margins));
    const { highestAlpha, highestImage } = this.#memory;
    this.#transform(this.#vectors.rows(highestAlpha), this.#vectors.columns(highestImage));
  }

  /** image ← (1/W) Xᵀα */
  #transform(alpha: Vector, image: Vector): void {
    this.#vectors.transposed(alpha, image);
    this.#vectors.scale(image, 1 / this.context.problem.totalWeight, image);
    this.context.team.barrier();
  }

  /** The length of the step at which the smoothed objective is least. */
  #search(): number {
    const { weights, margins } = this.#step;
    const { width } = this.scalars;
    const [start] = this.#vectors.dots([this.#gradient, weights]);
    if (!(start < 0)) return 0;
    const penalty = this.#penalty.along(weights.all, width);
    const slopes = this.#loss.slopes(this.#rows.margins, margins, width, penalty);
    const [end] = slopes([1]);
    if (Math.abs(end) <= -flatness * start) return 1;
    return end > 0
      ? (rootOfRising(slopes, shorter, { low: [0, start], high: [1, end] }) as number)
      : (rootOfRising(slopes, longer, { low: [1, end] }) ?? 1);
  }

  override evaluate(_whole: boolean): Gap {
    this.#gap ??= this.#evaluate();
    return this.#gap;
  }

  #evaluate(): Gap {
    const { scalars } = this;
    this.#findAlpha();
    this.#differentiate();
    const { iterate, iterateMargins, alpha, image } = this.#memory;
    this.#best.take({ weights: iterate, margins: iterateMargins }, { alpha, image });
    if (scalars.steps > 0) scalars.ratio = this.#ratio();
    if (this.#penalty.hasL1) this.#offer();
    else scalars.offered = scalars.primal;
    this.#count();
    return { primal: scalars.offered, dual: scalars.dual };
  }

  /** The gradient of the smoothed objective, and the curvatures of the penalty. */
  #differentiate(): void {
    this.#transform(this.#rows.alpha, this.#image);
    this.#penalty.update(this.scalars.width);
    this.context.team.barrier();
  }

  /** How much of the gap is that of the smoothed problem. */
  #ratio(): number {
    const { team, problem } = this.context;
    const { width, primal, dual } = this.scalars;
    const { inverse } = this.#step;
    const [inner, slopes, rows] = team.reduce(3, (part, values) => {
      values[0] = this.#penalty.halfSquare(part, this.#penalty.hasL1 ? inverse.all : undefined);
      if (!this.#penalty.hasL1) return;
      values[1] = this.#penalty.distance(part, width);
      values[2] = this.#loss.distance(part);
    });
    if (!this.#penalty.hasL1) return inner / (primal - dual);
    // P − D is no measure where α has to be scaled: the distances to the centres are.
    return inner / (inner + slopes + (0.5 * width * rows) / problem.totalWeight);
  }

  /** Offers the best point; where it meets the tolerance, with exact zeros. */
  #offer(): void {
    const { objective, team, tolerance } = this.context;
    const { scalars } = this;
    const meets = (primal: number) => relativeGap({ primal, dual: scalars.dual }) <= tolerance;
    const isDense = !meets(scalars.primal) || scalars.dense > patience;
    if (!isDense) {
      const { weights, margins } = this.#memory;
      objective.copyColumns(this.#bestPoint.weights, weights);
      this.#penalty.settle(weights);
      team.barrier();
      this.#vectors.product(this.#vectors.columns(weights), this.#vectors.rows(margins));
      scalars.offered = objective.primal(weights, margins);
      if (meets(scalars.offered)) return;
      scalars.dense++;
      if (scalars.dense <= patience) return;
    }
    objective.copyPoint(this.#bestPoint, this);
    scalars.offered = scalars.primal;
    team.barrier();
  }

  override save() {
    return { ...super.save(), pairs: this.#step.pairs.size };
  }

  override restore({ pairs, ...rest }: ReturnType<ProximalPoint['save']>): void {
    super.restore(rest);
    this.#step.pairs.restore(pairs);
  }

  override arrays(): StateArray[] {
    const { hasL1, hasL2 } = this.#penalty;
    const { weights, margins, iterate, iterateMargins, centre, highestAlpha, highestImage } =
      this.#memory;
    const { least, leastMargins, slopeCentre, pull } = this.#memory;
    return stateArrays({
      row: { margins, iterateMargins, centre, highestAlpha, ...(hasL1 && { leastMargins }) },
      column: {
        weights,
        iterate,
        highestImage,
        inverse: this.#step.inverse.all,
        ...(hasL1 && { least, slopeCentre }),
        ...(!hasL2 && { pull }),
        ...this.#step.pairs.arrays(),
      },
    });
  }

  override resume(): void {
    const { primal, dual, offered } = this.scalars;
    this.#loss.update(this.scalars.width);
    this.#differentiate();
    this.#step.pairs.resume();
    this.#vectors.products = 0;
    if (primal < Infinity) this.#gap = { primal: offered, dual };
  }
}

export const proximalPoint: SolverCode<ProximalSettings, ProximalMemory> = {
  allocate: allocateProximal,
  create: (context, memory, _settings, loss) => new ProximalPoint(context, memory, loss),
};

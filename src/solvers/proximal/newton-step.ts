import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { reserve } from '../block-state.ts';
import type { SolverContext } from '../solver.ts';
import type { Vector, Vectors } from '../vectors/vectors.ts';
import { allocatePairs, QuasiNewton } from './quasi-newton.ts';

/** Conjugate gradients end when the residual's square has fallen to this share, or after this many steps. */
const enough = 0.25;
const mostSteps = 100;

export type StepMemory = ReturnType<typeof allocateStep>;

export function allocateStep(arena: Arena, partition: Partition, history: number) {
  const home = partition.columnOrder.length;
  return {
    ...reserve(arena, 'float64', partition.rowOrder.length, ['margins', 'product', 'weighted']),
    ...reserve(arena, 'float64', partition.bufferLength, ['direction', 'curved']),
    ...reserve(arena, 'float64', home, ['weights', 'residual', 'preconditioned', 'inverse']),
    pairs: allocatePairs(arena, partition, history),
  };
}

/** What a step is made of: the gradient, and the diagonals of the second derivative. */
export interface System {
  readonly gradient: Vector;
  /** Of the penalty. */
  readonly bend: Vector;
  /** Of the losses, c φ''. */
  readonly curvatures: Vector;
}

/**
 * A step of Newton's method, H s = −g with H = B + (1/W) Xᵀ diag(h) X, by conjugate gradients. An
 * intercept is eliminated: from every product t = X p its mean, weighted by h, is taken away.
 */
export class NewtonStep {
  /** The step, and the change of the margins along it. */
  readonly weights: Vector;
  readonly margins: Vector;
  readonly pairs: QuasiNewton;
  /** The inverse of the diagonal of an H, which may be of some steps ago. */
  readonly inverse: Vector;
  readonly #context: SolverContext;
  readonly #vectors: Vectors;
  readonly #system: System;
  readonly #direction: Vector;
  readonly #product: Vector;
  readonly #weighted: Vector;
  readonly #curved: Vector;
  readonly #residual: Vector;
  readonly #preconditioned: Vector;

  constructor(context: SolverContext, vectors: Vectors, memory: StepMemory, system: System) {
    this.#context = context;
    this.#vectors = vectors;
    this.#system = system;
    this.weights = vectors.columns(memory.weights);
    this.margins = vectors.rows(memory.margins);
    this.inverse = vectors.columns(memory.inverse);
    this.#direction = vectors.columns(memory.direction);
    this.#product = vectors.rows(memory.product);
    this.#weighted = vectors.rows(memory.weighted);
    this.#curved = vectors.columns(memory.curved);
    this.#residual = vectors.columns(memory.residual);
    this.#preconditioned = vectors.columns(memory.preconditioned);
    this.pairs = new QuasiNewton(vectors, memory.pairs, this.inverse);
  }

  /** The inverse of the diagonal, by one product. */
  refreshDiagonal(): void {
    const { bend, curvatures } = this.#system;
    const share = 1 / this.#context.problem.totalWeight;
    this.#vectors.transposedSquares(curvatures, this.#curved);
    this.#vectors.combine(this.inverse, bend, share, this.#curved);
    this.#vectors.invert(this.inverse, this.inverse);
    this.pairs.refresh();
  }

  /** Computes the step; two products for each step of conjugate gradients. */
  solve(): void {
    const vectors = this.#vectors;
    const [direction, residual, z] = [this.#direction, this.#residual, this.#preconditioned];
    this.weights.own.fill(0);
    this.margins.own.fill(0);
    vectors.scale(this.#system.gradient, -1, residual);
    this.pairs.apply(residual, z);
    vectors.copy(z, direction);
    let [square] = vectors.dots([residual, z]);
    const first = square;
    const weight = this.#context.problem.intercept ? vectors.sums(this.#system.curvatures)[0] : 0;
    let intercept = 0;
    for (let k = 0; k < mostSteps && square > 0; k++) {
      const { step, change } = this.pairs.next();
      const mean = this.#multiply(weight);
      const [bend] = vectors.dots([direction, this.#curved]);
      const length = square / bend;
      intercept -= length * mean;
      vectors.copy(direction, step);
      vectors.copy(this.#curved, change);
      vectors.combine(this.weights, this.weights, length, direction);
      vectors.combine(this.margins, this.margins, length, this.#product);
      vectors.combine(residual, residual, -length, change);
      this.pairs.apply(residual, z);
      const [next] = vectors.dots([residual, z]);
      if (next <= enough * first) break;
      vectors.combine(direction, z, next / square, direction);
      square = next;
    }
    this.pairs.take();
    this.#setIntercept(this.weights, intercept);
  }

  #setIntercept({ all }: Vector, value: number): void {
    const { team, problem } = this.#context;
    const { interceptPosition: position } = problem;
    const { columnStarts } = problem.grid.partition;
    if (position >= columnStarts[team.first] && position < columnStarts[team.end]) {
      all[position] = value;
    }
  }

  /** product ← X p less its mean, curved ← H p; returns the mean. `weight`: Σ h of the rows. */
  #multiply(weight: number): number {
    const vectors = this.#vectors;
    const { bend, curvatures } = this.#system;
    const { problem, team } = this.#context;
    vectors.product(this.#direction, this.#product);
    const mean = weight > 0 ? vectors.dots([this.#product, curvatures])[0] / weight : 0;
    const [t, p] = [this.#product.own, this.#direction.own];
    if (mean !== 0) for (let i = 0; i < t.length; i++) t[i] -= mean;
    vectors.multiply(this.#product, curvatures, this.#weighted);
    team.barrier();
    vectors.transposed(this.#weighted, this.#curved);
    const [hp, own] = [this.#curved.own, bend.own];
    for (let j = 0; j < hp.length; j++) hp[j] = hp[j] / problem.totalWeight + own[j] * p[j];
    // Without rounding errors it would be 0.
    this.#setIntercept(this.#curved, 0);
    return mean;
  }
}

import { softThreshold } from '../../math/scalars.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Point } from '../objective/objective.ts';
import type { SolverContext } from '../solver.ts';
import type { Vectors } from '../vectors/vectors.ts';
import { type Evaluate, rootOfRising } from './line-search.ts';
import type { SmoothedLoss } from './smoothed-loss.ts';

/** Shares tried first on the way from the better point to the other, whose P is no lower. */
const betweenShares = [-1 / 4, 0, 1 / 16, 1 / 4, 1 / 2];
/** Changes of the length of the weights tried first. */
const lengthShares = [-1 / 4, -1 / 32, 0, 1 / 32, 1 / 4];

/** A dual point by row, and (1/W) Xᵀα by column. */
export interface DualPoint {
  readonly alpha: Float64Array;
  readonly image: Float64Array;
}

export interface BestMemory {
  readonly primal: Point;
  readonly dual: DualPoint;
  /** Free between calls. */
  readonly change: Point;
  readonly trial: Point;
}

/** P and D of the best points. */
interface BestValues {
  primal: number;
  dual: number;
}

interface Tools {
  readonly context: SolverContext;
  readonly vectors: Vectors;
  readonly loss: Loss;
  readonly smoothed: SmoothedLoss;
}

/**
 * The best primal and the best dual point so far. Each iterate improves them on lines through both, where
 * images are linear: no search takes a product with the data. Every thread of the team calls take().
 */
export class BestPoints {
  readonly #context: SolverContext;
  readonly #vectors: Vectors;
  readonly #smoothed: SmoothedLoss;
  readonly #memory: BestMemory;
  readonly #values: BestValues;
  /** Whether D is a quadratic on every line. */
  readonly #isQuadratic: boolean;

  constructor(tools: Tools, memory: BestMemory, values: BestValues) {
    const { context, vectors, loss, smoothed } = tools;
    this.#context = context;
    this.#vectors = vectors;
    this.#smoothed = smoothed;
    this.#memory = memory;
    this.#values = values;
    const isQuadratic = loss.pieces === 1 || (loss.pieces === 2 && loss.parameter === 0);
    this.#isQuadratic = isQuadratic && !(context.problem.penalty.l1 > 0);
  }

  take(point: Point, dual: DualPoint): void {
    this.#takePrimal(point);
    this.#takeDual(dual);
  }

  #takePrimal(point: Point): void {
    const { objective, team } = this.#context;
    const { primal, change } = this.#memory;
    const found = objective.primal(point.weights, point.margins);
    const isFirst = this.#values.primal === Infinity;
    const isBetter = found < this.#values.primal;
    if (isBetter && !isFirst) this.#subtract(primal, point);
    if (!isBetter) this.#subtract(point, primal);
    if (isBetter) {
      objective.copyPoint(point, primal);
      this.#values.primal = found;
    }
    team.barrier();
    if (!isFirst) this.#minimise(change, betweenShares);
    this.#minimise(primal, lengthShares);
  }

  /** change ← other − better */
  #subtract(other: Point, better: Point): void {
    const { objective, kernels } = this.#context;
    const { change } = this.#memory;
    const columns = [change, other, better].map(({ weights }) => objective.ownColumns(weights));
    const rows = [change, other, better].map(({ margins }) => objective.ownRows(margins));
    kernels.combine(columns[0], columns[1], -1, columns[2]);
    kernels.combine(rows[0], rows[1], -1, rows[2]);
  }

  /** Moves the best point along a direction to where P is least. */
  #minimise(direction: Point, first: readonly number[]): void {
    const { objective, kernels, team } = this.#context;
    const { primal, trial } = this.#memory;
    const penalty = this.#penaltyAlong(direction.weights);
    const [from, to] = [primal.margins, direction.margins].map((all) => this.#vectors.rows(all));
    const share = rootOfRising(this.#smoothed.slopes(from, to, 0, penalty), first);
    if (share === undefined || share === 0) return;
    const columns = [trial, primal, direction].map(({ weights }) => objective.ownColumns(weights));
    const rows = [trial, primal, direction].map(({ margins }) => objective.ownRows(margins));
    kernels.combine(columns[0], columns[1], share, columns[2]);
    kernels.combine(rows[0], rows[1], share, rows[2]);
    team.barrier();
    const value = objective.primal(trial.weights, trial.margins);
    if (!(value < this.#values.primal)) return;
    objective.copyPoint(trial, primal);
    this.#values.primal = value;
    team.barrier();
  }

  /** Slopes of the penalty along a direction from the best point. */
  #penaltyAlong(direction: Float64Array): (block: number, share: number) => number {
    const { objective, problem, team } = this.#context;
    const { weights } = this.#memory.primal;
    const quadratic = new Map<number, Line>();
    const of = (block: number) =>
      [weights, direction, problem.l1, problem.l2].map((all) => objective.columnsOf(all, block));
    for (let block = team.first; block < team.end; block++) {
      const [w, d, , l2] = of(block);
      quadratic.set(block, quadraticLine(w, d, l2));
    }
    return (block, share) => {
      const { at, rise } = quadratic.get(block) as Line;
      let sum = at + share * rise;
      if (!(problem.penalty.l1 > 0)) return sum;
      const [w, d, l1] = of(block);
      for (let j = 0; j < w.length; j++) {
        const x = w[j] + share * d[j];
        sum += l1[j] * (x > 0 ? d[j] : x < 0 ? -d[j] : 0);
      }
      return sum;
    };
  }

  #takeDual(point: DualPoint): void {
    const { objective } = this.#context;
    const { dual } = this.#memory;
    const found = objective.dualOfImage(point.alpha, point.image);
    const isFirst = this.#values.dual === -Infinity;
    const share = isFirst ? 1 : this.#bestShare(point);
    if (share > 0 && share < 1) {
      this.#moveDual(point, share);
      this.#values.dual = objective.dualOfImage(dual.alpha, dual.image);
    } else if (isFirst || found > this.#values.dual) this.#copyDual(point, found);
  }

  #copyDual({ alpha, image }: DualPoint, value: number): void {
    const { objective, team } = this.#context;
    const { dual } = this.#memory;
    objective.ownRows(dual.alpha).set(objective.ownRows(alpha));
    objective.copyColumns(image, dual.image);
    this.#values.dual = value;
    team.barrier();
  }

  #moveDual({ alpha, image }: DualPoint, share: number): void {
    const { objective, kernels, team } = this.#context;
    const { dual } = this.#memory;
    const rows = [dual.alpha, alpha].map((all) => objective.ownRows(all));
    const columns = [dual.image, image].map((all) => objective.ownColumns(all));
    kernels.interpolate(rows[0], rows[0], rows[1], share);
    kernels.interpolate(columns[0], columns[0], columns[1], share);
    team.barrier();
  }

  /** Where D is greatest on the way from the best dual point to another one; 0 without a quadratic penalty. */
  #bestShare(point: DualPoint): number {
    if (!(this.#context.problem.penalty.l2 > 0)) return 0;
    const fall = this.#fallTowards(point);
    const [here, there] = fall([0, 1]);
    if (here >= 0) return 0;
    if (there <= 0) return 1;
    if (this.#isQuadratic) return here / (here - there);
    return rootOfRising(fall, [], { low: [0, here], high: [1, there] }) as number;
  }

  /** −dD/ds on the way to another dual point. */
  #fallTowards({ alpha, image }: DualPoint): Evaluate {
    const { objective, kernels, problem, team } = this.#context;
    const { dual } = this.#memory;
    return (shares) => {
      const sums = team.reduce(shares.length, (part, values) => {
        const rows = (array: Float64Array) => objective.rowsOf(array, part);
        const [a, b, y, c] = [dual.alpha, alpha, problem.labels, problem.rowWeights].map(rows);
        const columns = (array: Float64Array) => objective.columnsOf(array, part);
        const [v, to, l1, l2] = [dual.image, image, problem.l1, problem.l2].map(columns);
        for (const [k, share] of shares.entries()) {
          values[k] = -kernels.conjugateSlope(a, b, y, c, share) / problem.totalWeight;
          for (let j = 0; j < v.length; j++) {
            if (!(l2[j] > 0)) continue;
            const change = to[j] - v[j];
            values[k] += (softThreshold(v[j] + share * change, l1[j]) / l2[j]) * change;
          }
        }
      });
      return [...sums];
    };
  }
}

/** The slope of (1/2) Σ l2 x² along a line: its value at the beginning, and what it rises by to the end. */
export interface Line {
  readonly at: number;
  readonly rise: number;
}

function quadraticLine(w: Float64Array, d: Float64Array, l2: Float64Array): Line {
  let [at, rise] = [0, 0];
  for (let j = 0; j < w.length; j++) {
    at += l2[j] * w[j] * d[j];
    rise += l2[j] * d[j] * d[j];
  }
  return { at, rise };
}

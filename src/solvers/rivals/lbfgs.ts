import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { findFlat } from '../../math/line-search.ts';
import type { Gap } from '../objective/objective.ts';
import type { Problem } from '../objective/problem.ts';
import type { Method, SolverCode, SolverContext, WarmStart } from '../solver.ts';
import {
  allocateHistory,
  CurvatureHistory,
  type CurvaturePair,
  type Damped,
} from './curvature-history.ts';

/** A line search ends where the slope has fallen to this share. */
const flatness = 0.1;
/** Shares of a step that a search may try beyond its end, each up to ten times the last. */
const extensions = 30;
/** What P must fall by, as a share of what its slope promises, for a projected step (Armijo). */
const sufficient = 1e-4;
/** Projected steps tried along one direction. */
const projections = 25;
/** P may rise by rounding errors, relative to itself: a step of that kind can still lower the gap. */
const rounding = 1e-14;
/** Margins that interpolation has made this many times less exact are computed again. */
const stale = 100;

export interface LbfgsSettings {
  /** Pairs of steps and gradient changes that are remembered (default 10). */
  readonly history: number;
}

export type LbfgsMemory = ReturnType<typeof allocateLbfgs>;

export function allocateLbfgs(arena: Arena, partition: Partition, { history }: LbfgsSettings) {
  const rows = partition.rowOrder.length;
  const { bufferLength } = partition;
  const home = partition.columnOrder.length;
  return {
    margins: arena.float64(rows),
    nextMargins: arena.float64(rows),
    alpha: arena.float64(rows),
    weights: arena.float64(bufferLength),
    next: arena.float64(bufferLength),
    image: arena.float64(bufferLength),
    steepest: arena.float64(home),
    direction: arena.float64(home),
    pairs: allocateHistory(arena, partition, history),
  };
}

/**
 * Limited-memory BFGS (Liu and Nocedal 1989) for smooth losses, and OWL-QN (Andrew and Gao 2007)
 * where the penalty has an L1 part. An epoch is an iteration.
 *
 * The gradient of P's smooth part is l2 w − v, with v = (1/m) Σ α_i x_i and α_i = −ℓ'(u_i): the very
 * image that D(α) asks for, so that every iteration has its lower bound for nothing.
 *
 * Without L1 the margins of w + d are computed once and the search along d, by slopes of P, costs
 * no further pass. With L1 the steepest descent is the pseudo-gradient's, d keeps its signs, and
 * the step is cut off where a weight would leave its orthant, which asks for a pass per try.
 */
export class Lbfgs implements Method {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
  passes = 0;
  readonly polish = 0;
  readonly combinesIterates = false;
  readonly #context: SolverContext;
  readonly #memory: LbfgsMemory;
  readonly #history: CurvatureHistory;
  readonly #orthants: boolean;
  /** How far the errors of the margins may have grown, in units of one computation's. */
  #staleness = 1;
  /** That of the margins at `next`. */
  #nextStaleness = 1;
  #primal: number;
  /** No direction leads down any more: the optimum, to rounding. */
  #resting = false;

  constructor(context: SolverContext, memory: LbfgsMemory) {
    const { objective, problem, team } = context;
    this.#context = context;
    this.#memory = memory;
    this.weights = memory.weights;
    this.margins = memory.margins;
    this.#orthants = problem.penalty.l1 > 0;
    const columnsOf = (array: Float64Array, block: number) => objective.columnsOf(array, block);
    this.#history = new CurvatureHistory(team, columnsOf, memory.pairs, interceptOf(problem));
    if (context.start) this.#startFrom(context.start);
    this.#primal = objective.primal(this.weights, this.margins);
    this.#differentiate();
  }

  get dualPoint(): Float64Array {
    return this.#memory.alpha;
  }

  #startFrom(start: WarmStart): void {
    const { objective, team } = this.#context;
    for (let block = team.first; block < team.end; block++) {
      const weights = objective.columnsOf(this.weights, block);
      weights.set(objective.columnsOf(start.weights, block));
    }
    objective.margins(this.weights, this.margins);
    this.passes++;
  }

  epoch(): void {
    if (this.#resting || this.#step()) return;
    // The history misleads; without it the direction is steepest descent.
    const known = this.#history.size > 0;
    this.#history.clear();
    this.#resting = !(known && this.#step());
  }

  /** One iteration; false, and nothing has changed, when no point with a smaller P was found. */
  #step(): boolean {
    const { objective, team } = this.#context;
    const { weights, margins, next, nextMargins } = this.#memory;
    this.#aim();
    const primal = this.#orthants ? this.#searchOrthant() : this.#searchLine();
    if (primal === undefined) return false;
    const pair = this.#history.next();
    this.#addPoint(pair, -1, true);
    for (let part = team.first; part < team.end; part++) {
      objective.columnsOf(weights, part).set(objective.columnsOf(next, part));
      objective.rowsOf(margins, part).set(objective.rowsOf(nextMargins, part));
    }
    team.barrier();
    this.#primal = primal;
    this.#refresh();
    this.#differentiate();
    this.#addPoint(pair, 1, false);
    this.#history.add();
    return true;
  }

  /** α and its image at the current point. */
  #differentiate(): void {
    const { kernels, objective, problem, team } = this.#context;
    const { margins, alpha, image } = this.#memory;
    for (let worker = team.first; worker < team.end; worker++) {
      const u = objective.rowsOf(margins, worker);
      const y = objective.rowsOf(problem.labels, worker);
      const c = objective.rowsOf(problem.rowWeights, worker);
      kernels.dualPoint(u, y, c, 0, u.length, objective.rowsOf(alpha, worker));
    }
    objective.image(alpha, image);
    this.passes++;
  }

  #refresh(): void {
    if (this.#staleness <= stale) return;
    const { objective } = this.#context;
    objective.margins(this.weights, this.margins);
    this.#primal = objective.primal(this.weights, this.margins);
    this.#staleness = 1;
    this.passes++;
  }

  /** Adds sign · (w, gradient of P's smooth part) to what a pair holds, or to zero. */
  #addPoint({ step, change }: CurvaturePair, sign: -1 | 1, fresh: boolean): void {
    const { problem, team } = this.#context;
    const { weights, image } = this.#memory;
    const { columnStarts } = problem.grid.partition;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      const gradient = problem.l2[j] * weights[j] - image[j];
      step[j] = (fresh ? 0 : step[j]) + sign * weights[j];
      change[j] = (fresh ? 0 : change[j]) + sign * gradient;
    }
  }

  /** The steepest descent, and the direction H makes of it. */
  #aim(): void {
    const { problem, team } = this.#context;
    const { weights, image, steepest, direction } = this.#memory;
    const { columnStarts } = problem.grid.partition;
    const begin = columnStarts[team.first];
    const end = columnStarts[team.end];
    for (let j = begin; j < end; j++) {
      const gradient = problem.l2[j] * weights[j] - image[j];
      steepest[j] = -pseudoGradient(gradient, weights[j], problem.l1[j]);
      direction[j] = steepest[j];
    }
    this.#history.apply(direction);
    for (let j = begin; j < end; j++) {
      // Where H turns a component round, OWL-QN leaves it out.
      if (problem.l1[j] > 0 && !(direction[j] * steepest[j] > 0)) direction[j] = 0;
    }
  }

  /** next ← w + share · d, cut off at the borders of the orthant if asked for. */
  #advance(share: number, projected: boolean): void {
    const { objective, problem, team } = this.#context;
    const { weights, next, nextMargins, steepest, direction } = this.#memory;
    const { columnStarts } = problem.grid.partition;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      const moved = weights[j] + share * direction[j];
      const orthant = weights[j] === 0 ? steepest[j] : weights[j];
      next[j] = projected && problem.l1[j] > 0 && !(moved * orthant > 0) ? 0 : moved;
    }
    objective.margins(next, nextMargins);
    this.passes++;
  }

  /** The minimiser on the ray along d: P there, or undefined. */
  #searchLine(): number | undefined {
    this.#advance(1, false);
    this.#nextStaleness = 1;
    const most = this.#primal + rounding * Math.abs(this.#primal);
    const primal = this.#retreat(this.#minimise(extensions, flatness));
    // A slope that is flat for what it was at the start may yet be that of a higher point.
    const found = primal <= most ? primal : this.#retreat(this.#minimise(0, 0));
    if (!(found <= most)) return undefined;
    this.#staleness = this.#nextStaleness;
    return found;
  }

  /** next ← w + share · (next − w), and P there; Infinity for no share. */
  #retreat(share: number): number {
    if (!(share > 0)) return Infinity;
    const { kernels, objective, team } = this.#context;
    const { weights, margins, next, nextMargins } = this.#memory;
    for (let part = team.first; part < team.end; part++) {
      const w = objective.columnsOf(next, part);
      const u = objective.rowsOf(nextMargins, part);
      kernels.interpolate(w, objective.columnsOf(weights, part), w, share);
      kernels.interpolate(u, objective.rowsOf(margins, part), u, share);
    }
    this.#nextStaleness = Math.abs(1 - share) * this.#staleness + share * this.#nextStaleness;
    return objective.primal(next, nextMargins);
  }

  /** The first of ever shorter projected steps that lowers P enough: P there, or undefined. */
  #searchOrthant(): number | undefined {
    const { objective } = this.#context;
    const { next, nextMargins } = this.#memory;
    let share = 1;
    if (this.#history.size === 0) {
      // Nothing is known of the scale yet.
      this.#advance(1, false);
      share = this.#minimise(extensions, 0);
    }
    for (let tries = 0; share > 0 && tries < projections; tries++) {
      this.#advance(share, true);
      const primal = objective.primal(next, nextMargins);
      const promised = sufficient * this.#slope(0);
      if (promised < 0 && primal <= this.#primal + promised + rounding * Math.abs(this.#primal)) {
        return primal;
      }
      share *= Math.max(0.1, Math.min(0.5, this.#minimise(0, 0)));
    }
    return undefined;
  }

  /**
   * The share of w → next where P is least: there its slope is at most `flatness` of that at the
   * start if P still falls, and at most `rise` of it otherwise. 0 if P does not fall at all.
   */
  #minimise(longer: number, rise: number): number {
    const descent = (share: number) => -this.#slope(share);
    const atStart = descent(0);
    if (!(atStart > 0)) return 0;
    const goal = flatness * atStart;
    const least = -rise * atStart;
    let low = 0;
    let atLow = atStart;
    let high = 1;
    let atHigh = descent(1);
    for (let k = 0; k < longer && atHigh > goal; k++) {
      const secant = (atLow * high - atHigh * low) / (atLow - atHigh);
      const farther = secant > 2 * high ? Math.min(secant, 10 * high) : 2 * high;
      [low, atLow] = [high, atHigh];
      high = farther;
      atHigh = descent(high);
    }
    if (atHigh >= least) return high;
    return findFlat(descent, [low, atLow], [high, atHigh], [least, goal]);
  }

  /** d/ds of P at w + s (next − w). */
  #slope(share: number): number {
    const { kernels, objective, problem, team } = this.#context;
    const { weights, margins, next, nextMargins } = this.#memory;
    const [loss, penalty] = team.reduce(2, (part, values) => {
      const from = objective.rowsOf(margins, part);
      const labels = objective.rowsOf(problem.labels, part);
      const to = objective.rowsOf(nextMargins, part);
      const rowWeights = objective.rowsOf(problem.rowWeights, part);
      values[0] = kernels.lossSlope(from, to, labels, rowWeights, 0, from.length, share);
      values[1] = kernels.penaltySlope(
        objective.columnsOf(weights, part),
        objective.columnsOf(next, part),
        objective.columnsOf(problem.l1, part),
        objective.columnsOf(problem.l2, part),
        share,
      );
    });
    return loss / problem.totalWeight + penalty;
  }

  evaluate(whole: boolean): Gap {
    return { primal: this.#primal, dual: this.#dual(whole) };
  }

  /** An intercept asks for a shifted α, whose image has to be computed. */
  #dual(whole: boolean): number {
    const { objective, problem } = this.#context;
    const { alpha, image } = this.#memory;
    if (!problem.intercept) return objective.dualOfImage(alpha, image);
    return whole ? objective.dual(alpha) : -Infinity;
  }

  /** The image behind every bound was computed from scratch. */
  certify(bound: number): number {
    return bound;
  }

  save() {
    return {
      passes: this.passes,
      primal: this.#primal,
      staleness: this.#staleness,
      resting: this.#resting,
      history: this.#history.save(),
    };
  }

  restore(saved: ReturnType<Lbfgs['save']>): void {
    this.passes = saved.passes;
    this.#primal = saved.primal;
    this.#staleness = saved.staleness;
    this.#resting = saved.resting;
    this.#history.restore(saved.history);
  }

  arrays(): StateArray[] {
    const { margins, weights } = this.#memory;
    return stateArrays({ row: { margins }, column: { weights, ...this.#history.arrays() } });
  }

  /** Work that was counted before. */
  resume(): void {
    const { passes } = this;
    this.#differentiate();
    this.passes = passes;
  }
}

/**
 * The intercept's column is full where the others are sparse, and its curvature is larger by about
 * as much: H₀ is smaller there, by three times the density, which measured best on text.
 */
function interceptOf({
  interceptPosition: position,
  grid,
  nonzeros,
  rows,
  columns,
}: Problem): Damped {
  const block =
    position < 0 ? -1 : grid.partition.columnStarts.findLastIndex((from) => from <= position);
  return { position, block, factor: Math.min(1, (3 * nonzeros) / (rows * columns)) };
}

/** The slope of P along a column on the side where P falls faster, 0 where it rises on both. */
function pseudoGradient(gradient: number, w: number, l1: number): number {
  if (w > 0) return gradient + l1;
  if (w < 0) return gradient - l1;
  if (gradient + l1 < 0) return gradient + l1;
  return gradient - l1 > 0 ? gradient - l1 : 0;
}

export const lbfgs: SolverCode<LbfgsSettings, LbfgsMemory> = {
  allocate: allocateLbfgs,
  create: (context, memory) => new Lbfgs(context, memory),
};

import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { findFlat } from '../../math/line-search.ts';
import { BlockMethod, BlockState, reserve } from '../block-state.ts';
import type { Gap, Point } from '../objective/objective.ts';
import type { Problem } from '../objective/problem.ts';
import type { SolverContext } from '../solver.ts';
import {
  allocateHistory,
  CurvatureHistory,
  type CurvaturePair,
  type Damped,
} from './curvature-history.ts';

/** A line search ends where the slope has fallen to this share. */
const flatness = 0.1;
/** Shares of a step that a search may try beyond its end, each up to ten times the last. */
export const extensions = 30;
/** P may rise by rounding errors, relative to itself: a step of that kind can still lower the gap. */
export const rounding = 1e-14;
/** Margins that interpolation has made this many times less exact are computed again. */
const stale = 100;

export interface LbfgsSettings {
  /** Pairs of steps and gradient changes that are remembered (default 10). */
  readonly history: number;
}

export type LbfgsMemory = ReturnType<typeof allocateLbfgs>;

export function allocateLbfgs(arena: Arena, partition: Partition, { history }: LbfgsSettings) {
  const rows = partition.rowOrder.length;
  const home = partition.columnOrder.length;
  return {
    ...reserve(arena, 'float64', rows, ['margins', 'nextMargins', 'alpha']),
    ...reserve(arena, 'float64', partition.bufferLength, ['weights', 'next', 'image']),
    ...reserve(arena, 'float64', home, ['steepest', 'direction']),
    pairs: allocateHistory(arena, partition, history),
  };
}

/**
 * Limited-memory BFGS (Liu and Nocedal 1989) for smooth losses. An epoch is an iteration.
 *
 * The gradient of P's smooth part is l2 w − v, with v = (1/m) Σ α_i x_i and α_i = −ℓ'(u_i): the
 * image that D(α) needs, so every iteration has its lower bound without further work.
 *
 * The margins of w + d are computed once, and the search along d, by slopes of P, needs no further
 * pass. Where the penalty has an L1 part the search is another one, see OwlQn.
 */
export class Lbfgs extends BlockMethod {
  /** `staleness`: how far the errors of the margins may have grown, in units of one computation's. */
  protected override readonly scalars = {
    primal: 0,
    staleness: 1,
    /** No direction leads down any more: the optimum, to rounding. */
    resting: false,
  };
  protected readonly memory: LbfgsMemory;
  protected readonly history: CurvatureHistory;
  /** The point that a search goes to. */
  protected readonly next: Point;
  #nextStaleness = 1;

  constructor(context: SolverContext, memory: LbfgsMemory) {
    super(new BlockState(context), memory, memory.alpha);
    const { objective, problem, team, start } = context;
    this.memory = memory;
    this.next = { weights: memory.next, margins: memory.nextMargins };
    const columnsOf = (array: Float64Array, block: number) => objective.columnsOf(array, block);
    this.history = new CurvatureHistory(team, columnsOf, memory.pairs, interceptOf(problem));
    if (start) this.startAt(start);
    this.scalars.primal = objective.primal(this.weights, this.margins);
    this.#differentiate();
  }

  epoch(): void {
    if (this.scalars.resting || this.#step()) return;
    // The history misleads; without it the direction is steepest descent.
    const known = this.history.size > 0;
    this.history.clear();
    this.scalars.resting = !(known && this.#step());
  }

  /** One iteration; false, and nothing has changed, when no point with a smaller P was found. */
  #step(): boolean {
    const { objective, team } = this.context;
    this.#chooseDirection();
    const primal = this.search();
    if (primal === undefined) return false;
    const pair = this.history.next();
    this.#addPoint(pair, -1, true);
    objective.copyPoint(this.next, this);
    team.barrier();
    this.scalars.primal = primal;
    this.#refresh();
    this.#differentiate();
    this.#addPoint(pair, 1, false);
    this.history.add();
    return true;
  }

  /** α and its image at the current point. */
  #differentiate(): void {
    const { alpha, image } = this.memory;
    this.context.objective.dualPoint(this.margins, alpha);
    this.context.objective.image(alpha, image);
    this.passes++;
  }

  #refresh(): void {
    if (this.scalars.staleness <= stale) return;
    const { objective } = this.context;
    objective.margins(this.weights, this.margins);
    this.scalars.primal = objective.primal(this.weights, this.margins);
    this.scalars.staleness = 1;
    this.passes++;
  }

  /** Adds sign · (w, gradient of P's smooth part) to what a pair holds, or to zero. */
  #addPoint({ step, change }: CurvaturePair, sign: -1 | 1, fresh: boolean): void {
    const { l2 } = this.context.problem;
    const { weights, image } = this.memory;
    const [begin, end] = this.state.ownColumns;
    for (let j = begin; j < end; j++) {
      const gradient = l2[j] * weights[j] - image[j];
      step[j] = (fresh ? 0 : step[j]) + sign * weights[j];
      change[j] = (fresh ? 0 : change[j]) + sign * gradient;
    }
  }

  /** The steepest descent, and the direction H makes of it. */
  #chooseDirection(): void {
    const { l1, l2 } = this.context.problem;
    const { weights, image, steepest, direction } = this.memory;
    const [begin, end] = this.state.ownColumns;
    for (let j = begin; j < end; j++) {
      const gradient = l2[j] * weights[j] - image[j];
      steepest[j] = -pseudoGradient(gradient, weights[j], l1[j]);
      direction[j] = steepest[j];
    }
    this.history.apply(direction);
    for (let j = begin; j < end; j++) {
      // Where H turns a component round, OWL-QN leaves it out.
      if (l1[j] > 0 && !(direction[j] * steepest[j] > 0)) direction[j] = 0;
    }
  }

  /** next ← w + share · d */
  protected advance(share: number): void {
    const { weights, next, nextMargins, direction } = this.memory;
    const [begin, end] = this.state.ownColumns;
    for (let j = begin; j < end; j++) next[j] = weights[j] + share * direction[j];
    this.context.objective.margins(next, nextMargins);
    this.passes++;
  }

  /** The minimiser on the ray along d, as `next`: P there, or undefined. */
  protected search(): number | undefined {
    const { primal } = this.scalars;
    this.advance(1);
    this.#nextStaleness = 1;
    const most = primal + rounding * Math.abs(primal);
    const flat = this.#retreat(this.minimise(extensions, flatness));
    // A slope that is flat for what it was at the start may yet be that of a higher point.
    const found = flat <= most ? flat : this.#retreat(this.minimise(0, 0));
    if (!(found <= most)) return undefined;
    this.scalars.staleness = this.#nextStaleness;
    return found;
  }

  /** next ← w + share · (next − w), and P there; Infinity for no share. */
  #retreat(share: number): number {
    if (!(share > 0)) return Infinity;
    const { objective } = this.context;
    objective.interpolate(this.next, this, this.next, share);
    this.#nextStaleness =
      Math.abs(1 - share) * this.scalars.staleness + share * this.#nextStaleness;
    return objective.primal(this.next.weights, this.next.margins);
  }

  /**
   * The share of w → next where P is least: there its slope is at most `flatness` of that at the
   * start if P still falls, and at most `rise` of it otherwise. 0 if P does not fall at all.
   */
  protected minimise(longer: number, rise: number): number {
    const descent = (share: number) => -this.slope(share);
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
  protected slope(share: number): number {
    return this.context.objective.primalSlope(this, this.next, share);
  }

  override evaluate(whole: boolean): Gap {
    return { primal: this.scalars.primal, dual: this.#dual(whole) };
  }

  /** An intercept needs a shifted α, whose image has to be computed. */
  #dual(whole: boolean): number {
    const { objective, problem } = this.context;
    const { alpha, image } = this.memory;
    if (!problem.intercept) return objective.dualOfImage(alpha, image);
    return whole ? objective.dual(alpha) : -Infinity;
  }

  override save() {
    return { ...super.save(), history: this.history.save() };
  }

  override restore({ history, ...rest }: ReturnType<Lbfgs['save']>): void {
    super.restore(rest);
    this.history.restore(history);
  }

  override arrays(): StateArray[] {
    const { margins, weights } = this.memory;
    return stateArrays({ row: { margins }, column: { weights, ...this.history.arrays() } });
  }

  /** Work that was counted before. */
  override resume(): void {
    const { passes } = this;
    this.#differentiate();
    this.passes = passes;
  }
}

/**
 * The intercept's column is full where the others are sparse, and its curvature is larger by about
 * as much: H₀ is smaller there, by three times the density, which measured best on text.
 */
function interceptOf({ interceptPosition: position, ...problem }: Problem): Damped {
  const { grid, nonzeros, rows, columns } = problem;
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

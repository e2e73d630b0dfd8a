import type { Loss } from '../../problem/losses/loss.ts';
import { type Point, relativeGap } from '../objective/objective.ts';
import type { SolverContext } from '../solver.ts';
import type { ColumnPart } from './columns.ts';
import type { RowPart } from './rows.ts';

/** How much more than 1 a factor of the weights may be: margins that rounding left below 1. */
const stretches = [1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3];
/** Room in the dual constraint, as a share of κ, that takes a weight for 0, tried in turn; 0: all are. */
const endShares = [0.02, 0.1, 0.3, 0.6];
const zeroShares = [0, ...endShares];
/** Evaluations that meet the tolerance, but not with exact zeros, before weights stay as they are. */
const patience = 10;

/** A gap that falls by less than this share stays. */
const fall = 1e-3;

/** P of the point that is offered, the best D, and evaluations that met the tolerance without zeros. */
export interface OfferState {
  offered: number;
  best: number;
  dense: number;
  /** The least gap, and the steps since. */
  least: number;
  idle: number;
}

export function noOffer(): OfferState {
  return { offered: Infinity, best: -Infinity, dense: 0, least: Number.MAX_VALUE, idle: 0 };
}

interface Parts {
  readonly rows: readonly RowPart[];
  readonly columns: readonly ColumnPart[];
}

interface Memory extends Point {
  readonly trial: Float64Array;
  readonly trialMargins: Float64Array;
}

/**
 * The point that an interior point method offers as its result: the best iterate, or a multiple of
 * one, and with an L1 penalty one with exact zeros. Every thread of the team calls take().
 */
export class OfferedPoint {
  readonly #context: SolverContext;
  readonly #loss: Loss;
  readonly #point: Point;
  readonly #trial: Point;
  readonly #parts: Parts;
  readonly #state: OfferState;

  constructor(
    context: SolverContext,
    loss: Loss,
    { weights, margins, trial, trialMargins }: Memory,
    parts: Parts,
    state: OfferState,
  ) {
    this.#context = context;
    this.#loss = loss;
    this.#point = { weights, margins };
    this.#trial = { weights: trial, margins: trialMargins };
    this.#parts = parts;
    this.#state = state;
  }

  /** Looks at an iterate, its P and the bound of its slopes; returns the passes that took. */
  take(iterate: Point, primal: number, dual: number): number {
    const { problem } = this.#context;
    this.#state.best = Math.max(this.#state.best, dual);
    let passes = 0;
    if ((problem.penalty.l1 > 0 || problem.box) && this.#meets(primal)) {
      passes = this.#settle(primal);
      // The first point is offered even so.
      if (this.#state.dense <= patience && this.#state.offered < Infinity) return passes;
    }
    if (primal < this.#state.offered) this.#copy(iterate, primal);
    else if (this.#canStretch) this.#stretch(iterate);
    return passes;
  }

  /** Counts the steps since the gap has fallen, up to P of an iterate that has overflowed. */
  watch(primal: number): void {
    const state = this.#state;
    const gap = state.offered - state.best;
    if (!(primal < Infinity)) state.idle = Number.MAX_VALUE;
    else if (gap < (1 - fall) * state.least) Object.assign(state, { least: gap, idle: 0 });
    else state.idle++;
  }

  /** Whether the gap has not fallen for this many steps. */
  isIdle(steps: number): boolean {
    return this.#state.idle >= steps;
  }

  #meets(primal: number): boolean {
    return relativeGap({ primal, dual: this.#state.best }) <= this.#context.tolerance;
  }

  #copy(point: Point, primal: number): void {
    this.#context.objective.copyPoint(point, this.#point);
    this.#context.team.barrier();
    this.#state.offered = primal;
  }

  /**
   * Offers the weights with exact zeros where the tolerance allows it, all of them where P is no higher
   * then; returns the passes it took.
   */
  #settle(iterate: number): number {
    const { objective, team, problem } = this.#context;
    const { weights, margins } = this.#trial;
    const shares = problem.penalty.l1 > 0 ? zeroShares : endShares;
    for (const [tries, share] of shares.entries()) {
      for (const [k, part] of this.#parts.columns.entries()) {
        part.settle(objective.columnsOf(weights, team.first + k), share);
      }
      team.barrier();
      objective.margins(weights, margins);
      const primal = objective.primal(weights, margins);
      if (share === 0 ? !(primal <= iterate) : !this.#meets(primal)) continue;
      this.#copy(this.#trial, primal);
      return tries + 1;
    }
    this.#state.dense++;
    return shares.length;
  }

  get #canStretch(): boolean {
    const { problem } = this.#context;
    return this.#loss.task === 'classification' && !this.#loss.openEnds && !problem.box;
  }

  /**
   * Offers a point times a number a little above 1 if that is better: on separable data what rounding
   * leaves of the losses costs more than the penalty.
   */
  #stretch({ weights, margins }: Point): void {
    const { team, problem, objective } = this.#context;
    const { value, parameter } = this.#loss;
    const found = team.reduce(2 + stretches.length, (part, values) => {
      const columns = (array: Float64Array) => objective.columnsOf(array, part);
      const [w, l1, l2] = [weights, problem.l1, problem.l2].map(columns);
      for (let j = 0; j < w.length; j++) {
        values[0] += l1[j] * Math.abs(w[j]);
        values[1] += 0.5 * l2[j] * w[j] * w[j];
      }
      const u = objective.rowsOf(margins, part);
      const { labels, shares } = this.#parts.rows[part - team.first];
      for (let i = 0; i < u.length; i++) {
        if (shares[i] === 0) continue;
        for (let k = 0; k < stretches.length; k++) {
          values[2 + k] += shares[i] * value((1 + stretches[k]) * u[i], labels[i], parameter);
        }
      }
    });
    let best = 0;
    const primalAt = (k: number) =>
      (1 + stretches[k]) * (found[0] + (1 + stretches[k]) * found[1]) + found[2 + k];
    for (let k = 1; k < stretches.length; k++) if (primalAt(k) < primalAt(best)) best = k;
    if (!(primalAt(best) < this.#state.offered)) return;
    const { kernels } = this.#context;
    const factor = 1 + stretches[best];
    const scale = (from: Float64Array, to: Float64Array) => kernels.scaleInto(from, to, factor);
    scale(objective.ownColumns(weights), objective.ownColumns(this.#trial.weights));
    scale(objective.ownRows(margins), objective.ownRows(this.#trial.margins));
    team.barrier();
    const primal = objective.primal(this.#trial.weights, this.#trial.margins);
    if (primal < this.#state.offered) this.#copy(this.#trial, primal);
  }
}

import type { Team } from '../../engine/team.ts';
import { rootOfFalling } from '../../math/line-search.ts';
import type { Objective } from './objective.ts';

/** Evaluations of the slope that a search may take. */
const searchSteps = 8;

/**
 * The best primal point seen so far. The iterates of a dual method swing about the optimum, and the
 * segment from the best point to a new one usually holds a better point than either end. With the
 * margins of both at hand the search costs no pass over the data. P there never rises; it
 * begins at w = 0, where the arrays are when they are new, unless goTo() puts it elsewhere.
 */
export class BestPoint {
  readonly weights: Float64Array;
  readonly #margins: Float64Array;
  readonly #objective: Objective;
  readonly #team: Team;
  #fresh = false;

  constructor(weights: Float64Array, margins: Float64Array, objective: Objective, team: Team) {
    this.weights = weights;
    this.#margins = margins;
    this.#objective = objective;
    this.#team = team;
  }

  /** Goes to the best point between here and (w, its margins); returns the share of w taken. */
  take(weights: Float64Array, margins: Float64Array): number {
    const share = this.#fresh ? 1 : this.#search(weights, margins);
    this.#fresh = false;
    if (share > 0) {
      for (let part = this.#team.first; part < this.#team.end; part++) {
        const objective = this.#objective;
        this.#move(
          objective.columnsOf(this.weights, part),
          objective.columnsOf(weights, part),
          share,
        );
        this.#move(objective.rowsOf(this.#margins, part), objective.rowsOf(margins, part), share);
      }
      this.#objective.keepInBox(this.weights);
    }
    this.#team.barrier();
    return share;
  }

  /** Goes to w itself: for solvers whose result is to be one of their iterates. */
  replace(weights: Float64Array, margins: Float64Array): void {
    this.#fresh = true;
    this.take(weights, margins);
  }

  /** Goes to w wherever it comes from; its margins take a rotation. */
  goTo(weights: Float64Array): void {
    for (let part = this.#team.first; part < this.#team.end; part++) {
      const here = this.#objective.columnsOf(this.weights, part);
      here.set(this.#objective.columnsOf(weights, part));
    }
    this.#objective.margins(this.weights, this.#margins);
  }

  /** P here. */
  primal(): number {
    return this.#objective.primal(this.weights, this.#margins);
  }

  /** P here, from the weights and the data alone. */
  primalAfresh(): number {
    this.#objective.margins(this.weights, this.#margins);
    return this.primal();
  }

  #search(weights: Float64Array, margins: Float64Array): number {
    const descent = (share: number) => -this.#slope(weights, margins, share);
    const atHere = descent(0);
    if (!(atHere > 0)) return 0;
    const atThere = descent(1);
    if (atThere >= 0) return 1;
    // P is convex, so it is no higher than here wherever it still falls. The search aims at such a
    // point: at a corner (hinge, L1) the last one tried may lie well beyond the minimum.
    const goal = 1e-2 * atHere;
    let falling = 0;
    const aim = (share: number) => {
      const value = descent(share);
      if (value >= 0) falling = Math.max(falling, share);
      return value - goal;
    };
    rootOfFalling(aim, [0, atHere - goal], [1, atThere - goal], goal, searchSteps);
    return falling;
  }

  /** d/ds of P at here + s (there − here). */
  #slope(weights: Float64Array, margins: Float64Array, share: number): number {
    const { problem, kernels } = this.#objective;
    const [loss, penalty] = this.#team.reduce(2, (part, values) => {
      const from = this.#objective.rowsOf(this.#margins, part);
      const to = this.#objective.rowsOf(margins, part);
      const labels = this.#objective.rowsOf(problem.labels, part);
      const rowWeights = this.#objective.rowsOf(problem.rowWeights, part);
      values[0] = kernels.lossSlope(from, to, labels, rowWeights, 0, from.length, share);
      values[1] = this.#penaltySlope(weights, part, share);
    });
    return loss / problem.totalWeight + penalty;
  }

  #penaltySlope(weights: Float64Array, block: number, share: number): number {
    const { problem } = this.#objective;
    const from = this.#objective.columnsOf(this.weights, block);
    const to = this.#objective.columnsOf(weights, block);
    const l1 = this.#objective.columnsOf(problem.l1, block);
    const l2 = this.#objective.columnsOf(problem.l2, block);
    return this.#objective.kernels.penaltySlope(from, to, l1, l2, share);
  }

  #move(from: Float64Array, to: Float64Array, share: number): void {
    if (share === 1) from.set(to);
    else this.#objective.kernels.interpolate(from, from, to, share);
  }
}

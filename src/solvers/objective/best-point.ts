import type { Team } from '../../engine/team.ts';
import { rootOfFalling } from '../../math/line-search.ts';
import type { Objective, Point } from './objective.ts';

/** Evaluations of the slope that a search may take. */
const searchSteps = 8;
const ends = [0, 1];

/**
 * The best primal point seen so far. The iterates of a dual method swing about the optimum, and the
 * segment from the best point to a new one usually holds a better point than either end. With the
 * margins of both at hand the search costs no pass over the data. P there never rises. It
 * begins at w = 0, where new arrays are, unless goTo() moves it.
 */
export class BestPoint implements Point {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
  readonly #objective: Objective;
  readonly #team: Team;

  constructor({ weights, margins }: Point, objective: Objective, team: Team) {
    this.weights = weights;
    this.margins = margins;
    this.#objective = objective;
    this.#team = team;
  }

  /** Goes to the best point between here and `point`; returns the share of the way. */
  take(point: Point): number {
    const share = this.#search(point);
    if (share === 1) this.#objective.copyPoint(point, this);
    else if (share > 0) this.#objective.interpolate(this, this, point, share);
    if (share > 0) this.#objective.keepInBox(this.weights);
    this.#team.barrier();
    return share;
  }

  /** Goes to the point itself: for solvers whose result must be one of their iterates. */
  replace(point: Point): void {
    this.#objective.copyPoint(point, this);
    this.#objective.keepInBox(this.weights);
    this.#team.barrier();
  }

  /** Goes to w wherever it comes from; its margins take a rotation. */
  goTo(weights: Float64Array): void {
    this.#objective.copyColumns(weights, this.weights);
    this.#objective.margins(this.weights, this.margins);
  }

  /** The model's intercept is larger by `centre`: rounds it to what the sum of both will be. */
  roundIntercept(centre: number): void {
    const { problem } = this.#objective;
    const { interceptPosition: position } = problem;
    const { columnStarts } = problem.grid.partition;
    const { first, end } = this.#team;
    const isOwn = position >= columnStarts[first] && position < columnStarts[end];
    if (centre !== 0 && isOwn) {
      this.weights[position] = this.weights[position] + centre - centre;
    }
    this.#team.barrier();
  }

  /** P here. */
  primal(): number {
    return this.#objective.primal(this.weights, this.margins);
  }

  /** P here, from the weights and the data alone. */
  primalAfresh(): number {
    this.#objective.margins(this.weights, this.margins);
    return this.primal();
  }

  #search(point: Point): number {
    const [loss, penalty, lossThere, penaltyThere] = this.#objective.slopeParts(this, point, ends);
    const atHere = -(loss + penalty);
    if (!(atHere > 0)) return 0;
    const atThere = -(lossThere + penaltyThere);
    if (atThere >= 0) return 1;
    const bend = penaltyThere - penalty;
    const isStraight = !(this.#objective.problem.penalty.l1 > 0);
    const descent = (share: number) => {
      const [here, there] = this.#objective.slopeParts(this, point, [share], !isStraight);
      return -(here + (isStraight ? penalty + share * bend : there));
    };
    // P is convex, so it is no higher than here wherever it still falls. The search aims at such a
    // point: at a corner (hinge, L1) the last one tried may be well beyond the minimum.
    const goal = 1e-2 * atHere;
    let falling = 0;
    const excess = (share: number) => {
      const value = descent(share);
      if (value >= 0) falling = Math.max(falling, share);
      return value - goal;
    };
    rootOfFalling(excess, [0, atHere - goal], [1, atThere - goal], goal, searchSteps);
    return falling;
  }
}

import { rootOfFalling } from '../../math/line-search.ts';

/**
 * Units of one batch move at the same time and collide where they share an index. The ring solver
 * damps their steps by a factor that is measured rather than assumed: κ grows when an epoch
 * overshoots its line search and falls slowly when it undershoots, φ is the share of units that
 * still move.
 */
export class Damping {
  /** κ, the least it may fall to, and φ. */
  readonly #now = { kappa: 1, floor: 0, moving: 1 };
  readonly #unitsPerBatch: number;

  constructor(unitsPerBatch: number) {
    this.#unitsPerBatch = unitsPerBatch;
  }

  /** Begins with a value of its own that does not depend on how many units move. */
  static from(value: number): Damping {
    return new Damping(value / damped);
  }

  /** Multiplies a unit's collisions. */
  get value(): number {
    return damped * this.#now.kappa * this.#now.moving * this.#unitsPerBatch;
  }

  /** `exactness`: that of the epoch's line search. */
  learn(exactness: number, movingShare: number): void {
    const now = this.#now;
    if (exactness < 0.8) {
      now.kappa = Math.min(8, 1.5 * now.kappa);
      now.floor = now.kappa;
    } else if (exactness > 1.2) {
      now.floor *= 0.98;
      now.kappa = Math.max(now.floor, 0.5, 0.95 * now.kappa);
    }
    now.moving = Math.min(1, Math.max(0.02, movingShare));
  }

  save() {
    return { ...this.#now };
  }

  restore(saved: ReturnType<Damping['save']>): void {
    Object.assign(this.#now, saved);
  }
}

interface LineSearch {
  /** Where the objective is best: 0 at the epoch's start, 1 at its end. */
  readonly eta: number;
  /** D'(0)/(D'(0) − D'(1)): 1 when the epoch ended at the top of its line. */
  readonly exactness: number;
}

/**
 * The exact optimum on the line through an epoch's start and end, given the slope by which the
 * objective improves there. An end where the slope is `flat`, relative to the start, is taken; a
 * search beyond the end extends to `farthest`.
 */
export function searchLine(slope: (eta: number) => number, farthest = 1, flat = 0): LineSearch {
  const atStart = slope(0);
  const atEnd = slope(1);
  const etaOf = (): number => {
    const goal = 1e-3 * atStart;
    if (!(atStart > 0)) return 0;
    if (Math.abs(atEnd) <= flat * atStart) return 1;
    if (atEnd < 0) return rootOfFalling(slope, [0, atStart], [1, atEnd], goal, 12);
    if (farthest === 1) return 1;
    const beyond = slope(farthest);
    if (beyond >= 0) return farthest;
    return rootOfFalling(slope, [1, atEnd], [farthest, beyond], goal, 12);
  };
  return { eta: etaOf(), exactness: atStart / Math.max(1e-300, atStart - atEnd) };
}

/** ρ · stale: a quarter of the worst case, on margins that are up to 1.5 rotations old. */
const damped = 0.25 * 1.5;

/**
 * Rotations per epoch: the number given, or enough that the expected collisions of a batch are about
 * one, but no more than leave a visit enough work to be worth its hand-off. A function of the data
 * alone. One worker hands nothing on: every unit is a batch.
 */
export function rotationsFor(
  units: number,
  meanCollision: number,
  nonzeros: number,
  size: number,
  given?: number,
): number {
  if (size === 1) return units;
  const most = Math.max(64, Math.floor(nonzeros / (visitNonzeros * size * size)));
  const enough = Math.ceil(rotationsPerCollision * damped * units * meanCollision);
  return given ?? Math.max(1, Math.min(most, enough, units));
}

const visitNonzeros = 1000;
/** On data too small for `most` to bind, rotations are free and fewer collisions pay. */
const rotationsPerCollision = 4;

/** Rotations up to which an epoch has few; the default is more. */
export const fewRotations = 16;

/** Whether workers track their own updates: with few rotations, given as an option. */
export function tracksLocalUpdates(rotations: number | undefined, size: number): boolean {
  return size > 1 && rotations !== undefined && rotations <= fewRotations;
}

/** Epochs between two changes of the intercept's weight. */
const adjustEvery = 8;
/** A pull that turns sooner is noise. */
const longSteady = 4;

/**
 * How fast the intercept may follow its pull, the image (1/m) Σα_i of its column, which is zero
 * at the optimum: it moves by pull/weight an epoch. Its right scale is that of labels and features
 * and not known beforehand, so that the weight is eased when the pull neither turns nor fades for a
 * while, and restored when it keeps turning. Both in small steps: a weight that is too small makes
 * all rows of a batch chase the same number.
 */
export class InterceptStep {
  readonly #heaviest: number;
  readonly #lightest: number;
  /** `steady`: epochs for which the pull has pointed the same way. */
  readonly #now = { weight: 0, epochs: 0, turns: 0, pull: 0, pullAtStart: 0, steady: 0 };

  constructor(weight: number, lightest: number) {
    this.#now.weight = weight;
    this.#heaviest = weight;
    this.#lightest = Math.min(weight, lightest);
  }

  /** Whether `pull` turns after it has long pointed one way: momentum carried the intercept too far. */
  swings(pull: number): boolean {
    return pull * this.#now.pull < 0 && this.#now.steady >= longSteady;
  }

  /** Takes the pull after an epoch; returns the factor to multiply the weight with. */
  observe(pull: number): number {
    const now = this.#now;
    if (pull * now.pull < 0) {
      now.turns++;
      now.steady = 0;
    } else now.steady++;
    now.pull = pull;
    if (now.epochs++ === 0) now.pullAtStart = Math.abs(pull);
    if (now.epochs < adjustEvery) return 1;
    const before = now.weight;
    if (now.turns === 0 && Math.abs(pull) > 0.5 * now.pullAtStart) {
      now.weight = Math.max(this.#lightest, before / 4);
    } else if (now.turns * 2 >= adjustEvery) {
      now.weight = Math.min(this.#heaviest, before * 2);
    }
    now.epochs = 0;
    now.turns = 0;
    return now.weight / before;
  }

  save() {
    return { ...this.#now };
  }

  restore(saved: ReturnType<InterceptStep['save']>): void {
    Object.assign(this.#now, saved);
  }
}

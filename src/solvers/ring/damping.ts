/**
 * Units of one batch move at the same time and collide where they share an index. The ring solver
 * damps their steps by a factor that is measured rather than assumed: κ grows when an epoch
 * overshoots its line search and falls slowly when it undershoots, φ is the share of units that
 * still move.
 */
export class Damping {
  #kappa = 1;
  #floor = 0;
  #moving = 1;
  readonly #unitsPerBatch: number;

  constructor(unitsPerBatch: number) {
    this.#unitsPerBatch = unitsPerBatch;
  }

  /** Multiplies a unit's collisions. */
  get value(): number {
    return damped * this.#kappa * this.#moving * this.#unitsPerBatch;
  }

  /** `exactness` is D'(0)/(D'(0) − D'(1)): 1 when the epoch ended at the top of its line. */
  learn(exactness: number, movingShare: number): void {
    if (exactness < 0.8) {
      this.#kappa = Math.min(8, 1.5 * this.#kappa);
      this.#floor = this.#kappa;
    } else if (exactness > 1.2) {
      this.#floor *= 0.98;
      this.#kappa = Math.max(this.#floor, 0.5, 0.95 * this.#kappa);
    }
    this.#moving = Math.min(1, Math.max(0.02, movingShare));
  }

  save() {
    return { kappa: this.#kappa, floor: this.#floor, moving: this.#moving };
  }

  restore(saved: ReturnType<Damping['save']>): void {
    this.#kappa = saved.kappa;
    this.#floor = saved.floor;
    this.#moving = saved.moving;
  }
}

/** ρ · stale: a quarter of the worst case, on margins that are up to 1.5 rotations old. */
export const damped = 0.25 * 1.5;

/**
 * Rotations per epoch: enough that the expected collisions of a batch are about one, but no more
 * than leave a visit enough work to be worth its hand-off. A function of the data alone.
 */
export function rotationsFor(units: number, meanCollision: number, nonzeros: number, size: number) {
  const most = Math.max(64, Math.floor(nonzeros / (visitNonzeros * size * size)));
  const wanted = Math.ceil(rotationsPerCollision * damped * units * meanCollision);
  return Math.max(1, Math.min(most, wanted, units));
}

const visitNonzeros = 1000;
/** On data too small for `most` to bind, rotations cost nothing and fewer collisions pay. */
const rotationsPerCollision = 4;

/** Rotations up to which an epoch has few; only those who ask for so few get them. */
export const fewRotations = 16;

/** Whether workers track their own updates: with few rotations, if they were asked for. */
export function tracksLocalUpdates(asked: number | undefined, size: number): boolean {
  return size > 1 && asked !== undefined && asked <= fewRotations;
}

/**
 * How fast the intercept may follow its pull, the image (1/m) Σα_i of its column, which is zero
 * at the optimum: it moves by pull/weight an epoch. Its right scale is that of labels and features
 * and not known beforehand, so that the weight is eased when the pull neither turns nor fades for a
 * while, and restored when it keeps turning. Both are done with restraint: a weight that is too
 * small makes all rows of a batch chase the same number.
 */
export class InterceptStep {
  readonly #heaviest: number;
  readonly #lightest: number;
  #weight: number;
  #epochs = 0;
  #turns = 0;
  #pull = 0;
  #pullAtStart = 0;
  /** Epochs for which the pull has pointed the same way. */
  #steady = 0;

  constructor(weight: number, lightest: number) {
    this.#weight = weight;
    this.#heaviest = weight;
    this.#lightest = Math.min(weight, lightest);
  }

  /** Whether `pull` turns after it has long pointed one way: momentum carried the intercept too far. */
  swings(pull: number): boolean {
    return pull * this.#pull < 0 && this.#steady >= longSteady;
  }

  /** Takes the pull after an epoch; returns the factor to multiply the weight with. */
  observe(pull: number): number {
    if (pull * this.#pull < 0) {
      this.#turns++;
      this.#steady = 0;
    } else this.#steady++;
    this.#pull = pull;
    if (this.#epochs++ === 0) this.#pullAtStart = Math.abs(pull);
    if (this.#epochs < patience) return 1;
    const before = this.#weight;
    if (this.#turns === 0 && Math.abs(pull) > 0.5 * this.#pullAtStart) {
      this.#weight = Math.max(this.#lightest, before / 4);
    } else if (this.#turns * 2 >= patience) {
      this.#weight = Math.min(this.#heaviest, before * 2);
    }
    this.#epochs = 0;
    this.#turns = 0;
    return this.#weight / before;
  }

  save() {
    return {
      weight: this.#weight,
      epochs: this.#epochs,
      turns: this.#turns,
      pull: this.#pull,
      pullAtStart: this.#pullAtStart,
      steady: this.#steady,
    };
  }

  restore(saved: ReturnType<InterceptStep['save']>): void {
    this.#weight = saved.weight;
    this.#epochs = saved.epochs;
    this.#turns = saved.turns;
    this.#pull = saved.pull;
    this.#pullAtStart = saved.pullAtStart;
    this.#steady = saved.steady;
  }
}

/** Epochs between two changes of the weight. */
const patience = 8;
/** A pull that turns sooner is noise. */
const longSteady = 4;

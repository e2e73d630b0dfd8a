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
 * Rotations per epoch: so many that the expected collisions of a batch are about one, but no more
 * than leave a visit enough work to be worth its hand-off. A function of the data alone.
 */
export function rotationsFor(units: number, meanCollision: number, entries: number, size: number) {
  const most = Math.max(64, Math.floor(entries / (visitEntries * size * size)));
  const wanted = Math.ceil(rotationsPerCollision * damped * units * meanCollision);
  return Math.max(1, Math.min(most, wanted, units));
}

const visitEntries = 1000;
/** On data too small for `most` to bind, rotations cost nothing and fewer collisions pay. */
const rotationsPerCollision = 4;

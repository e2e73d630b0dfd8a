import type { Arena } from '../../engine/arena.ts';
import type { Values } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Team } from '../../engine/team.ts';
import { DataError } from '../../errors.ts';
import { addScaled, dot } from '../../math/vectors.ts';
import { reserve } from '../block-state.ts';
import type { Doubles } from '../kernels/kernels.ts';

/** A step s and the change y of the gradient along it. */
export type CurvaturePair = Doubles<'step' | 'change'>;

/** A pair whose step and change are nearer than this to a right angle is one of rounding errors. */
const leastCosine = 1e-10;

export function allocateHistory(arena: Arena, { columnOrder }: Partition, length: number) {
  return Array.from({ length }, () =>
    reserve(arena, 'float64', columnOrder.length, ['step', 'change']),
  );
}

/** One column whose curvature is known to be another than that of most. */
export interface Damped {
  readonly position: number;
  /** The block it is in, −1 when it is not at home here or there is no such column. */
  readonly block: number;
  /** Its entry of the diagonal H₀, that of the others being 1. */
  readonly factor: number;
}

/**
 * What limited-memory BFGS knows of the curvature: the last few pairs (s, y), on top of a diagonal
 * H₀. A pair is filled in and then saved or not. Threads touch the blocks they are home to;
 * products are sums over the team.
 */
export class CurvatureHistory {
  readonly #team: Team;
  readonly #columnsOf: (array: Float64Array, block: number) => Float64Array;
  /** Oldest first; `size` of them hold something. */
  readonly #pairs: CurvaturePair[];
  readonly #damped: Damped;
  /** 1/⟨s, y⟩ of each pair. */
  readonly #inverses: number[] = [];
  /** ⟨s, y⟩/⟨y, H₀ y⟩ of the newest pair, by which H₀ is multiplied. */
  #scale = 1;

  constructor(
    team: Team,
    columnsOf: (array: Float64Array, block: number) => Float64Array,
    pairs: readonly CurvaturePair[],
    damped: Damped,
  ) {
    this.#team = team;
    this.#columnsOf = columnsOf;
    this.#pairs = [...pairs];
    this.#damped = damped;
  }

  get size(): number {
    return this.#inverses.length;
  }

  save() {
    return { inverses: [...this.#inverses], scale: this.#scale };
  }

  restore(saved: ReturnType<CurvatureHistory['save']>): void {
    if (saved.inverses.length > this.#pairs.length) {
      throw new DataError(
        `${saved.inverses.length} saved pairs; expected ${this.#pairs.length} at most`,
      );
    }
    this.#inverses.splice(0, this.#inverses.length, ...saved.inverses);
    this.#scale = saved.scale;
  }

  /** Those that hold something, the oldest first; which memory a pair has means nothing. */
  arrays(): Record<string, Values> {
    const held = this.#pairs.slice(0, this.size);
    return Object.fromEntries(
      held.flatMap(({ step, change }, k) => [
        [`step${k}`, step],
        [`change${k}`, change],
      ]),
    );
  }

  clear(): void {
    this.#inverses.length = 0;
  }

  /** The pair to fill next; the oldest one is forgotten where all are in use. */
  next(): CurvaturePair {
    if (this.size === this.#pairs.length) {
      this.#inverses.shift();
      this.#pairs.push(this.#pairs.shift() as CurvaturePair);
    }
    return this.#pairs[this.size];
  }

  /** Adds the pair that next() returned, if its curvature is clearly positive. */
  add(): void {
    const { step, change } = this.#pairs[this.size];
    const [along, steps, changes, mapped] = this.#team.reduce(4, (block, values) => {
      const s = this.#columnsOf(step, block);
      const y = this.#columnsOf(change, block);
      values[0] = dot(s, y);
      values[1] = dot(s, s);
      values[2] = dot(y, y);
      values[3] = values[2];
      if (block === this.#damped.block) {
        values[3] -= (1 - this.#damped.factor) * change[this.#damped.position] ** 2;
      }
    });
    if (!(along > leastCosine * Math.sqrt(steps * changes))) return;
    this.#inverses.push(1 / along);
    this.#scale = along / mapped;
  }

  /** direction ← H · direction by the two-loop recursion (Nocedal 1980). */
  apply(direction: Float64Array): void {
    const shares = new Float64Array(this.size);
    for (let k = this.size - 1; k >= 0; k--) {
      const { step, change } = this.#pairs[k];
      shares[k] = this.#inverses[k] * this.#product(step, direction);
      this.#add(direction, -shares[k], change);
    }
    this.#rescale(direction);
    for (let k = 0; k < this.size; k++) {
      const { step, change } = this.#pairs[k];
      const share = this.#inverses[k] * this.#product(change, direction);
      this.#add(direction, shares[k] - share, step);
    }
  }

  /** direction ← H₀ · direction */
  #rescale(direction: Float64Array): void {
    const scale = this.size > 0 ? this.#scale : 1;
    for (let block = this.#team.first; block < this.#team.end; block++) {
      const mine = this.#columnsOf(direction, block);
      for (let j = 0; j < mine.length; j++) mine[j] *= scale;
      if (block === this.#damped.block) direction[this.#damped.position] *= this.#damped.factor;
    }
  }

  #product(a: Float64Array, b: Float64Array): number {
    return this.#team.reduce(1, (block, values) => {
      values[0] = dot(this.#columnsOf(a, block), this.#columnsOf(b, block));
    })[0];
  }

  #add(target: Float64Array, factor: number, source: Float64Array): void {
    for (let block = this.#team.first; block < this.#team.end; block++) {
      addScaled(this.#columnsOf(target, block), factor, this.#columnsOf(source, block));
    }
  }
}

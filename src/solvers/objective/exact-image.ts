import type { BlockFields, Ring } from '../../engine/ring.ts';
import type { Team } from '../../engine/team.ts';
import type { Objective } from './objective.ts';

/**
 * v = (1/W) Σ α_i x_i with an error of about one rounding, by one rotation of the ring: products without
 * an error (Dekker 1971), in sums whose errors are summed too (Ogita, Rump and Oishi 2005). Several times
 * the work of a plain image.
 */
export class ExactImage {
  readonly #objective: Objective;
  readonly #team: Team;
  readonly #ring: Ring;
  readonly #image: Float64Array;
  readonly #rest: Float64Array;
  #fields: BlockFields | undefined;

  /** `image` and `rest`: two arrays that travel; the first holds the result. */
  constructor(
    objective: Objective,
    team: Team,
    ring: Ring,
    image: Float64Array,
    rest: Float64Array,
  ) {
    this.#objective = objective;
    this.#team = team;
    this.#ring = ring;
    this.#image = image;
    this.#rest = rest;
  }

  /** Every thread of the team calls it. */
  compute(alpha: Float64Array): void {
    const objective = this.#objective;
    const { problem, cells } = objective;
    const byRow = problem.grid.orientation === 'rows';
    const both = [this.#image, this.#rest];
    for (const array of both) objective.ownColumns(array).fill(0);
    this.#fields ??= this.#ring.fields((block) =>
      both.map((array) => objective.columnsOf(array, block)),
    );
    this.#ring.rotate(this.#fields, (worker, block) => {
      const a = objective.rowsOf(alpha, worker);
      const [high, low] = both.map((array) => objective.columnsOf(array, block));
      cells.at(worker, block).through((cell, first, end) => {
        objective.kernels.addExactly(cell, first, end, byRow, a, high, low);
      });
    });
    // Others may still be adding to the blocks at home here.
    this.#team.barrier();
    const [v, left] = both.map((array) => objective.ownColumns(array));
    for (let j = 0; j < v.length; j++) v[j] = (v[j] + left[j]) / problem.totalWeight;
    this.#team.barrier();
  }
}

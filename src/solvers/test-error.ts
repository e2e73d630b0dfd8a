import type { Dataset } from '../data/dataset.ts';
import type { Task } from '../losses/loss.ts';
import type { Problem } from '../objective/problem.ts';
import type { Team } from '../parallel/team.ts';

/**
 * The error on rows that are not trained on: the share of wrong signs, or the mean squared error.
 * The parts of the data set are dealt to the logical workers, so that the sum has a fixed order.
 */
export class TestError {
  readonly #dataset: Dataset;
  readonly #targets: Float64Array;
  readonly #problem: Problem;
  readonly #team: Team;
  readonly #task: Task;

  constructor(
    test: { dataset: Dataset; targets: Float64Array },
    problem: Problem,
    team: Team,
    task: Task,
  ) {
    this.#dataset = test.dataset;
    this.#targets = test.targets;
    this.#problem = problem;
    this.#team = team;
    this.#task = task;
  }

  measure(weights: Float64Array): number {
    const { parts, rows } = this.#dataset;
    const [sum] = this.#team.reduce(1, (worker, values) => {
      let first = 0;
      for (let part = 0; part < parts.length; part++) {
        if (part % this.#team.shared.workers === worker)
          values[0] += this.#part(part, first, weights);
        first += parts[part].labels.length;
      }
    });
    // The weights may change as soon as a thread goes on.
    this.#team.barrier();
    return sum / Math.max(1, rows);
  }

  #part(index: number, first: number, weights: Float64Array): number {
    const { rowOffsets, indices, values } = this.#dataset.parts[index];
    const { columnPlace } = this.#problem.grid.partition;
    const { interceptPlace } = this.#problem;
    const known = columnPlace.length - (interceptPlace >= 0 ? 1 : 0);
    const start = interceptPlace >= 0 ? weights[interceptPlace] : 0;
    let sum = 0;
    for (let i = 0; i + 1 < rowOffsets.length; i++) {
      let u = start;
      for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) {
        if (indices[k] < known) u += weights[columnPlace[indices[k]]] * values[k];
      }
      const y = this.#targets[first + i];
      if (this.#task === 'regression') sum += (u - y) * (u - y);
      else if (u > 0 !== y > 0) sum += 1;
    }
    return sum;
  }
}

import type { Dataset } from '../data/dataset.ts';
import type { Task } from '../losses/loss.ts';
import { rank } from '../math/ranking.ts';
import type { Problem } from '../objective/problem.ts';
import type { Team } from '../parallel/team.ts';

/** Rows that are not trained on. */
export interface TestRows {
  readonly dataset: Dataset;
  readonly targets: Float64Array;
  /** Room for a score of each row, where AUPRC is wanted. */
  readonly scores?: Float64Array;
  /** Whether to measure every iterate instead of the best point so far. */
  readonly latest: boolean;
}

export interface Measured {
  readonly error: number;
  readonly auprc?: number;
}

/**
 * The error on rows that are not trained on: the share of wrong signs, or the mean squared error;
 * and, when asked for, the area under the precision-recall curve.
 * The parts of the data set are dealt to the logical workers, so that the sum has a fixed order.
 */
export class TestMeasure {
  readonly #rows: TestRows;
  readonly #problem: Problem;
  readonly #team: Team;
  readonly #task: Task;

  constructor(rows: TestRows, problem: Problem, team: Team, task: Task) {
    this.#rows = rows;
    this.#problem = problem;
    this.#team = team;
    this.#task = task;
  }

  get latest(): boolean {
    return this.#rows.latest;
  }

  measure(weights: Float64Array): Measured {
    const { parts, rows } = this.#rows.dataset;
    const [sum] = this.#team.reduce(1, (worker, values) => {
      let first = 0;
      for (let part = 0; part < parts.length; part++) {
        if (part % this.#team.shared.workers === worker)
          values[0] += this.#part(part, first, weights);
        first += parts[part].labels.length;
      }
    });
    const auprc = this.#rows.scores && this.#team.fromFirst(() => this.#rank());
    // The weights may change as soon as a thread goes on.
    this.#team.barrier();
    return { error: sum / Math.max(1, rows), ...(auprc !== undefined && { auprc }) };
  }

  /** Average precision of the scores; 0 where a class is absent. */
  #rank(): number {
    const { scores, targets } = this.#rows;
    const side = (positive: boolean) =>
      (scores as Float64Array).filter((_, row) => targets[row] > 0 === positive);
    return rank(side(true), side(false))?.auprc ?? 0;
  }

  #part(index: number, first: number, weights: Float64Array): number {
    const { rowOffsets, indices, values } = this.#rows.dataset.parts[index];
    const { columnPlace } = this.#problem.grid.partition;
    const { interceptPlace } = this.#problem;
    const known = columnPlace.length - (interceptPlace >= 0 ? 1 : 0);
    const start = interceptPlace >= 0 ? weights[interceptPlace] : 0;
    const { targets, scores } = this.#rows;
    let sum = 0;
    for (let i = 0; i + 1 < rowOffsets.length; i++) {
      let u = start;
      for (let k = rowOffsets[i]; k < rowOffsets[i + 1]; k++) {
        if (indices[k] < known) u += weights[columnPlace[indices[k]]] * values[k];
      }
      if (scores) scores[first + i] = u;
      const y = targets[first + i];
      if (this.#task === 'regression') sum += (u - y) * (u - y);
      else if (u > 0 !== y > 0) sum += 1;
    }
    return sum;
  }
}

import type { Team } from '../engine/team.ts';
import type { Gap, Objective } from './objective/objective.ts';

/** Epochs that every run may have without progress. */
const leastEpochs = 2000;
/** What the gap has to fall by while the number of epochs grows by a factor. */
const leastFall = 0.1;
/**
 * The factor, and that of a run whose gap is small beside P: `ring` and `dso` were seen to stand there
 * for eight times their epochs, with a P that is nearly least, and then to converge.
 */
const growth = 4;
const growthNear = 16;
const near = 0.1;

/** What was measured of a run that ended short of its tolerance after many epochs. */
export interface Hindrance {
  /** The epoch of the last progress. */
  readonly since: number;
  /** P / P(0) */
  readonly objectiveShare: number;
  /** The largest over the smallest mean size of a column's non-zeros. */
  readonly scaleRatio: number;
}

/** Whether a run still makes progress: a function of epochs and gaps alone. */
export class ProgressWatch {
  #noted = { epoch: 0, gap: Infinity, primal: Infinity };

  /** After an evaluation of P and D. */
  note(epoch: number, { primal, dual }: Gap): void {
    const { gap, primal: before } = this.#noted;
    const now = primal - dual;
    const falls = now < Infinity ? now < (1 - leastFall) * gap : primal < (1 - leastFall) * before;
    if (falls) this.#noted = { epoch, gap: now, primal };
  }

  /** The epoch of the last progress. */
  get since(): number {
    return this.#noted.epoch;
  }

  isStuck(epoch: number): boolean {
    const { epoch: since, gap, primal } = this.#noted;
    const factor = gap <= near * Math.abs(primal) ? growthNear : growth;
    return this.isLong(epoch) && epoch >= factor * since;
  }

  /** Whether a run has had epochs enough to say what hinders it. */
  isLong(epoch: number): boolean {
    return epoch >= leastEpochs;
  }

  save() {
    return this.#noted;
  }

  restore(saved: ReturnType<ProgressWatch['save']>): void {
    this.#noted = { ...saved };
  }
}

/** The largest over the smallest mean size of a column's non-zeros; every thread calls it. */
export function scaleRatio(objective: Objective, team: Team): number {
  const { problem, scratchImage: sizes } = objective;
  const { columnCounts, columnStarts } = problem.grid.partition;
  objective.image(problem.rowWeights, undefined, sizes);
  const [largest, inverse] = team.reduce(
    2,
    (block, values) => {
      const own = objective.columnsOf(sizes, block);
      for (let j = 0; j < own.length; j++) {
        const position = columnStarts[block] + j;
        if (position === problem.interceptPosition || !(own[j] > 0)) continue;
        const mean = own[j] / columnCounts[position];
        values[0] = Math.max(values[0], mean);
        values[1] = Math.max(values[1], 1 / mean);
      }
    },
    'max',
  );
  return Math.max(1, largest * inverse);
}

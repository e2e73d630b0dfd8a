import type { Arena } from '../engine/arena.ts';
import { blockOf, layOutBlocks } from '../engine/block-layout.ts';
import type { Grid } from '../engine/grid.ts';
import type { Partition } from '../engine/partition.ts';
import type { BlockFields } from '../engine/ring.ts';
import { rank } from '../math/ranking.ts';
import { type Loss, meanOfScore } from '../problem/losses/loss.ts';
import type { SolverContext } from './solver.ts';

/** Rows that are not trained on, assigned to the workers in the order they have in their file. */
export interface TestRows {
  readonly grid: Grid;
  readonly memory: TestMemory;
  readonly auprc: boolean;
  /** Whether to measure every iterate instead of the best point so far. */
  readonly latest: boolean;
}

export type TestMemory = ReturnType<typeof allocateTest>;

/** Scores and targets of a worker's rows go round the ring where all of them must be ranked. */
export function allocateTest(arena: Arena, { rowBounds, first, end }: Partition, auprc: boolean) {
  const { bufferLength, blockLengths } = layOutBlocks(rowBounds, first, end);
  const order = arena.int32(blockLengths.reduce((most, rows) => Math.max(most, rows), 0));
  for (let k = 0; k < order.length; k++) order[k] = k;
  const everywhere = auprc ? rowBounds[rowBounds.length - 1] : 0;
  return {
    /** 0, 1, 2, …: every row of a worker. */
    order,
    scores: arena.float64(bufferLength),
    targets: arena.float64(bufferLength),
    allScores: arena.float64(everywhere),
    allTargets: arena.float64(everywhere),
  };
}

export interface Measured {
  readonly error: number;
  readonly auprc?: number;
}

/**
 * The error on rows that are not trained on: the share of wrong signs, or the mean squared error
 * of what the scores predict; with `auprc` also the area under the precision-recall curve.
 * Scores are added up by a rotation of the ring, like the margins of the rows that are trained on.
 */
export class TestMeasure {
  readonly #test: TestRows;
  readonly #context: SolverContext;
  readonly #loss: Pick<Loss, 'task' | 'link'>;
  readonly #scores: (block: number) => Float64Array;
  readonly #targets: (block: number) => Float64Array;
  readonly #ranking: BlockFields;

  constructor(test: TestRows, context: SolverContext, loss: Pick<Loss, 'task' | 'link'>) {
    const { rowBounds, first, end } = test.grid.partition;
    const { scores, targets } = test.memory;
    const layout = layOutBlocks(rowBounds, first, end);
    this.#test = test;
    this.#context = context;
    this.#loss = loss;
    this.#scores = (worker) => blockOf(layout, scores, worker);
    this.#targets = (worker) => blockOf(layout, targets, worker);
    const views = (block: number) => [this.#scores(block), this.#targets(block)];
    this.#ranking = context.ring.readFields(views);
  }

  get latest(): boolean {
    return this.#test.latest;
  }

  measure(weights: Float64Array): Measured {
    const { team, ring, objective, kernels } = this.#context;
    const { cells, size, partition } = this.#test.grid;
    const { order } = this.#test.memory;
    for (let worker = team.first; worker < team.end; worker++) this.#scores(worker).fill(0);
    ring.rotate(objective.fields.read(weights), (worker, block) => {
      const cell = cells[worker * size + block];
      const part = objective.columnsOf(weights, block);
      const scores = this.#scores(worker);
      kernels.gather(cell, order, 0, scores.length, false, part, scores);
    });
    const [sum] = team.reduce(1, (worker, values) => {
      values[0] = this.#errors(this.#scores(worker), this.#targets(worker));
    });
    const rows = partition.rowBounds[size];
    const auprc = this.#test.auprc ? this.#rank() : undefined;
    // The weights may change as soon as a thread continues.
    team.barrier();
    return { error: sum / Math.max(1, rows), ...(auprc !== undefined && { auprc }) };
  }

  #errors(scores: Float64Array, targets: Float64Array): number {
    const { task, link } = this.#loss;
    let sum = 0;
    for (let i = 0; i < scores.length; i++) {
      const [u, y] = [scores[i], targets[i]];
      if (task === 'regression') {
        const residual = meanOfScore(link, u) - y;
        sum += residual * residual;
      } else if (u > 0 !== y > 0) sum += 1;
    }
    return sum;
  }

  /** Average precision of the scores; 0 where a class is absent. */
  #rank(): number {
    const { team, ring } = this.#context;
    const { allScores, allTargets } = this.#test.memory;
    const { rowBounds } = this.#test.grid.partition;
    ring.rotate(this.#ranking, (worker, block) => {
      if (worker !== team.shared.first) return;
      allScores.set(this.#scores(block), rowBounds[block]);
      allTargets.set(this.#targets(block), rowBounds[block]);
    });
    team.barrier();
    // Rank 0 may run no worker: whoever runs worker 0 has seen all scores.
    const [auprc] = team.reduce(1, (worker, values) => {
      if (worker !== 0) return;
      const side = (positive: boolean) =>
        allScores.filter((_, row) => allTargets[row] > 0 === positive);
      values[0] = rank(side(true), side(false))?.auprc ?? 0;
    });
    return auprc;
  }
}

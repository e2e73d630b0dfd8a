import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { inChunks, shortChunk } from '../orders.ts';
import type { SolverContext } from '../solver.ts';

/** More than underflow can lose in a sum of squares. */
const underflow = 1e-300;

export type MomentsMemory = ReturnType<typeof allocateMoments>;

/** `known`: not 0 once the sums are there. They depend on data and row weights alone, so that runs share them. */
export function allocateMoments(arena: Arena, partition: Partition) {
  return {
    squares: arena.float64(partition.bufferLength),
    sums: arena.float64(partition.bufferLength),
    known: arena.int32(1),
  };
}

/** Σ_i c_i x_ij² and Σ_i c_i x_ij of every column, computed when they are first needed. */
export class ColumnMoments {
  readonly #context: SolverContext;
  readonly #memory: MomentsMemory;
  #isKnown: boolean;

  constructor(context: SolverContext, memory: MomentsMemory) {
    this.#context = context;
    this.#memory = memory;
    this.#isKnown = memory.known[0] !== 0;
  }

  /** Every thread of the team calls it. */
  compute(): MomentsMemory {
    if (!this.#isKnown) this.#sum();
    this.#isKnown = true;
    return this.#memory;
  }

  #sum(): void {
    const { objective, team, ring } = this.#context;
    const { problem, cells, kernels } = objective;
    const { squares, sums, known } = this.#memory;
    const byRow = problem.grid.orientation === 'rows';
    const both = [squares, sums];
    objective.ownColumns(squares).fill(underflow);
    objective.ownColumns(sums).fill(0);
    const fields = ring.fields((block) => both.map((array) => objective.columnsOf(array, block)));
    ring.rotate(fields, (worker, block) => {
      const c = objective.rowsOf(problem.rowWeights, worker);
      const [square, sum] = both.map((array) => objective.columnsOf(array, block));
      cells.at(worker, block).through((cell, first, end) => {
        const add = (from: number, to: number) =>
          kernels.addSquares(cell, from, to, byRow, c, square, sum);
        inChunks(first, end, add, shortChunk);
      });
    });
    team.barrier();
    if (team.index === 0) known[0] = 1;
  }
}

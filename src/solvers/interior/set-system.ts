import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, everywhere } from '../whole.ts';
import type { ColumnSet } from './column-set.ts';
import { ScaledFactor } from './factor.ts';
import type { StepSystem, SystemArrays } from './system.ts';

export type SetSystemMemory = ReturnType<typeof allocateSetSystem>;

export function allocateSetSystem(arena: Arena, partition: Partition, most: number) {
  return {
    matrix: arena.float64(most * most),
    scaling: arena.float64(most),
    unknown: arena.float64(most),
    whole: arena.float64(allColumns(partition)),
    right: arena.float64(partition.bufferLength),
  };
}

/** (D + XᵀTX) dw = r − XᵀTe of a set of columns; all others have dw = 0. */
export class SetSystem implements StepSystem {
  readonly #context: SolverContext;
  readonly #memory: SetSystemMemory;
  readonly #arrays: SystemArrays;
  readonly #set: ColumnSet;
  #factor: ScaledFactor | undefined;

  constructor(
    context: SolverContext,
    memory: SetSystemMemory,
    arrays: SystemArrays,
    set: ColumnSet,
  ) {
    this.#context = context;
    this.#memory = memory;
    this.#arrays = arrays;
    this.#set = set;
  }

  get share(): number {
    return this.#set.share;
  }

  prepare(): void {
    const { count, list } = this.#set;
    const { whole } = this.#memory;
    const matrix = this.#memory.matrix.subarray(0, count * count);
    const scaling = this.#memory.scaling.subarray(0, count);
    this.#factor = new ScaledFactor(matrix, scaling, this.#context);
    this.#set.products(this.#arrays.rowScales, matrix);
    everywhere(this.#context, this.#arrays.columnScales, whole);
    this.#factor.factor((place) => whole[list[place]]);
  }

  solve(): void {
    const { objective, team, problem } = this.#context;
    const { right, whole } = this.#memory;
    const { rowScales, residuals, alpha, columnResiduals, step, rowImage } = this.#arrays;
    const { count, list, places } = this.#set;
    const unknown = this.#memory.unknown.subarray(0, count);
    const rows = [rowScales, residuals, alpha].map((array) => objective.ownRows(array));
    for (let i = 0; i < rows[0].length; i++) rows[2][i] = rows[0][i] * rows[1][i];
    team.barrier();
    this.#set.image(alpha, unknown);
    objective.ownColumns(right).set(objective.ownColumns(columnResiduals));
    everywhere(this.#context, right, whole);
    if (team.index === 0) {
      for (let k = 0; k < count; k++) unknown[k] = whole[list[k]] - unknown[k];
      this.#factor?.solve(unknown);
    }
    team.barrier();
    const { columnBounds } = problem.grid.partition;
    for (let block = team.first; block < team.end; block++) {
      const own = objective.columnsOf(step, block);
      for (let j = 0; j < own.length; j++) {
        const place = places[columnBounds[block] + j];
        own[j] = place < 0 ? 0 : unknown[place];
      }
    }
    this.#set.margins(unknown, rowImage);
  }
}

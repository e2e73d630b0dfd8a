import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields } from '../../engine/ring.ts';
import type { WholeRows } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, blockAmongAll, everywhere, partOfWorker } from '../whole.ts';
import { ScaledFactor } from './factor.ts';
import { allocateSegments, SegmentRows } from './segment-rows.ts';
import type { StepSystem, SystemArrays } from './system.ts';

/** Rows that are unpacked at a time where most of their entries are not 0. */
const rowsTogether = 64;
/** The share of entries from which on rows are unpacked. */
const denseFrom = 0.3;

export type TallMemory = ReturnType<typeof allocateTall>;

export function allocateTall(arena: Arena, partition: Partition) {
  const columns = allColumns(partition);
  return {
    /** XᵀTX, row by row; rows belong to the blocks of their columns and travel with them. */
    gram: arena.float64(columns * partition.bufferLength),
    matrix: arena.float64(columns * columns),
    unpacked: arena.float64(columns * rowsTogether * (partition.end - partition.first)),
    segments: allocateSegments(arena, partition),
    scaling: arena.float64(columns),
    whole: arena.float64(columns),
    right: arena.float64(partition.bufferLength),
    image: arena.float64(partition.bufferLength),
  };
}

/**
 * (D + XᵀTX) dw = r − XᵀTe, a matrix of columns × columns. Where two columns depend on one another, one
 * of them stands still.
 */
export class TallSystem implements StepSystem {
  readonly #context: SolverContext;
  readonly #memory: TallMemory;
  readonly #arrays: SystemArrays;
  readonly #factor: ScaledFactor;
  /** To be added to, and to be read. */
  readonly #fields: BlockFields;
  readonly #copies: BlockFields;
  readonly #columns: number;
  readonly #isDense: boolean;
  /** Of a loss with a constant curvature XᵀTX stays the same. */
  readonly #isConstant: boolean;
  readonly #rows: SegmentRows;
  #isKnown = false;

  constructor(
    context: SolverContext,
    memory: TallMemory,
    arrays: SystemArrays,
    constantScales: boolean,
  ) {
    const { problem, ring } = context;
    const { partition } = problem.grid;
    this.#context = context;
    this.#memory = memory;
    this.#arrays = arrays;
    this.#columns = allColumns(partition);
    this.#isConstant = constantScales;
    this.#isDense = problem.nonzeros > denseFrom * problem.rows * this.#columns;
    this.#factor = new ScaledFactor(memory.matrix, memory.scaling, context);
    const views = (block: number) => [this.#rowsOfBlock(block)];
    this.#fields = ring.fields(views);
    this.#copies = ring.readFields(views);
    this.#rows = new SegmentRows(context, memory.segments);
  }

  /** The rows of XᵀTX for the columns of a block. */
  #rowsOfBlock(block: number): Float64Array {
    const { blockOffsets, blockLengths } = this.#context.problem.grid.partition;
    const stride = this.#columns;
    const from = stride * blockOffsets[block];
    return this.#memory.gram.subarray(from, from + stride * blockLengths[block]);
  }

  prepare(): void {
    if (!(this.#isConstant && this.#isKnown)) this.#multiply();
    this.#isKnown = true;
    const { whole } = this.#memory;
    this.#copyRows();
    everywhere(this.#context, this.#arrays.columnScales, whole);
    this.#factor.factor((column) => whole[column]);
  }

  /** XᵀTX: every worker adds what its rows have to the rows of the block that is with it. */
  #multiply(): void {
    const { problem, ring, team, objective } = this.#context;
    const { columnStarts } = problem.grid.partition;
    const stride = this.#columns;
    this.#memory.gram.fill(0, stride * columnStarts[team.first], stride * columnStarts[team.end]);
    ring.rotate(this.#fields, (worker, block) => {
      const gram = this.#rowsOfBlock(block);
      const scales = objective.rowsOf(this.#arrays.rowScales, worker);
      this.#rows.through(worker, block, (whole, first) => {
        const own = scales.subarray(first, first + whole.rows);
        if (this.#isDense) this.#multiplyDense(whole, own, worker, block, gram);
        else this.#context.kernels.addRowProducts(whole, block, own, gram, stride);
      });
    });
    team.barrier();
  }

  #multiplyDense(
    { rows, offsets, indices, values, starts }: WholeRows,
    scales: Float64Array,
    worker: number,
    block: number,
    gram: Float64Array,
  ): void {
    const { problem, kernels } = this.#context;
    const unpacked = partOfWorker(problem.grid.partition, this.#memory.unpacked, worker);
    const [begin, end] = [starts[block], starts[block + 1]];
    const width = rowsTogether;
    for (let first = 0; first < rows; first += width) {
      unpacked.fill(0);
      const last = Math.min(rows, first + width);
      for (let b = 0; b <= block; b++) {
        for (let i = first; i < last; i++) {
          const root = Math.sqrt(scales[i]);
          const at = b * (rows + 1) + i;
          for (let k = offsets[at]; k < offsets[at + 1]; k++) {
            unpacked[(starts[b] + indices[k]) * width + i - first] = root * values[k];
          }
        }
      }
      kernels.addProducts(unpacked, width, begin, end, width, gram, this.#columns, 1);
    }
  }

  /** Copies the rows of all blocks to every process. */
  #copyRows(): void {
    const { ring, team, problem } = this.#context;
    const { columnBounds } = problem.grid.partition;
    const { matrix } = this.#memory;
    ring.rotate(this.#copies, (worker, block) => {
      if (worker !== team.shared.first) return;
      matrix.set(this.#rowsOfBlock(block), this.#columns * columnBounds[block]);
    });
    team.barrier();
  }

  solve(): void {
    const { objective, problem, team } = this.#context;
    const { right, image, whole } = this.#memory;
    const { rowScales, residuals, alpha, columnResiduals, step, rowImage } = this.#arrays;
    const rows = [rowScales, residuals, alpha].map((array) => objective.ownRows(array));
    for (let i = 0; i < rows[0].length; i++) {
      rows[2][i] = problem.totalWeight * rows[0][i] * rows[1][i];
    }
    objective.image(alpha, image);
    const [r, v, given] = [right, image, columnResiduals].map((all) => objective.ownColumns(all));
    for (let j = 0; j < r.length; j++) r[j] = given[j] - v[j];
    everywhere(this.#context, right, whole);
    if (team.index === 0) this.#factor.solve(whole);
    team.barrier();
    const { partition } = problem.grid;
    for (let block = team.first; block < team.end; block++) {
      objective.columnsOf(step, block).set(blockAmongAll(partition, whole, block));
    }
    objective.margins(step, rowImage);
  }
}

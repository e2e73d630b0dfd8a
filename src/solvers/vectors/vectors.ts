import type { Arena } from '../../engine/arena.ts';
import type { GridCell } from '../../engine/grid.ts';
import type { Partition } from '../../engine/partition.ts';
import type { SolverContext } from '../solver.ts';
import { allocateColumnCells, fillTransposed } from './column-cells.ts';

export type VectorsMemory = ReturnType<typeof allocateVectors>;

export function allocateVectors(arena: Arena, partition: Partition) {
  return { columnCells: allocateColumnCells(arena, partition) };
}

/**
 * A number for every row, or for every column, in an array that all threads of the process share. A
 * vector of rows is split among the workers. A vector of columns is split into blocks, each at home
 * with the worker of its number; its array is as long as those that travel.
 */
export interface Vector {
  readonly axis: 'rows' | 'columns';
  readonly all: Float64Array;
  /** This thread's part. */
  readonly own: Float64Array;
}

/**
 * All that a method on whole vectors does with data and vectors: products with X and Xᵀ, sums, and maps,
 * number by number. Methods that use nothing else have the same bits on any number of threads and
 * processes, and a device may take over: sums have the order of src/solvers/kernels/segments.ts, within
 * a worker, and then that of the workers; a row is summed cell by cell as the blocks come, a column as
 * it visits the workers.
 *
 * Every thread of the team calls each method. Maps work on the thread's own part; products and sums
 * wait for the others.
 */
export class Vectors {
  /** Products so far, each of which is a pass over the data. */
  products = 0;
  readonly #context: SolverContext;
  readonly #columnCells: readonly GridCell[];

  constructor(context: SolverContext, { columnCells }: VectorsMemory) {
    const { team, problem } = context;
    this.#context = context;
    this.#columnCells = columnCells;
    for (let worker = team.first; worker < team.end; worker++) {
      fillTransposed(problem.grid, columnCells, worker, context.kernels);
    }
  }

  rows(all: Float64Array): Vector {
    return { axis: 'rows', all, own: this.#context.objective.ownRows(all) };
  }

  columns(all: Float64Array): Vector {
    return { axis: 'columns', all, own: this.#context.objective.ownColumns(all) };
  }

  /** target ← X · source; rows from columns, one rotation. */
  product(source: Vector, target: Vector): void {
    const { ring, team, objective, problem, kernels } = this.#context;
    const { size, cells } = problem.grid;
    ring.rotate(objective.fields.read(source.all), (worker, block, iteration) => {
      const result = objective.rowsOf(target.all, worker);
      const from = objective.columnsOf(source.all, block);
      const cell = cells[worker * size + block];
      kernels.segmentProducts(cell, 0, result.length, iteration === 0, from, result);
    });
    team.barrier();
    this.products++;
  }

  /** target ← Xᵀ · source; columns from rows, one rotation. */
  transposed(source: Vector, target: Vector): void {
    this.#transposed(source, target, 'segmentProducts');
  }

  /** target_j ← Σ_i x_ij² source_i, one rotation. */
  transposedSquares(source: Vector, target: Vector): void {
    this.#transposed(source, target, 'segmentSquares');
  }

  #transposed(source: Vector, target: Vector, kernel: 'segmentProducts' | 'segmentSquares'): void {
    const { ring, team, objective, problem, kernels } = this.#context;
    const { size } = problem.grid;
    ring.rotate(objective.fields.of(target.all), (worker, block, iteration) => {
      const result = objective.columnsOf(target.all, block);
      const from = objective.rowsOf(source.all, worker);
      const cell = this.#columnCells[worker * size + block];
      kernels[kernel](cell, 0, result.length, iteration === 0, from, result);
    });
    team.barrier();
    this.products++;
  }

  /** Σ a_k b_k of each pair of vectors, which may be of rows or of columns; at most 64 at once. */
  dots(...pairs: readonly (readonly [a: Vector, b: Vector])[]): Float64Array {
    const { team, kernels } = this.#context;
    return team.reduce(pairs.length, (part, values) => {
      for (const [k, [a, b]] of pairs.entries()) {
        values[k] = kernels.segmentDot(this.#partOf(a, part), this.#partOf(b, part));
      }
    });
  }

  /** The sums of vectors, at most 64 at once. */
  sums(...vectors: readonly Vector[]): Float64Array {
    const { team, kernels } = this.#context;
    return team.reduce(vectors.length, (part, values) => {
      for (const [k, vector] of vectors.entries()) {
        values[k] = kernels.segmentSum(this.#partOf(vector, part));
      }
    });
  }

  /** The largest number of a vector without NaN. */
  largest(vector: Vector): number {
    const [largest] = this.#context.team.reduce(
      1,
      (part, values) => {
        values[0] = -Infinity;
        for (const x of this.#partOf(vector, part)) if (x > values[0]) values[0] = x;
      },
      'max',
    );
    return largest;
  }

  #partOf({ axis, all }: Vector, part: number): Float64Array {
    const { objective } = this.#context;
    return axis === 'rows' ? objective.rowsOf(all, part) : objective.columnsOf(all, part);
  }

  copy(source: Vector, target: Vector): void {
    target.own.set(source.own);
  }

  /** target ← a + factor · b; target may be one of the two. */
  combine(target: Vector, a: Vector, factor: number, b: Vector): void {
    this.#context.kernels.combine(target.own, a.own, factor, b.own);
  }

  /** target ← a · b, number by number; target may be one of the two. */
  multiply(a: Vector, b: Vector, target: Vector): void {
    this.#context.kernels.multiplyInto(a.own, b.own, target.own);
  }

  /** target ← factor · source; target may be the source. */
  scale(source: Vector, factor: number, target: Vector): void {
    this.#context.kernels.scaleInto(source.own, target.own, factor);
  }

  /** target ← 1/source, and 0 where that is not positive. */
  invert(source: Vector, target: Vector): void {
    const [from, to] = [source.own, target.own];
    for (let k = 0; k < to.length; k++) to[k] = from[k] > 0 ? 1 / from[k] : 0;
  }

  /** alpha_i ← −c_i ℓ'(u_i) of the rows. */
  slopes(margins: Vector, alpha: Vector): void {
    this.#context.objective.dualPoint(margins.all, alpha.all);
  }

  /** Σ c_i ℓ(u_i), with alpha_i ← −c_i ℓ'(u_i) and curvatures_i ← c_i ℓ''(u_i); see Kernels.expandLoss. */
  expand(margins: Vector, isBent: boolean, alpha: Vector, curvatures: Vector): number {
    const { kernels, problem, team } = this.#context;
    const [y, c] = [problem.labels, problem.rowWeights].map((all) => this.rows(all));
    const [sum] = team.reduce(1, (part, values) => {
      const [u, labels, weights] = [margins, y, c].map((rows) => this.#partOf(rows, part));
      const [a, h] = [alpha, curvatures].map((rows) => this.#partOf(rows, part));
      values[0] = kernels.expandLoss(u, labels, weights, isBent, a, h);
    });
    return sum;
  }
}

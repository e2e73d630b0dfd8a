import type { RowState } from '../kernels/kernels.ts';
import { inChunks } from '../orders.ts';
import type { RowModeState } from './rows-state.ts';

/**
 * The curvature of row mode's columns: that of the penalty, and of the proximal terms where it has
 * none; and what rows have of it, their norms and collisions.
 */
export class ColumnCurvature {
  readonly #state: RowModeState;
  readonly #few: boolean;

  constructor(state: RowModeState, few: boolean) {
    this.#state = state;
    this.#few = few;
  }

  /**
   * Curvature μ_j of each column; the intercept's is not known yet and stays out of the norms.
   * `overlapOf`: how much rows collide in a column, by the number of rows that have it.
   */
  prepareColumns(proximal: number, overlapOf: (count: number) => number): void {
    const { problem, team } = this.#state.context;
    const { columnCounts } = problem.grid.partition;
    const [begin, end] = this.#state.ownColumns;
    const { inverse, weightedOverlap, overlap, threshold, box } = this.#state.memory;
    for (let j = begin; j < end; j++) {
      if (this.#state.mapped) threshold[j] = problem.l1[j];
      if (box && problem.box) {
        box.low[j] = problem.box.low[j];
        box.high[j] = problem.box.high[j];
      }
      if (overlap.length > 0) overlap[j] = overlapOf(columnCounts[j]);
      if (j === problem.interceptPosition) continue;
      inverse[j] = 1 / (problem.l2[j] > 0 ? problem.l2[j] : proximal);
      weightedOverlap[j] = overlapOf(columnCounts[j]) * inverse[j];
    }
    team.barrier();
  }

  /** The rows' norms; returns their mean, and the mean share of other rows that a row meets. */
  prepareNorms(): { norm: number; collision: number } {
    const { problem, team, ring, kernels, objective } = this.#state.context;
    const { partition } = problem.grid;
    const { inverse, weightedOverlap } = this.#state.memory;
    const fields = ring.readFields((block) => [
      objective.columnsOf(inverse, block),
      objective.columnsOf(weightedOverlap, block),
    ]);
    ring.rotate(fields, (worker, block) => {
      const { norms, collisions } = this.#state.workers[worker].rows;
      const a = objective.columnsOf(inverse, block);
      const b = objective.columnsOf(weightedOverlap, block);
      objective.cells.at(worker, block).through(({ offsets, indices, values }, first, end) => {
        inChunks(0, end - first, (from, to) => {
          const cell = { offsets: offsets.subarray(first + from), indices, values };
          const norm = norms.subarray(first + from);
          kernels.rowNorms(cell, to - from, a, b, norm, collisions.subarray(first + from));
        });
      });
    });
    const [overlapping, plain] = team.reduce(2, (worker, values) => {
      const { rows } = this.#state.workers[worker];
      const { norms, collisions, counts } = rows;
      const from = partition.rowStarts[worker];
      for (let i = 0; i < norms.length; i++) {
        counts[i] = partition.rowCounts[from + i];
        values[0] += collisions[i];
        values[1] += norms[i];
        collisions[i] *= this.#othersWeight(rows, i);
      }
    });
    return {
      norm: plain > 0 ? plain / problem.rows : 1,
      collision: plain > 0 ? overlapping / plain : 0,
    };
  }

  /**
   * What the rows that this one collides with count, as a multiple of what it counts itself: they move
   * as far as that. Where a worker tracks its own updates, others are taken to be like them instead.
   */
  #othersWeight({ rowWeights }: RowState, i: number): number {
    const { totalWeight, rows } = this.#state.context.problem;
    return this.#few || rowWeights[i] === 0 ? 1 : totalWeight / rows / rowWeights[i];
  }

  /**
   * Every row meets every other in the intercept's column. A proximal weight that makes it count
   * a tenth of all the other columns keeps the steps of the batch from drowning in it.
   */
  prepareIntercept(proximal: number, overlap: number): void {
    const { intercept, interceptPosition } = this.#state.context.problem;
    if (!intercept) return;
    const share = 1 / proximal;
    this.#addToRows(share, overlap);
    if (this.#state.isOwn(interceptPosition)) this.#state.memory.inverse[interceptPosition] = share;
    this.#state.context.team.barrier();
  }

  /** Adds what the intercept's column contributes to every row. */
  #addToRows(norm: number, overlap: number): void {
    for (const { rows } of this.#state.mine) {
      for (let i = 0; i < rows.norms.length; i++) {
        rows.norms[i] += norm;
        rows.collisions[i] += overlap * norm * this.#othersWeight(rows, i);
      }
    }
  }

  /**
   * The image of the intercept's column, learnt by every thread from the one that is home to it:
   * read directly, it might be the next epoch's already.
   */
  interceptPull(): number {
    return this.#atIntercept((block) => this.#state.blocks[block].image);
  }

  #atIntercept(of: (block: number) => Float64Array): number {
    const { problem, team } = this.#state.context;
    const { columnStarts } = problem.grid.partition;
    const { interceptPosition } = problem;
    return team.reduce(1, (block, values) => {
      const here = interceptPosition - columnStarts[block];
      const column = of(block);
      if (here >= 0 && here < column.length) values[0] = column[here];
    })[0];
  }

  /** Makes every proximal term `factor` times as heavy; `overlap` is that of the intercept. */
  scaleProximal(factor: number, overlap: number): void {
    const { penalty, interceptPosition } = this.#state.context.problem;
    const { inverse } = this.#state.memory;
    if (penalty.l2 > 0) {
      const before = this.#atIntercept((block) =>
        this.#state.context.objective.columnsOf(inverse, block),
      );
      this.#addToRows(before / factor - before, overlap);
      if (this.#state.isOwn(interceptPosition)) inverse[interceptPosition] = before / factor;
    } else {
      // Without a quadratic part every column has nothing but its proximal term.
      for (const { rows } of this.#state.mine) {
        for (let i = 0; i < rows.norms.length; i++) {
          rows.norms[i] /= factor;
          rows.collisions[i] /= factor;
        }
      }
      for (const { map } of this.#state.home) {
        if (map) for (let j = 0; j < map.inverse.length; j++) map.inverse[j] /= factor;
      }
    }
    this.#state.context.team.barrier();
  }
}

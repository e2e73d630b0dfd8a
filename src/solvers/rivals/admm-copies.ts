import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Random } from '../../math/random.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { allocateGenerators, BlockState } from '../block-state.ts';
import { addImage } from '../dso/local-descent.ts';
import { type RowState, stat, type WholeRows } from '../kernels/kernels.ts';
import type { SolverContext, WarmStart } from '../solver.ts';
import { startingAlpha } from '../warm-start.ts';
import {
  allColumns,
  blockAmongAll,
  everywhere,
  heldColumns,
  interceptAmongAll,
  partOfWorker,
  wholeRows,
} from '../whole.ts';

/** Rows per call of a kernel: short calls let the engine replace a kernel by a faster one. */
const sweepChunk = 1024;

export type AdmmMemory = ReturnType<typeof allocateAdmm>;

/**
 * 16 bytes per worker and column, for x_q and u_q, whether or not the column occurs there: that is
 * the price of weights which every worker has to itself. A process has those of the workers it
 * runs.
 */
export function allocateAdmm(arena: Arena, partition: Partition) {
  const { size, bufferLength } = partition;
  const rows = partition.rowOrder.length;
  const all = allColumns(partition);
  const played = partition.end - partition.first;
  return {
    alpha: arena.float64(rows),
    norms: arena.float64(rows),
    counts: arena.int32(rows),
    order: arena.int32(rows),
    generators: allocateGenerators(arena, partition),
    margins: arena.float64(rows),
    starts: arena.int32(size + 1),
    stats: arena.float64(stat.length * size),
    /** z */
    weights: arena.float64(bufferLength),
    sums: arena.float64(bufferLength),
    /** 1/ρ_j */
    inverse: arena.float64(bufferLength),
    /** How many workers have a copy of column j. */
    holders: arena.float64(bufferLength),
    /** z, z of the epoch before, and 1/ρ_j, of all columns. */
    agreed: arena.float64(all),
    before: arena.float64(all),
    inverses: arena.float64(all),
    copies: arena.float64(played * all),
    pulls: arena.float64(played * all),
  };
}

/** What belongs to one worker alone. */
interface Holder {
  readonly whole: WholeRows;
  readonly rows: Pick<RowState, 'labels' | 'rowWeights' | 'alpha' | 'norms' | 'counts'>;
  readonly order: Int32Array;
  readonly random: Random;
  readonly stats: Float64Array;
  /** x_q and u_q by position among all columns. */
  readonly copy: Float64Array;
  readonly pull: Float64Array;
  /** The columns that occur in its rows; those of block b from listed[b] on. */
  readonly held: Int32Array;
  readonly listed: Int32Array;
}

/**
 * The workers' copies of the weights and what ties them to the agreed ones. Between epochs
 *
 *   x_q = z − u_q + (1/W) Σ_i α_i x_i ∘ (1/ρ_j),   i over the rows of worker q,
 *
 * the point that belongs to α in the worker's next problem. ρ_j is ρ for every column but the
 * intercept's, which is tied as if its ones were of the size of the other nonzeros.
 */
export class AdmmCopies extends BlockState {
  readonly #memory: AdmmMemory;
  readonly #holders = new Map<number, Holder>();
  /** z as the workers know it, and as they knew it the epoch before. */
  #agreed: Float64Array;
  #before: Float64Array;

  constructor(context: SolverContext, memory: AdmmMemory, rho?: number) {
    super(context, memory.generators);
    this.#memory = memory;
    this.#agreed = memory.agreed;
    this.#before = memory.before;
    const { team, problem, ring, objective } = context;
    const { columnBounds } = problem.grid.partition;
    if (team.index === 0) memory.starts.set(columnBounds);
    for (let worker = team.first; worker < team.end; worker++) {
      this.#holders.set(worker, this.#view(worker));
    }
    ring.rotate(objective.fieldsOf(memory.holders), (worker, block) => {
      const { held, listed } = this.#of(worker);
      const holders = objective.columnsOf(memory.holders, block);
      for (let k = listed[block]; k < listed[block + 1]; k++) {
        holders[held[k] - columnBounds[block]]++;
      }
    });
    this.#tie(rho);
  }

  /**
   * All copies at z = w, and u_q = (1/W) Σ_i α_i x_i ∘ (1/ρ_j), as it is where α belongs to w.
   * Returns the passes this takes.
   */
  startFrom(start: WarmStart, loss: Loss): number {
    const { objective, problem, team } = this.context;
    const { grid, totalWeight } = problem;
    const { alpha, margins, weights, inverses } = this.#memory;
    for (let block = team.first; block < team.end; block++) {
      objective.columnsOf(weights, block).set(objective.columnsOf(start.weights, block));
    }
    const passes = startingAlpha(this.context, start, loss, margins, alpha);
    everywhere(this.context, weights, this.#agreed);
    for (const [worker, { rows: own, held, copy, pull }] of this.#holders) {
      for (let block = 0; block < grid.size; block++) {
        const cell = grid.cells[worker * grid.size + block];
        const [inverse, target] = [inverses, pull].map((all) =>
          blockAmongAll(grid.partition, all, block),
        );
        addImage(cell, own.alpha, 1 / totalWeight, inverse, target);
      }
      for (let k = 0; k < held.length; k++) copy[held[k]] = this.#agreed[held[k]];
    }
    return 1 + passes;
  }

  #of(worker: number): Holder {
    return this.#holders.get(worker) as Holder;
  }

  #view(worker: number): Holder {
    const { problem } = this.context;
    const { labels, rowWeights, grid } = problem;
    const { partition } = grid;
    const { alpha, norms, counts, copies, pulls, starts, stats } = this.#memory;
    const rows = this.rowsOf(worker, { labels, rowWeights, alpha, norms, counts });
    rows.counts.set(this.rowsOf(worker, { counts: partition.rowCounts }).counts);
    const { order } = this.rowsOf(worker, { order: this.#memory.order });
    for (let i = 0; i < order.length; i++) order[i] = i;
    return {
      whole: wholeRows(problem, worker, starts),
      rows,
      order,
      random: this.random(worker),
      stats: stats.subarray(worker * stat.length, (worker + 1) * stat.length),
      copy: partOfWorker(partition, copies, worker),
      pull: partOfWorker(partition, pulls, worker),
      ...heldColumns(problem, worker),
    };
  }

  /** Chooses ρ unless it is given, and makes norms_i = Σ_j x_ij² / ρ_j. */
  #tie(given?: number): void {
    const { team, problem } = this.context;
    const { rows, totalWeight, nonzeros, intercept, interceptPosition } = problem;
    const { inverse, inverses } = this.#memory;
    const [squares, counted] = team.reduce(2, (worker, values) => {
      this.#measureSquares(worker, values);
    });
    const total = squares > 0 ? squares : 1;
    const rho = given ?? (counted > 0 ? counted : 1) / (rows * totalWeight);
    const others = Math.max(1, intercept ? nonzeros - rows : nonzeros);
    const ones = total / others / rho;
    this.#forHome((j) => {
      inverse[j] = j === interceptPosition ? ones : 1 / rho;
    });
    for (const { rows: own } of this.#holders.values()) {
      for (let i = 0; i < own.norms.length; i++) {
        own.norms[i] = own.norms[i] / rho + (intercept ? ones : 0);
      }
    }
    everywhere(this.context, inverse, inverses);
  }

  /** norms_i ← ‖x_i‖² without the intercept's entry; `sums` get Σ ‖x_i‖² and Σ c_i ‖x_i‖². */
  #measureSquares(worker: number, sums: Float64Array): void {
    const { problem } = this.context;
    const { grid } = problem;
    const ones = interceptAmongAll(problem);
    const { norms, rowWeights } = this.#of(worker).rows;
    for (let block = 0; block < grid.size; block++) {
      const { offsets, indices, values } = grid.cells[worker * grid.size + block];
      const left = ones - grid.partition.columnBounds[block];
      for (let i = 0; i < norms.length; i++) {
        let square = 0;
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          if (indices[k] !== left) square += values[k] * values[k];
        }
        norms[i] += square;
        sums[0] += square;
        sums[1] += rowWeights[i] * square;
      }
    }
  }

  #forHome(visit: (column: number) => void): void {
    const { team, problem } = this.context;
    const { columnStarts } = problem.grid.partition;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) visit(j);
  }

  /** ρ ← factor ρ. What is stored in multiples of 1/ρ, u_q and x_q − z among it, shrinks by it. */
  tighten(factor: number): void {
    const { inverse, inverses } = this.#memory;
    const z = this.#agreed;
    const share = 1 / factor;
    this.#forHome((j) => {
      inverse[j] *= share;
    });
    for (const { rows, held, copy, pull } of this.#holders.values()) {
      for (let i = 0; i < rows.norms.length; i++) rows.norms[i] *= share;
      for (let k = 0; k < held.length; k++) {
        const j = held[k];
        pull[j] *= share;
        copy[j] = z[j] + share * (copy[j] - z[j]);
      }
    }
    everywhere(this.context, inverse, inverses);
  }

  resume(): void {
    this.restoreRandom();
    const { weights, inverse, inverses } = this.#memory;
    everywhere(this.context, weights, this.#agreed);
    everywhere(this.context, inverse, inverses);
  }

  /** What is scaled with ρ belongs to it only where ρ adapts. */
  arrays(adapts: boolean): StateArray[] {
    const { alpha, norms, order, weights, inverse, copies, pulls, generators } = this.#memory;
    return stateArrays({
      row: { alpha, order, ...(adapts && { norms }) },
      column: { weights, ...(adapts && { inverse }) },
      worker: { generators },
      played: { copies, pulls },
    });
  }

  /** Passes of dual coordinate descent on a worker's own problem; returns the nonzeros touched. */
  descend(worker: number, passes: number): number {
    const { kernels, problem } = this.context;
    const { whole, rows, order, random, stats, copy } = this.#of(worker);
    const { inverses } = this.#memory;
    const share = 1 / problem.totalWeight;
    stats.fill(0);
    for (let pass = 0; pass < passes; pass++) {
      random.shuffle(order, order.length);
      for (let begin = 0; begin < order.length; begin += sweepChunk) {
        const end = Math.min(order.length, begin + sweepChunk);
        kernels.sweepWholeRows(whole, order, begin, end, rows, share, inverses, copy, stats);
      }
    }
    return stats[stat.work];
  }

  /** sums_j ← Σ_q a (x_q − z) + u_q over the copies of column j, a being the relaxation. */
  sum(relaxation: number): void {
    const { ring, team, objective, problem } = this.context;
    const { columnBounds } = problem.grid.partition;
    const z = this.#agreed;
    ring.rotate(objective.fieldsOf(this.#memory.sums), (worker, block, iteration) => {
      const sums = objective.columnsOf(this.#memory.sums, block);
      if (iteration === 0) sums.fill(0);
      const { held, listed, copy, pull } = this.#of(worker);
      for (let k = listed[block]; k < listed[block + 1]; k++) {
        const j = held[k];
        sums[j - columnBounds[block]] += relaxation * (copy[j] - z[j]) + pull[j];
      }
    });
    team.barrier();
  }

  /** Tells all workers the z that has just been agreed on. */
  learn(): void {
    [this.#agreed, this.#before] = [this.#before, this.#agreed];
    everywhere(this.context, this.#memory.weights, this.#agreed);
  }

  /**
   * With z⁺ agreed on: u_q ← u_q + a x_q + (1 − a) z − z⁺, and x_q to where the next problem starts.
   * `squares` gets the sums over j, weighted with ρ_j, of (x − z⁺)², max(x², z⁺²), (z⁺ − z)² and u².
   */
  follow(worker: number, relaxation: number, squares: Float64Array): void {
    const { inverses } = this.#memory;
    const { held, copy, pull } = this.#of(worker);
    let apart = 0;
    let size = 0;
    let moved = 0;
    let pulled = 0;
    for (let k = 0; k < held.length; k++) {
      const j = held[k];
      const z = this.#agreed[j];
      const before = this.#before[j];
      const x = copy[j];
      const step = x - before;
      const u = pull[j] + relaxation * step + before - z;
      apart += ((x - z) * (x - z)) / inverses[j];
      size += Math.max(x * x, z * z) / inverses[j];
      moved += ((z - before) * (z - before)) / inverses[j];
      pulled += (u * u) / inverses[j];
      copy[j] = z - u + (step + pull[j]);
      pull[j] = u;
    }
    squares[0] = apart;
    squares[1] = size;
    squares[2] = moved;
    squares[3] = pulled;
  }
}

import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { type Random, stream } from '../../math/random.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { addImage } from '../dso/local-descent.ts';
import { allocateGenerators, generatorOf } from '../generators.ts';
import { type RowState, stat, type WholeRows } from '../kernels/kernels.ts';
import type { Start, Workplace } from '../method.ts';
import { startingAlpha } from '../warm-start.ts';
import { heldColumns, wholeRows } from '../whole.ts';
import {
  allColumns,
  blockAmongAll,
  everywhere,
  interceptAmongAll,
  partOfWorker,
} from '../whole-columns.ts';

/** Rows per call of a kernel: short calls let the engine replace a kernel by a faster one. */
const sweepChunk = 1024;

export type AdmmMemory = ReturnType<typeof allocateAdmm>;

/**
 * 16 bytes per worker and column, for x_q and u_q, whether or not the column occurs there: that is
 * the price of weights which every worker has to itself. A process has those of the workers it
 * plays.
 */
export function allocateAdmm(arena: Arena, partition: Partition) {
  const { size, travelling } = partition;
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
    weights: arena.float64(travelling),
    sums: arena.float64(travelling),
    /** 1/ρ_j */
    inverse: arena.float64(travelling),
    /** How many workers have a copy of column j. */
    holders: arena.float64(travelling),
    /** z, z of the epoch before, and 1/ρ_j, of all columns. */
    agreed: arena.float64(all),
    before: arena.float64(all),
    inverses: arena.float64(all),
    copies: arena.float64(played * all),
    pulls: arena.float64(played * all),
  };
}

/** What one worker keeps to itself. */
interface Holder {
  readonly whole: WholeRows;
  readonly rows: Pick<RowState, 'labels' | 'importance' | 'alpha' | 'norms' | 'counts'>;
  readonly order: Int32Array;
  readonly random: Random;
  readonly stats: Float64Array;
  /** x_q and u_q by place among all columns. */
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
 * intercept's, which is tied as if its ones were of the size of the other entries.
 */
export class AdmmCopies {
  readonly #place: Workplace;
  readonly #memory: AdmmMemory;
  readonly #holders = new Map<number, Holder>();
  /** z as the workers know it, and as they knew it the epoch before. */
  #agreed: Float64Array;
  #before: Float64Array;

  constructor(place: Workplace, memory: AdmmMemory, rho?: number) {
    this.#place = place;
    this.#memory = memory;
    this.#agreed = memory.agreed;
    this.#before = memory.before;
    const { team, problem, ring, objective } = place;
    const { columnBounds } = problem.grid.partition;
    if (team.index === 0) memory.starts.set(columnBounds);
    for (let worker = team.first; worker < team.end; worker++) {
      this.#holders.set(worker, this.#view(worker));
    }
    ring.rotate(objective.cargoOf(memory.holders), (worker, block) => {
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
  startFrom(start: Start, loss: Loss): number {
    const { objective, problem, team } = this.#place;
    const { grid, mass } = problem;
    const { alpha, margins, weights, inverses } = this.#memory;
    for (let block = team.first; block < team.end; block++) {
      objective.columnsOf(weights, block).set(objective.columnsOf(start.weights, block));
    }
    const passes = startingAlpha(this.#place, start, loss, margins, alpha);
    everywhere(this.#place, weights, this.#agreed);
    for (const [worker, { rows: own, held, copy, pull }] of this.#holders) {
      for (let block = 0; block < grid.size; block++) {
        const cell = grid.cells[worker * grid.size + block];
        const [inverse, target] = [inverses, pull].map((all) =>
          blockAmongAll(grid.partition, all, block),
        );
        addImage(cell, own.alpha, 1 / mass, inverse, target);
      }
      for (let k = 0; k < held.length; k++) copy[held[k]] = this.#agreed[held[k]];
    }
    return 1 + passes;
  }

  #of(worker: number): Holder {
    return this.#holders.get(worker) as Holder;
  }

  #view(worker: number): Holder {
    const { problem, objective, seed } = this.#place;
    const { partition } = problem.grid;
    const { rowStarts, rowCounts } = partition;
    const memory = this.#memory;
    const from = rowStarts[worker];
    const to = rowStarts[worker + 1];
    const counts = memory.counts.subarray(from, to);
    counts.set(rowCounts.subarray(from, to));
    const order = memory.order.subarray(from, to);
    for (let i = 0; i < order.length; i++) order[i] = i;
    return {
      whole: wholeRows(problem, worker, memory.starts),
      rows: {
        labels: objective.rowsOf(problem.labels, worker),
        importance: objective.rowsOf(problem.weights, worker),
        alpha: objective.rowsOf(memory.alpha, worker),
        norms: objective.rowsOf(memory.norms, worker),
        counts,
      },
      order,
      random: stream(seed, 1 + worker),
      stats: memory.stats.subarray(worker * stat.length, (worker + 1) * stat.length),
      copy: partOfWorker(partition, memory.copies, worker),
      pull: partOfWorker(partition, memory.pulls, worker),
      ...heldColumns(problem, worker),
    };
  }

  /** Chooses ρ unless it is given, and makes norms_i = Σ_j x_ij² / ρ_j. */
  #tie(given?: number): void {
    const { team, problem } = this.#place;
    const { rows, mass, entries, intercept, interceptPlace } = problem;
    const { inverse, inverses } = this.#memory;
    const [squares, counted] = team.reduce(2, (worker, values) => {
      this.#measureSquares(worker, values);
    });
    const total = squares > 0 ? squares : 1;
    const rho = given ?? (counted > 0 ? counted : 1) / (rows * mass);
    const others = Math.max(1, intercept ? entries - rows : entries);
    const ones = total / others / rho;
    this.#forHome((j) => {
      inverse[j] = j === interceptPlace ? ones : 1 / rho;
    });
    for (const { rows: own } of this.#holders.values()) {
      for (let i = 0; i < own.norms.length; i++) {
        own.norms[i] = own.norms[i] / rho + (intercept ? ones : 0);
      }
    }
    everywhere(this.#place, inverse, inverses);
  }

  /** norms_i ← ‖x_i‖² without the intercept's entry; `sums` get Σ ‖x_i‖² and Σ c_i ‖x_i‖². */
  #measureSquares(worker: number, sums: Float64Array): void {
    const { problem } = this.#place;
    const { grid } = problem;
    const ones = interceptAmongAll(problem);
    const { norms, importance } = this.#of(worker).rows;
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
        sums[1] += importance[i] * square;
      }
    }
  }

  #forHome(visit: (column: number) => void): void {
    const { team, problem } = this.#place;
    const { columnStarts } = problem.grid.partition;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) visit(j);
  }

  /** ρ ← factor ρ. What is kept in multiples of 1/ρ, u_q and x_q − z among it, shrinks by it. */
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
    everywhere(this.#place, inverse, inverses);
  }

  save(): void {
    for (const [worker, { random }] of this.#holders) {
      random.store(generatorOf(this.#memory.generators, worker));
    }
  }

  resume(): void {
    for (const [worker, { random }] of this.#holders) {
      random.load(generatorOf(this.#memory.generators, worker));
    }
    const { weights, inverse, inverses } = this.#memory;
    everywhere(this.#place, weights, this.#agreed);
    everywhere(this.#place, inverse, inverses);
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

  /** Passes of dual coordinate descent on a worker's own problem; returns the entries touched. */
  descend(worker: number, passes: number): number {
    const { kernels, problem } = this.#place;
    const { whole, rows, order, random, stats, copy } = this.#of(worker);
    const { inverses } = this.#memory;
    const share = 1 / problem.mass;
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
    const { ring, team, objective, problem } = this.#place;
    const { columnBounds } = problem.grid.partition;
    const z = this.#agreed;
    ring.rotate(objective.cargoOf(this.#memory.sums), (worker, block, iteration) => {
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
    everywhere(this.#place, this.#memory.weights, this.#agreed);
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

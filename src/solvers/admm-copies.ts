import { type StateArray, stateArrays } from '../checkpoint/state.ts';
import { type RowState, stat, type WholeRows } from '../kernels/kernels.ts';
import { type Random, stream } from '../math/random.ts';
import type { Arena } from '../parallel/arena.ts';
import type { Partition } from '../parallel/partition.ts';
import { allocateGenerators, generatorOf } from './generators.ts';
import type { Workplace } from './method.ts';
import { heldColumns, wholeRows } from './whole-rows.ts';

/** Rows per call of a kernel: short calls let the engine replace a kernel by a faster one. */
const sweepChunk = 1024;

export type AdmmMemory = ReturnType<typeof allocateAdmm>;

/**
 * 16 bytes per worker and column, for x_q and u_q, whether or not the column occurs there: that is
 * the price of weights which every worker has to itself.
 */
export function allocateAdmm(arena: Arena, partition: Partition) {
  const { size } = partition;
  const rows = partition.rowOrder.length;
  const columns = partition.columnOrder.length;
  return {
    alpha: arena.float64(rows),
    norms: arena.float64(rows),
    counts: arena.int32(rows),
    order: arena.int32(rows),
    generators: allocateGenerators(arena, partition),
    margins: arena.float64(rows),
    starts: arena.int32(size + 1),
    stats: arena.float64(stat.length * size),
    /** z, and z of the epoch before. */
    weights: arena.float64(columns),
    previous: arena.float64(columns),
    sums: arena.float64(columns),
    /** 1/ρ_j */
    inverse: arena.float64(columns),
    /** How many workers have a copy of column j. */
    holders: arena.float64(columns),
    copies: arena.float64(size * columns),
    pulls: arena.float64(size * columns),
  };
}

/** What one worker keeps to itself. */
interface Holder {
  readonly whole: WholeRows;
  readonly rows: Pick<RowState, 'labels' | 'alpha' | 'norms' | 'counts'>;
  readonly order: Int32Array;
  readonly random: Random;
  readonly stats: Float64Array;
  /** x_q and u_q by place. */
  readonly copy: Float64Array;
  readonly pull: Float64Array;
  /** Places of the columns that occur in its rows; those of block b from listed[b] on. */
  readonly held: Int32Array;
  readonly listed: Int32Array;
}

/**
 * The workers' copies of the weights and what ties them to the agreed ones. Between epochs
 *
 *   x_q = z − u_q + (1/m) Σ_i α_i x_i ∘ (1/ρ_j),   i over the rows of worker q,
 *
 * the point that belongs to α in the worker's next problem. ρ_j is ρ for every column but the
 * intercept's, which is tied as if its ones were of the size of the other entries.
 */
export class AdmmCopies {
  readonly #place: Workplace;
  readonly #memory: AdmmMemory;
  readonly #holders = new Map<number, Holder>();

  constructor(place: Workplace, memory: AdmmMemory, rho?: number) {
    this.#place = place;
    this.#memory = memory;
    const { team, problem, ring } = place;
    if (team.index === 0) memory.starts.set(problem.grid.partition.columnStarts);
    for (let worker = team.first; worker < team.end; worker++) {
      this.#holders.set(worker, this.#view(worker));
    }
    ring.rotate((worker, block) => {
      const { held, listed } = this.#of(worker);
      for (let k = listed[block]; k < listed[block + 1]; k++) memory.holders[held[k]]++;
    });
    this.#tie(rho);
  }

  #of(worker: number): Holder {
    return this.#holders.get(worker) as Holder;
  }

  #view(worker: number): Holder {
    const { problem, objective, seed } = this.#place;
    const { rowStarts, rowCounts } = problem.grid.partition;
    const memory = this.#memory;
    const from = rowStarts[worker];
    const to = rowStarts[worker + 1];
    const counts = memory.counts.subarray(from, to);
    counts.set(rowCounts.subarray(from, to));
    const order = memory.order.subarray(from, to);
    for (let i = 0; i < order.length; i++) order[i] = i;
    const own = (array: Float64Array) =>
      array.subarray(worker * problem.columns, (worker + 1) * problem.columns);
    return {
      whole: wholeRows(problem, worker, memory.starts),
      rows: {
        labels: objective.rowsOf(problem.labels, worker),
        alpha: objective.rowsOf(memory.alpha, worker),
        norms: objective.rowsOf(memory.norms, worker),
        counts,
      },
      order,
      random: stream(seed, 1 + worker),
      stats: memory.stats.subarray(worker * stat.length, (worker + 1) * stat.length),
      copy: own(memory.copies),
      pull: own(memory.pulls),
      ...heldColumns(problem, worker),
    };
  }

  /** Chooses ρ unless it is given, and makes norms_i = Σ_j x_ij² / ρ_j. */
  #tie(given?: number): void {
    const { team, problem } = this.#place;
    const { rows, entries, interceptPlace } = problem;
    const { inverse } = this.#memory;
    const hasIntercept = interceptPlace >= 0;
    const [squares] = team.reduce(1, (worker, values) => {
      values[0] = this.#measureSquares(worker);
    });
    const total = squares > 0 ? squares : 1;
    const rho = given ?? total / (rows * rows);
    const others = Math.max(1, hasIntercept ? entries - rows : entries);
    const ones = total / others / rho;
    this.#forHome((j) => {
      inverse[j] = j === interceptPlace ? ones : 1 / rho;
    });
    for (const { rows: own } of this.#holders.values()) {
      for (let i = 0; i < own.norms.length; i++) {
        own.norms[i] = own.norms[i] / rho + (hasIntercept ? ones : 0);
      }
    }
    team.barrier();
  }

  /** norms_i ← ‖x_i‖² without the intercept's entry; returns their sum. */
  #measureSquares(worker: number): number {
    const { grid, interceptPlace } = this.#place.problem;
    const { norms } = this.#of(worker).rows;
    let sum = 0;
    for (let block = 0; block < grid.size; block++) {
      const { offsets, indices, values } = grid.cells[worker * grid.size + block];
      const left = interceptPlace - grid.partition.columnStarts[block];
      for (let i = 0; i < norms.length; i++) {
        let square = 0;
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          if (indices[k] !== left) square += values[k] * values[k];
        }
        norms[i] += square;
        sum += square;
      }
    }
    return sum;
  }

  #forHome(visit: (column: number) => void): void {
    const { team, problem } = this.#place;
    const { columnStarts } = problem.grid.partition;
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) visit(j);
  }

  /** ρ ← factor ρ. What is kept in multiples of 1/ρ, u_q and x_q − z among it, shrinks by it. */
  tighten(factor: number): void {
    const { inverse, weights } = this.#memory;
    const share = 1 / factor;
    this.#forHome((j) => {
      inverse[j] *= share;
    });
    for (const { rows, held, copy, pull } of this.#holders.values()) {
      for (let i = 0; i < rows.norms.length; i++) rows.norms[i] *= share;
      for (let k = 0; k < held.length; k++) {
        const j = held[k];
        pull[j] *= share;
        copy[j] = weights[j] + share * (copy[j] - weights[j]);
      }
    }
    this.#place.team.barrier();
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
  }

  /** What is scaled with ρ belongs to it only where ρ adapts. */
  arrays(adapts: boolean): StateArray[] {
    const { alpha, norms, order, weights, inverse, copies, pulls, generators } = this.#memory;
    return stateArrays({
      row: { alpha, order, ...(adapts && { norms }) },
      column: { weights, ...(adapts && { inverse }) },
      worker: { copies, pulls, generators },
    });
  }

  /** Passes of dual coordinate descent on a worker's own problem; returns the entries touched. */
  descend(worker: number, passes: number): number {
    const { kernels, problem } = this.#place;
    const { whole, rows, order, random, stats, copy } = this.#of(worker);
    const { inverse } = this.#memory;
    const share = 1 / problem.rows;
    stats.fill(0);
    for (let pass = 0; pass < passes; pass++) {
      random.shuffle(order, order.length);
      for (let begin = 0; begin < order.length; begin += sweepChunk) {
        const end = Math.min(order.length, begin + sweepChunk);
        kernels.sweepWholeRows(whole, order, begin, end, rows, share, inverse, copy, stats);
      }
    }
    return stats[stat.work];
  }

  /** sums_j ← Σ_q a (x_q − z) + u_q over the copies of column j, a being the relaxation. */
  sum(relaxation: number): void {
    const { ring, team, objective } = this.#place;
    const { sums, weights } = this.#memory;
    ring.rotate((worker, block, iteration) => {
      if (iteration === 0) objective.columnsOf(sums, block).fill(0);
      const { held, listed, copy, pull } = this.#of(worker);
      for (let k = listed[block]; k < listed[block + 1]; k++) {
        const j = held[k];
        sums[j] += relaxation * (copy[j] - weights[j]) + pull[j];
      }
    });
    team.barrier();
  }

  /**
   * With z⁺ agreed on: u_q ← u_q + a x_q + (1 − a) z − z⁺, and x_q to where the next problem starts.
   * `squares` gets the sums over j, weighted with ρ_j, of (x − z⁺)², max(x², z⁺²), (z⁺ − z)² and u².
   */
  follow(worker: number, relaxation: number, squares: Float64Array): void {
    const { weights, previous, inverse } = this.#memory;
    const { held, copy, pull } = this.#of(worker);
    let apart = 0;
    let size = 0;
    let moved = 0;
    let pulled = 0;
    for (let k = 0; k < held.length; k++) {
      const j = held[k];
      const z = weights[j];
      const before = previous[j];
      const x = copy[j];
      const step = x - before;
      const u = pull[j] + relaxation * step + before - z;
      apart += ((x - z) * (x - z)) / inverse[j];
      size += Math.max(x * x, z * z) / inverse[j];
      moved += ((z - before) * (z - before)) / inverse[j];
      pulled += (u * u) / inverse[j];
      copy[j] = z - u + (step + pull[j]);
      pull[j] = u;
    }
    squares[0] = apart;
    squares[1] = size;
    squares[2] = moved;
    squares[3] = pulled;
  }
}

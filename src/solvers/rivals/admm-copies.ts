import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { allocateGenerators, BlockState, reserve } from '../block-state.ts';
import { type Doubles, stat } from '../kernels/kernels.ts';
import type { SolverContext, WarmStart } from '../solver.ts';
import { startingAlpha } from '../warm-start.ts';
import {
  addImage,
  allColumns,
  allocateLocalProblems,
  blockAmongAll,
  descend,
  everywhere,
  type HeldColumns,
  heldColumns,
  interceptAmongAll,
  type LocalProblem,
  localProblem,
  partOfWorker,
} from '../whole.ts';

export type AdmmMemory = ReturnType<typeof allocateAdmm>;

/** x_q and u_q take 16 bytes per column for every worker that the process runs. */
export function allocateAdmm(arena: Arena, partition: Partition) {
  const { bufferLength } = partition;
  const rows = partition.rowOrder.length;
  const all = allColumns(partition);
  const local = partition.end - partition.first;
  return {
    /** Their 1/μ_j is 1/ρ_j. */
    ...allocateLocalProblems(arena, partition),
    ...reserve(arena, 'float64', rows, ['alpha', 'margins']),
    generators: allocateGenerators(arena, partition),
    /** z, and how many workers have a copy of column j. */
    ...reserve(arena, 'float64', bufferLength, ['weights', 'sums', 'copyCounts']),
    /** z and z of the epoch before, of all columns. */
    ...reserve(arena, 'float64', all, ['agreed', 'before']),
    ...reserve(arena, 'float64', local * all, ['copies', 'pulls']),
  };
}

/** What belongs to one worker alone, with x_q and u_q by position among all columns. */
interface WorkerCopy extends LocalProblem, HeldColumns, Doubles<'copy' | 'pull'> {}

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
  readonly #workers = new Map<number, WorkerCopy>();
  /** Whether ρ is not given, and adapts. */
  readonly #adapts: boolean;
  /** z as the workers know it, and as they knew it the epoch before. */
  #agreed: Float64Array;
  #before: Float64Array;

  constructor(context: SolverContext, memory: AdmmMemory, rho?: number) {
    super(context, memory.generators);
    this.#memory = memory;
    this.#adapts = rho === undefined;
    this.#agreed = memory.agreed;
    this.#before = memory.before;
    const { team, problem, ring, objective } = context;
    const { partition } = problem.grid;
    const { columnBounds } = partition;
    if (team.index === 0) memory.starts.set(columnBounds);
    for (const worker of this.parts) {
      this.#workers.set(worker, {
        ...localProblem(this, memory, memory.alpha, worker),
        ...heldColumns(problem, worker),
        copy: partOfWorker(partition, memory.copies, worker),
        pull: partOfWorker(partition, memory.pulls, worker),
      });
    }
    ring.rotate(objective.fields.of(memory.copyCounts), (worker, block) => {
      const { held, listed } = this.#of(worker);
      const copyCounts = objective.columnsOf(memory.copyCounts, block);
      for (let k = listed[block]; k < listed[block + 1]; k++) {
        copyCounts[held[k] - columnBounds[block]]++;
      }
    });
    this.#tie(rho);
  }

  /** All copies at z = w, and u_q = (1/W) Σ_i α_i x_i ∘ (1/ρ_j) there. Returns the passes. */
  startFrom(start: WarmStart, loss: Loss): number {
    const { objective, problem } = this.context;
    const { grid, totalWeight } = problem;
    const { alpha, margins, weights, inverses } = this.#memory;
    objective.copyColumns(start.weights, weights);
    const passes = startingAlpha(this.context, start, loss, margins, alpha);
    everywhere(this.context, weights, this.#agreed);
    for (const [worker, { rows: own, held, copy, pull }] of this.#workers) {
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

  #of(worker: number): WorkerCopy {
    return this.#workers.get(worker) as WorkerCopy;
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
    this.context.objective.ownColumns(inverse).fill(1 / rho);
    if (this.isOwn(interceptPosition)) inverse[interceptPosition] = ones;
    for (const { rows: own } of this.#workers.values()) {
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

  /** ρ ← factor ρ. What is stored in multiples of 1/ρ, u_q and x_q − z among it, shrinks by it. */
  tighten(factor: number): void {
    const { inverse, inverses } = this.#memory;
    const z = this.#agreed;
    const share = 1 / factor;
    const own = this.context.objective.ownColumns(inverse);
    for (let j = 0; j < own.length; j++) own[j] *= share;
    for (const { rows, held, copy, pull } of this.#workers.values()) {
      for (let i = 0; i < rows.norms.length; i++) rows.norms[i] *= share;
      for (let k = 0; k < held.length; k++) {
        const j = held[k];
        pull[j] *= share;
        copy[j] = z[j] + share * (copy[j] - z[j]);
      }
    }
    everywhere(this.context, inverse, inverses);
  }

  override resume(): void {
    super.resume();
    const { weights, inverse, inverses, order } = this.#memory;
    this.checkOrders(order);
    everywhere(this.context, weights, this.#agreed);
    everywhere(this.context, inverse, inverses);
  }

  /** What is scaled with ρ belongs to it only where ρ adapts. */
  override arrays(): StateArray[] {
    const { alpha, norms, order, weights, inverse, copies, pulls, generators } = this.#memory;
    return stateArrays({
      row: { alpha, order, ...(this.#adapts && { norms }) },
      column: { weights, ...(this.#adapts && { inverse }) },
      worker: { generators },
      local: { copies, pulls },
    });
  }

  /** Passes of dual coordinate descent on a worker's own problem; returns the nonzeros touched. */
  descend(worker: number, passes: number): number {
    const { kernels, problem } = this.context;
    const own = this.#of(worker);
    own.stats.fill(0);
    const share = 1 / problem.totalWeight;
    descend(kernels, own, own.copy, this.random(worker), { passes, share });
    return own.stats[stat.work];
  }

  /** sums_j ← Σ_q a (x_q − z) + u_q over the copies of column j, a being the relaxation. */
  sum(relaxation: number): void {
    const { ring, team, objective, problem } = this.context;
    const { columnBounds } = problem.grid.partition;
    const z = this.#agreed;
    ring.rotate(objective.fields.of(this.#memory.sums), (worker, block, iteration) => {
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

  /** Sends all workers the z that has just been agreed on. */
  share(): void {
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

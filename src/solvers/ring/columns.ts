import type { StateArray } from '../../engine/checkpoint/state.ts';
import { rootOfFalling } from '../../math/line-search.ts';
import type { Gap } from '../objective/objective.ts';
import type { Method, SolverCode, SolverContext, WarmStart } from '../solver.ts';
import { allocateRingColumns, ColumnModeState, type RingColumnsMemory } from './columns-state.ts';
import { Damping, rotationsFor } from './damping.ts';
import { PackedBatches } from './packed-batches.ts';

/** Columns per call of a sweeping kernel. */
const sweepChunk = 256;
/**
 * Epochs between two recomputations of the margins. Steps longer than 1 multiply the difference
 * between the margins and X·w, which starts as rounding error, by up to 2 an epoch.
 */
const refreshEvery = 8;
/** The line search may go on to twice the epoch's step. */
const farthest = 2;

export interface RingColumnsOptions {
  readonly rotations?: number;
}

/**
 * Column mode of the ring solver, for smooth losses with any penalty: the roles of rows and columns
 * are exchanged. The unit is a column; a block carries the gradient and the curvature of its
 * current batch round the ring while every worker keeps the margins of its rows. At a visit the
 * worker first applies the changes of the block's previous batch to its margins and then adds its
 * rows' part of ℓ' and ℓ''; after p visits the block is at home again and the batch takes its
 * prox-Newton steps. The line search is on the primal objective.
 */
export class RingColumns implements Method {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
  passes = 0;
  readonly polish = 0;
  readonly combinesIterates = true;
  readonly #context: SolverContext;
  readonly #state: ColumnModeState;
  readonly #packed: PackedBatches;
  readonly #rotations: number;
  readonly #damping: Damping;
  #momentum = 0;
  #epochs = 0;

  constructor(context: SolverContext, memory: RingColumnsMemory, options: RingColumnsOptions) {
    this.#context = context;
    this.#state = new ColumnModeState(context, memory);
    this.weights = memory.weights;
    this.margins = memory.margins;
    const { columns, nonzeros, grid } = context.problem;
    const collision = this.#prepare();
    this.#rotations =
      grid.size === 1
        ? columns
        : (options.rotations ?? rotationsFor(columns, collision, nonzeros, grid.size));
    this.#damping = new Damping(columns / this.#rotations);
    this.#packed = new PackedBatches(context, memory.packed, this.#rotations);
    if (context.start) this.#startFrom(context.start);
  }

  #startFrom({ weights }: WarmStart): void {
    const { objective } = this.#context;
    for (const block of this.#state.parts) {
      this.#state.homeOf(block).columns.weights.set(objective.columnsOf(weights, block));
    }
    objective.margins(this.weights, this.margins);
    this.passes++;
  }

  /** After a whole evaluation. */
  get dualPoint(): Float64Array {
    return this.#state.memory.slopes;
  }

  /** Counts and densities. Returns the mean share of other columns that a column collides with. */
  #prepare(): number {
    const { problem, team } = this.#context;
    const { rowStarts, columnStarts, rowCounts, columnCounts } = problem.grid.partition;
    const { density, counts } = this.#state.memory;
    for (let i = rowStarts[team.first]; i < rowStarts[team.end]; i++) {
      density[i] = rowCounts[i] / problem.columns;
    }
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      counts[j] = columnCounts[j];
    }
    const [overlapping, plain] = team.reduce(2, (worker, values) => {
      for (let i = rowStarts[worker]; i < rowStarts[worker + 1]; i++) {
        values[0] += rowCounts[i] * density[i];
        values[1] += rowCounts[i];
      }
    });
    return plain > 0 ? overlapping / plain : 0;
  }

  /** With one worker, which hands nothing on, every column is a batch. */
  get rotations(): number {
    return this.#context.problem.grid.size === 1 ? 0 : this.#rotations;
  }

  epoch(): void {
    const { team, problem, kernels } = this.#context;
    if (++this.#epochs % refreshEvery === 0) this.#refreshMargins();
    const beta = this.#momentum / (this.#momentum + 3);
    this.#momentum++;
    for (const { rows, start, previous } of this.#state.mine) {
      kernels.extrapolate(rows.margins, start, previous, beta);
      rows.dirty.fill(1);
    }
    for (const { columns, start, previous, batches, stats } of this.#state.home) {
      kernels.extrapolate(columns.weights, start, previous, beta);
      batches.shuffle(kernels, columns.skip, columns.weights, start);
      stats.fill(0);
    }
    if (team.shared.workers === 1) this.#sweep();
    else this.#rotate();
    const [work, effective] = team.reduce(2, (block, values) => {
      values.set(this.#state.homeOf(block).stats.subarray(0, 2));
    });
    this.passes += work / Math.max(1, problem.nonzeros);
    const { eta, exactness } = this.#search();
    this.#state.moveTo(eta);
    if (eta < 0.5) this.#momentum = 0;
    this.#damping.learn(exactness, effective / problem.columns);
  }

  #refreshMargins(): void {
    const { objective } = this.#context;
    const { weights, weightPrevious, margins, marginPrevious } = this.#state.memory;
    objective.margins(weights, margins);
    objective.margins(weightPrevious, marginPrevious);
    this.passes += 2;
  }

  /** One worker: every column is a batch of its own. */
  #sweep(): void {
    // It may run in another process.
    if (this.#state.home.length === 0) return;
    const { kernels, problem } = this.#context;
    const { rows } = this.#state.workers[0];
    const { columns, batches, stats } = this.#state.home[0];
    const cell = problem.grid.cells[0];
    const damping = this.#damping.value;
    for (let begin = 0; begin < batches.count; begin += sweepChunk) {
      const end = Math.min(batches.count, begin + sweepChunk);
      kernels.sweepColumns(
        cell,
        batches.active,
        begin,
        end,
        rows,
        columns,
        damping,
        1 / problem.totalWeight,
        stats,
      );
    }
  }

  /** B rotations and one more that only applies the changes of the last batch. */
  #rotate(): void {
    const { kernels, problem, ring, team } = this.#context;
    const { cells, size } = problem.grid;
    const packed = this.#packed;
    const damping = this.#damping.value;
    for (let batch = 0; batch <= this.#rotations; batch++) {
      ring.rotate(packed.fields, (worker, block, iteration) => {
        const { rows } = this.#state.workers[worker];
        const here = this.#state.blocks[block];
        const { columns, pending, units, range } = here;
        const cell = cells[worker * size + block];
        packed.arrive(worker, block, iteration > 0 || batch > 0, here);
        if (iteration === 0) this.#stepAtHome(block, batch);
        kernels.scatterColumns(cell, pending, here.count[0], rows);
        const fresh = iteration === 0;
        kernels.gatherColumns(cell, units, range[0], range[1], fresh, rows, columns, damping);
        packed.leave(worker, block, here);
      });
    }
    team.barrier();
  }

  /** A block begins its round at home, where the batch that has come home takes its steps. */
  #stepAtHome(block: number, batch: number): void {
    const { kernels, problem } = this.#context;
    const { columns, batches, pending, stats, range, count } = this.#state.homeOf(block);
    const scale = 1 / problem.totalWeight;
    const [begin, end] = range;
    count[0] =
      batch > 0
        ? kernels.stepColumns(batches.active, begin, end, columns, scale, pending, stats)
        : 0;
    range[0] = batches.begin(batch, this.#rotations);
    range[1] = batches.begin(Math.min(batch + 1, this.#rotations), this.#rotations);
  }

  /**
   * The exact minimiser of P on the line through the epoch's start and end; where weights are
   * bounded between the two, since a weight that has come to an end of its box cannot go on.
   */
  #search(): { eta: number; exactness: number } {
    const descent = (eta: number) => -this.#slope(eta);
    const atStart = descent(0);
    const atEnd = descent(1);
    const exactness = atStart / Math.max(1e-300, atStart - atEnd);
    if (!(atStart > 0)) return { eta: 0, exactness };
    if (Math.abs(atEnd) <= 1e-3 * atStart) return { eta: 1, exactness };
    if (atEnd >= 0 && this.#context.problem.box) return { eta: 1, exactness };
    if (atEnd < 0)
      return {
        eta: rootOfFalling(descent, [0, atStart], [1, atEnd], 1e-3 * atStart, 12),
        exactness,
      };
    const beyond = descent(farthest);
    if (beyond >= 0) return { eta: farthest, exactness };
    return {
      eta: rootOfFalling(descent, [1, atEnd], [farthest, beyond], 1e-3 * atStart, 12),
      exactness,
    };
  }

  /** d/dη of P at start + η (end − start). */
  #slope(eta: number): number {
    const { team, kernels, problem } = this.#context;
    const [loss, penalty] = team.reduce(2, (part, values) => {
      const { rows, start } = this.#state.workers[part];
      const { margins, labels, rowWeights } = rows;
      values[0] = kernels.lossSlope(start, margins, labels, rowWeights, 0, margins.length, eta);
      const { columns, start: from } = this.#state.homeOf(part);
      values[1] = kernels.penaltySlope(from, columns.weights, columns.l1, columns.l2, eta);
    });
    return loss / problem.totalWeight + penalty;
  }

  evaluate(whole: boolean): Gap {
    return {
      primal: this.#context.objective.primal(this.weights, this.#state.memory.margins),
      dual: whole ? this.#dual() : -Infinity,
    };
  }

  /** D at α_i = −c_i ℓ'(u_i), the dual point that the margins suggest. */
  #dual(): number {
    const { kernels, objective } = this.#context;
    const { slopes } = this.#state.memory;
    for (const { rows } of this.#state.mine) {
      const { margins, labels, rowWeights } = rows;
      kernels.dualPoint(margins, labels, rowWeights, 0, margins.length, rows.slopes);
    }
    return objective.dual(slopes);
  }

  /** The image behind every bound was computed from scratch. */
  certify(bound: number): number {
    return bound;
  }

  save() {
    this.#state.saveRandom();
    return {
      passes: this.passes,
      momentum: this.#momentum,
      epochs: this.#epochs,
      damping: this.#damping.save(),
    };
  }

  restore(saved: ReturnType<RingColumns['save']>): void {
    this.passes = saved.passes;
    this.#momentum = saved.momentum;
    this.#epochs = saved.epochs;
    this.#damping.restore(saved.damping);
  }

  arrays(): StateArray[] {
    return this.#state.arrays();
  }

  resume(): void {
    this.#state.resume();
  }
}

export const ringColumns: SolverCode<RingColumnsOptions, RingColumnsMemory> = {
  allocate: (arena, partition) => allocateRingColumns(arena, partition),
  create: (context, memory, options) => new RingColumns(context, memory, options),
};

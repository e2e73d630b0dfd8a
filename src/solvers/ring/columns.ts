import { BlockMethod } from '../block-state.ts';
import type { Gap } from '../objective/objective.ts';
import { inChunks } from '../orders.ts';
import type { SolverCode, SolverContext } from '../solver.ts';
import {
  allocateRingColumns,
  ColumnModeState,
  PackedBatches,
  type RingColumnsMemory,
} from './columns-state.ts';
import { Damping, rotationsFor, searchLine } from './damping.ts';

/** Columns per call of a sweeping kernel. */
const sweepChunk = 256;
/**
 * Epochs between two recomputations of the margins. Steps longer than 1 multiply the difference
 * between the margins and X·w, which starts as rounding error, by up to 2 an epoch.
 */
const refreshEvery = 8;
/** The line search may go up to twice the epoch's step. */
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
export class RingColumns extends BlockMethod<ColumnModeState> {
  override readonly result = 'combined';
  protected override readonly scalars = { momentum: 0, epochs: 0 };
  readonly #packed: PackedBatches;
  readonly #rotations: number;
  readonly #damping: Damping;

  /** The dual point, `slopes`, is there after a whole evaluation. */
  constructor(context: SolverContext, memory: RingColumnsMemory, options: RingColumnsOptions) {
    super(new ColumnModeState(context, memory), memory, memory.slopes);
    const { columns, nonzeros, grid } = context.problem;
    const collision = this.#prepare();
    this.#rotations = rotationsFor(columns, collision, nonzeros, grid.size, options.rotations);
    this.#damping = new Damping(columns / this.#rotations);
    this.#packed = new PackedBatches(context, memory.packed, this.#rotations);
    if (context.start) this.startAt(context.start);
  }

  /** Counts and densities. Returns the mean share of other columns that a column collides with. */
  #prepare(): number {
    const { problem, team } = this.context;
    const { rowStarts, rowCounts, columnCounts } = problem.grid.partition;
    const [begin, end] = this.state.ownColumns;
    const { density, counts } = this.state.memory;
    for (let i = rowStarts[team.first]; i < rowStarts[team.end]; i++) {
      density[i] = rowCounts[i] / problem.columns;
    }
    counts.set(columnCounts.subarray(begin, end), begin);
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
    return this.context.problem.grid.size === 1 ? 0 : this.#rotations;
  }

  epoch(): void {
    const { team, problem, kernels } = this.context;
    if (++this.scalars.epochs % refreshEvery === 0) this.#refreshMargins();
    const beta = this.scalars.momentum / (this.scalars.momentum + 3);
    this.scalars.momentum++;
    for (const { rows, start, previous } of this.state.mine) {
      kernels.extrapolate(rows.margins, start, previous, beta);
      rows.dirty.fill(1);
    }
    for (const { columns, start, previous, batches, stats } of this.state.home) {
      kernels.extrapolate(columns.weights, start, previous, beta);
      batches.shuffle(kernels, columns.skip, columns.weights, start);
      stats.fill(0);
    }
    if (team.shared.workers === 1) this.#sweep();
    else this.#rotate();
    const [work, effective] = team.reduce(2, (block, values) => {
      values.set(this.state.homeOf(block).stats.subarray(0, 2));
    });
    this.passes += work / Math.max(1, problem.nonzeros);
    const found = this.#search();
    this.state.moveTo(found.eta);
    if (found.eta < 0.5) this.scalars.momentum = 0;
    this.#damping.learn(found.exactness, effective / problem.columns);
  }

  #refreshMargins(): void {
    const { objective } = this.context;
    const { weights, weightPrevious, margins, marginPrevious } = this.state.memory;
    objective.margins(weights, margins);
    objective.margins(weightPrevious, marginPrevious);
    this.passes += 2;
  }

  /** One worker: every column is a batch of its own. */
  #sweep(): void {
    // It may run in another process.
    if (this.state.home.length === 0) return;
    const { kernels, problem } = this.context;
    const { rows } = this.state.workers[0];
    const { columns, batches, stats } = this.state.home[0];
    const cell = problem.grid.cells[0];
    const damping = this.#damping.value;
    const scale = 1 / problem.totalWeight;
    const sweep = (begin: number, end: number) => {
      kernels.sweepColumns(cell, batches.active, begin, end, rows, columns, damping, scale, stats);
    };
    inChunks(0, batches.count, sweep, sweepChunk);
  }

  /** B rotations and one more that only applies the changes of the last batch. */
  #rotate(): void {
    const { kernels, problem, ring, team } = this.context;
    const { cells, size } = problem.grid;
    const packed = this.#packed;
    const damping = this.#damping.value;
    for (let batch = 0; batch <= this.#rotations; batch++) {
      ring.rotate(packed.fields, (worker, block, iteration) => {
        const { rows } = this.state.workers[worker];
        const here = this.state.blocks[block];
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
    const { kernels, problem } = this.context;
    const { columns, batches, pending, stats, range, count } = this.state.homeOf(block);
    const scale = 1 / problem.totalWeight;
    const [begin, end] = range;
    count[0] =
      batch > 0
        ? kernels.stepColumns(batches.active, begin, end, columns, scale, pending, stats)
        : 0;
    range[0] = batches.begin(batch, this.#rotations);
    range[1] = batches.begin(Math.min(batch + 1, this.#rotations), this.#rotations);
  }

  /** Bounded weights go no farther than the end: one at an end of its box cannot move on. */
  #search() {
    const { weights, margins, weightStart, marginStart } = this.state.memory;
    const [start, end] = [
      { weights: weightStart, margins: marginStart },
      { weights, margins },
    ];
    const { objective, problem } = this.context;
    const descent = (eta: number) => -objective.primalSlope(start, end, eta);
    return searchLine(descent, problem.box ? 1 : farthest, 1e-3);
  }

  /** D at α_i = −c_i ℓ'(u_i), the dual point that the margins suggest. */
  override evaluate(whole: boolean): Gap {
    const { objective } = this.context;
    const { slopes } = this.state.memory;
    const primal = objective.primal(this.weights, this.margins);
    if (!whole) return { primal, dual: -Infinity };
    objective.dualPoint(this.margins, slopes);
    return { primal, dual: objective.dual(slopes) };
  }

  override save() {
    return { ...super.save(), damping: this.#damping.save() };
  }

  override restore({ damping, ...rest }: ReturnType<RingColumns['save']>): void {
    super.restore(rest);
    this.#damping.restore(damping);
  }
}

export const ringColumns: SolverCode<RingColumnsOptions, RingColumnsMemory> = {
  allocate: allocateRingColumns,
  create: (context, memory, options) => new RingColumns(context, memory, options),
};

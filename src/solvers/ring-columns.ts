import { type StateArray, stateArrays } from '../checkpoint/state.ts';
import { type ColumnState, type MarginState, type Pending, stat } from '../kernels/kernels.ts';
import { stream } from '../math/random.ts';
import { rootOfFalling } from '../math/root.ts';
import type { Gap } from '../objective/objective.ts';
import type { Arena } from '../parallel/arena.ts';
import type { Partition } from '../parallel/partition.ts';
import { Batches } from './batches.ts';
import { Damping, rotationsFor } from './damping.ts';
import type { Engine } from './engine.ts';
import { allocateGenerators, generatorOf } from './generators.ts';
import type { Method, Workplace } from './method.ts';

/** Columns lie in the order of their frequency, which no batch should know of. */
const columnsTogether = 1;
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

export type RingColumnsMemory = ReturnType<typeof allocateRingColumns>;

export function allocateRingColumns(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  const columns = partition.columnOrder.length;
  return {
    margins: arena.float64(rows),
    marginStart: arena.float64(rows),
    marginPrevious: arena.float64(rows),
    slopes: arena.float64(rows),
    curvatures: arena.float64(rows),
    density: arena.float64(rows),
    dirty: arena.uint8(rows),
    weights: arena.float64(columns),
    weightStart: arena.float64(columns),
    weightPrevious: arena.float64(columns),
    gradients: arena.float64(columns),
    hessians: arena.float64(columns),
    counts: arena.int32(columns),
    level: arena.uint8(columns),
    skip: arena.uint8(columns),
    active: arena.int32(columns),
    runs: arena.int32(columns),
    activeCounts: arena.int32(partition.size),
    generators: allocateGenerators(arena, partition),
    pendingUnits: arena.int32(columns),
    pendingDeltas: arena.float64(columns),
    pendingCounts: arena.int32(partition.size),
    stats: arena.float64(stat.length * partition.size),
  };
}

interface WorkerMargins {
  readonly rows: MarginState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
}

/** A block travels with its batch and the changes of its last batch. */
interface Block {
  readonly columns: ColumnState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly batches: Batches;
  readonly pending: Pending;
  readonly stats: Float64Array;
}

/**
 * Column mode of the ring solver, for smooth losses with any penalty: the roles of rows and columns
 * are exchanged. The unit is a column; a block carries the gradient and the curvature of its
 * current batch round the ring while every worker keeps the margins of its rows. At a visit the
 * worker first applies the changes of the block's previous batch to its margins and then adds its
 * rows' part of ℓ' and ℓ''; after p visits the batch takes its prox-Newton steps. The line search
 * is on the primal objective.
 */
export class RingColumns implements Method {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
  passes = 0;
  readonly polish = 0;
  readonly mixes = true;
  readonly #place: Workplace;
  readonly #memory: RingColumnsMemory;
  readonly #workers: WorkerMargins[];
  readonly #blocks: Block[];
  readonly #rotations: number;
  readonly #damping: Damping;
  #momentum = 0;
  #epochs = 0;

  constructor(place: Workplace, memory: RingColumnsMemory, options: RingColumnsOptions) {
    this.#place = place;
    this.#memory = memory;
    this.weights = memory.weights;
    this.margins = memory.margins;
    const { columns, entries, grid } = place.problem;
    const ids = Array.from({ length: grid.size }, (_, k) => k);
    this.#workers = ids.map((worker) => this.#viewWorker(worker));
    this.#blocks = ids.map((block) => this.#viewBlock(block));
    const collision = this.#prepare();
    this.#rotations =
      grid.size === 1
        ? columns
        : (options.rotations ?? rotationsFor(columns, collision, entries, grid.size));
    this.#damping = new Damping(columns / this.#rotations);
  }

  #viewWorker(worker: number): WorkerMargins {
    const { grid, labels } = this.#place.problem;
    const from = grid.partition.rowStarts[worker];
    const to = grid.partition.rowStarts[worker + 1];
    const memory = this.#memory;
    return {
      rows: {
        labels: labels.subarray(from, to),
        margins: memory.margins.subarray(from, to),
        slopes: memory.slopes.subarray(from, to),
        curvatures: memory.curvatures.subarray(from, to),
        dirty: memory.dirty.subarray(from, to),
        density: memory.density.subarray(from, to),
      },
      start: memory.marginStart.subarray(from, to),
      previous: memory.marginPrevious.subarray(from, to),
    };
  }

  #viewBlock(block: number): Block {
    const { problem, seed } = this.#place;
    const from = problem.grid.partition.columnStarts[block];
    const to = problem.grid.partition.columnStarts[block + 1];
    const memory = this.#memory;
    return {
      columns: {
        weights: memory.weights.subarray(from, to),
        gradients: memory.gradients.subarray(from, to),
        hessians: memory.hessians.subarray(from, to),
        l1: problem.l1.subarray(from, to),
        l2: problem.l2.subarray(from, to),
        counts: memory.counts.subarray(from, to),
        level: memory.level.subarray(from, to),
        skip: memory.skip.subarray(from, to),
      },
      start: memory.weightStart.subarray(from, to),
      previous: memory.weightPrevious.subarray(from, to),
      batches: new Batches(
        memory.active.subarray(from, to),
        memory.activeCounts.subarray(block, block + 1),
        memory.runs.subarray(from, to),
        columnsTogether,
        stream(seed, 1 + block),
      ),
      pending: {
        units: memory.pendingUnits.subarray(from, to),
        deltas: memory.pendingDeltas.subarray(from, to),
      },
      stats: memory.stats.subarray(block * stat.length, (block + 1) * stat.length),
    };
  }

  #mine(): WorkerMargins[] {
    return this.#workers.slice(this.#place.team.first, this.#place.team.end);
  }

  #home(): Block[] {
    return this.#blocks.slice(this.#place.team.first, this.#place.team.end);
  }

  /** Counts and densities. Returns the mean share of other columns that a column collides with. */
  #prepare(): number {
    const { problem, team } = this.#place;
    const { rowStarts, columnStarts, rowCounts, columnCounts } = problem.grid.partition;
    const { density, counts } = this.#memory;
    for (let i = rowStarts[team.first]; i < rowStarts[team.end]; i++) {
      density[i] = rowCounts[i] / problem.columns;
    }
    for (let j = columnStarts[team.first]; j < columnStarts[team.end]; j++) {
      counts[j] = columnCounts[j];
    }
    const [crowded, plain] = team.reduce(2, (worker, values) => {
      for (let i = rowStarts[worker]; i < rowStarts[worker + 1]; i++) {
        values[0] += rowCounts[i] * density[i];
        values[1] += rowCounts[i];
      }
    });
    return plain > 0 ? crowded / plain : 0;
  }

  epoch(): void {
    const { team, problem, kernels } = this.#place;
    if (++this.#epochs % refreshEvery === 0) this.#refreshMargins();
    const beta = this.#momentum / (this.#momentum + 3);
    this.#momentum++;
    for (const { rows, start, previous } of this.#mine()) {
      kernels.extrapolate(rows.margins, start, previous, beta);
      rows.dirty.fill(1);
    }
    for (const { columns, start, previous, batches, stats } of this.#home()) {
      kernels.extrapolate(columns.weights, start, previous, beta);
      batches.deal(kernels, columns.skip, columns.weights, start);
      stats.fill(0);
    }
    if (team.shared.workers === 1) this.#sweep();
    else this.#rotate();
    const [work, effective] = team.reduce(2, (block, values) => {
      values.set(this.#blocks[block].stats.subarray(0, 2));
    });
    this.passes += work / Math.max(1, problem.entries);
    const { eta, exactness } = this.#search();
    this.#moveTo(eta);
    if (eta < 0.5) this.#momentum = 0;
    this.#damping.learn(exactness, effective / problem.columns);
  }

  #refreshMargins(): void {
    const { objective } = this.#place;
    const { weights, weightPrevious, margins, marginPrevious } = this.#memory;
    objective.margins(weights, margins);
    objective.margins(weightPrevious, marginPrevious);
    this.passes += 2;
  }

  /** One worker: every column is a batch of its own. */
  #sweep(): void {
    const { kernels, problem } = this.#place;
    const { rows } = this.#workers[0];
    const { columns, batches, stats } = this.#blocks[0];
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
        1 / problem.rows,
        stats,
      );
    }
  }

  /** B rotations and one more that only applies the changes of the last batch. */
  #rotate(): void {
    const { kernels, problem, ring, team } = this.#place;
    const { cells, size } = problem.grid;
    const { pendingCounts } = this.#memory;
    const damping = this.#damping.value;
    const batchCount = this.#rotations;
    for (let block = team.first; block < team.end; block++) pendingCounts[block] = 0;
    for (let batch = 0; batch <= batchCount; batch++) {
      ring.rotate((worker, block, iteration) => {
        const { rows } = this.#workers[worker];
        const { columns, batches, pending, stats } = this.#blocks[block];
        const cell = cells[worker * size + block];
        kernels.scatterColumns(cell, pending, pendingCounts[block], rows);
        if (batch === batchCount) return;
        const begin = batches.begin(batch, batchCount);
        const end = batches.begin(batch + 1, batchCount);
        const { active } = batches;
        kernels.gatherColumns(cell, active, begin, end, iteration === 0, rows, columns, damping);
        // The last worker a block meets has its batch complete in hand.
        if (iteration === size - 1) {
          pendingCounts[block] = kernels.stepColumns(
            active,
            begin,
            end,
            columns,
            1 / problem.rows,
            pending,
            stats,
          );
        }
      });
    }
    team.barrier();
  }

  /** The exact minimiser of P on the line through the epoch's start and end. */
  #search(): { eta: number; exactness: number } {
    const descent = (eta: number) => -this.#slope(eta);
    const atStart = descent(0);
    const atEnd = descent(1);
    const exactness = atStart / Math.max(1e-300, atStart - atEnd);
    if (!(atStart > 0)) return { eta: 0, exactness };
    if (Math.abs(atEnd) <= 1e-3 * atStart) return { eta: 1, exactness };
    if (atEnd < 0)
      return { eta: rootOfFalling(descent, 0, atStart, 1, atEnd, 1e-3 * atStart, 12), exactness };
    const beyond = descent(farthest);
    if (beyond >= 0) return { eta: farthest, exactness };
    return {
      eta: rootOfFalling(descent, 1, atEnd, farthest, beyond, 1e-3 * atStart, 12),
      exactness,
    };
  }

  /** d/dη of P at start + η (end − start). */
  #slope(eta: number): number {
    const { team, kernels, problem } = this.#place;
    const [loss, penalty] = team.reduce(2, (part, values) => {
      const { rows, start } = this.#workers[part];
      const { margins, labels } = rows;
      values[0] = kernels.lossSlope(start, margins, labels, 0, margins.length, eta);
      const { columns, start: from } = this.#blocks[part];
      values[1] = kernels.penaltySlope(from, columns.weights, columns.l1, columns.l2, eta);
    });
    return loss / problem.rows + penalty;
  }

  #moveTo(eta: number): void {
    if (eta === 1) return;
    const { kernels } = this.#place;
    for (const { rows, start } of this.#mine()) {
      kernels.interpolate(rows.margins, start, rows.margins, eta);
    }
    for (const { columns, start } of this.#home()) {
      kernels.interpolate(columns.weights, start, columns.weights, eta);
    }
    this.#place.team.barrier();
  }

  evaluate(whole: boolean): Gap {
    return {
      primal: this.#place.objective.primal(this.weights, this.#memory.margins),
      dual: whole ? this.#dual() : -Infinity,
    };
  }

  /** D at α_i = −ℓ'(u_i), the dual point that the margins suggest. */
  #dual(): number {
    const { kernels, objective } = this.#place;
    const { slopes } = this.#memory;
    for (const { rows } of this.#mine()) {
      kernels.dualPoint(rows.margins, rows.labels, 0, rows.margins.length, rows.slopes);
    }
    return objective.dual(slopes);
  }

  /** The image behind every bound was computed from scratch. */
  certify(bound: number): number {
    return bound;
  }

  save() {
    this.#eachGenerator((batches, words) => batches.save(words));
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
    const { margins, marginPrevious, weights, weightPrevious, level, skip } = this.#memory;
    const { runs, generators } = this.#memory;
    return stateArrays({
      row: { margins, marginPrevious },
      column: { weights, weightPrevious, level, skip, runs },
      worker: { generators },
    });
  }

  resume(): void {
    this.#eachGenerator((batches, words) => batches.resume(words));
  }

  #eachGenerator(visit: (batches: Batches, words: Int32Array) => void): void {
    const { first } = this.#place.team;
    for (const [k, { batches }] of this.#home().entries()) {
      visit(batches, generatorOf(this.#memory.generators, first + k));
    }
  }
}

export const ringColumnsEngine: Engine<RingColumnsOptions, RingColumnsMemory> = {
  orientation: 'columns',
  refusal: ({ loss }) =>
    loss.smooth
      ? undefined
      : `in column mode needs a smooth loss; '${loss.name}' has no second derivative (use --mode rows)`,
  allocate: (arena, partition) => allocateRingColumns(arena, partition),
  create: (place, memory, options) => new RingColumns(place, memory, options),
};

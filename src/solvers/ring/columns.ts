import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { stream } from '../../math/random.ts';
import { rootOfFalling } from '../../math/root.ts';
import { blockOf } from '../../parallel/lodging.ts';
import { Batches } from '../batches.ts';
import { Damping, rotationsFor } from '../damping.ts';
import type { Engine } from '../engine.ts';
import { allocateGenerators, generatorOf } from '../generators.ts';
import { type ColumnState, type MarginState, type Pending, stat } from '../kernels/kernels.ts';
import type { Method, Start, Workplace } from '../method.ts';
import type { Gap } from '../objective/objective.ts';
import { allocateParcels, type Batch, Parcels } from './packed-batches.ts';

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
  const { travelling } = partition;
  return {
    margins: arena.float64(rows),
    marginStart: arena.float64(rows),
    marginPrevious: arena.float64(rows),
    slopes: arena.float64(rows),
    curvatures: arena.float64(rows),
    density: arena.float64(rows),
    dirty: arena.uint8(rows),
    weights: arena.float64(travelling),
    weightStart: arena.float64(columns),
    weightPrevious: arena.float64(travelling),
    gradients: arena.float64(travelling),
    hessians: arena.float64(travelling),
    counts: arena.int32(columns),
    level: arena.uint8(columns),
    skip: arena.uint8(columns),
    active: arena.int32(travelling),
    ranges: arena.int32(2 * partition.size),
    runs: arena.int32(columns),
    activeCounts: arena.int32(partition.size),
    generators: allocateGenerators(arena, partition),
    pendingUnits: arena.int32(travelling),
    pendingDeltas: arena.float64(travelling),
    pendingCounts: arena.int32(partition.size),
    stats: arena.float64(stat.length * partition.size),
    parcels: allocateParcels(arena, partition),
  };
}

interface WorkerMargins {
  readonly rows: MarginState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
}

/** A block travels with its batch and the changes of its last batch. */
interface Block extends Batch {
  readonly columns: Pick<ColumnState, 'gradients' | 'hessians'>;
  readonly pending: Pending;
}

/** What stays where a block is at home, where its steps are taken. */
interface HomeBlock extends Block {
  readonly columns: ColumnState;
  readonly start: Float64Array;
  readonly previous: Float64Array;
  readonly batches: Batches;
  readonly stats: Float64Array;
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
  readonly mixes = true;
  readonly #place: Workplace;
  readonly #memory: RingColumnsMemory;
  readonly #workers: WorkerMargins[];
  readonly #blocks: Block[];
  /** Blocks that this thread is home to. */
  readonly #home: HomeBlock[];
  readonly #parcels: Parcels;
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
    const { first, end } = place.team;
    this.#home = ids.slice(first, end).map((block) => this.#viewHome(block));
    const collision = this.#prepare();
    this.#rotations =
      grid.size === 1
        ? columns
        : (options.rotations ?? rotationsFor(columns, collision, entries, grid.size));
    this.#damping = new Damping(columns / this.#rotations);
    this.#parcels = new Parcels(place, memory.parcels, this.#rotations);
    if (place.start) this.#startFrom(place.start);
  }

  #startFrom({ weights }: Start): void {
    const { objective, team } = this.#place;
    for (const [k, { columns }] of this.#home.entries()) {
      columns.weights.set(objective.columnsOf(weights, team.first + k));
    }
    objective.margins(this.weights, this.margins);
    this.passes++;
  }

  /** After a whole evaluation. */
  get dualPoint(): Float64Array {
    return this.#memory.slopes;
  }

  #viewWorker(worker: number): WorkerMargins {
    const { grid, labels, weights } = this.#place.problem;
    const from = grid.partition.rowStarts[worker];
    const to = grid.partition.rowStarts[worker + 1];
    const memory = this.#memory;
    return {
      rows: {
        labels: labels.subarray(from, to),
        importance: weights.subarray(from, to),
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
    const { partition } = this.#place.problem.grid;
    const memory = this.#memory;
    const numbers = (array: Float64Array) => blockOf(partition, array, block);
    const integers = (array: Int32Array) => blockOf(partition, array, block);
    const columns = { gradients: numbers(memory.gradients), hessians: numbers(memory.hessians) };
    const pending = { units: integers(memory.pendingUnits), deltas: numbers(memory.pendingDeltas) };
    return {
      ...columns,
      columns,
      units: integers(memory.active),
      range: memory.ranges.subarray(2 * block, 2 * block + 2),
      count: memory.pendingCounts.subarray(block, block + 1),
      changed: pending.units,
      deltas: pending.deltas,
      pending,
    };
  }

  #viewHome(block: number): HomeBlock {
    const { problem, seed } = this.#place;
    const { partition } = problem.grid;
    const memory = this.#memory;
    const common = this.#blocks[block];
    const view = <Numbers extends Float64Array | Int32Array | Uint8Array>(array: Numbers) =>
      blockOf(partition, array, block);
    return {
      ...common,
      columns: {
        ...common.columns,
        weights: view(memory.weights),
        l1: view(problem.l1),
        l2: view(problem.l2),
        ...(problem.box && { box: { low: view(problem.box.low), high: view(problem.box.high) } }),
        counts: view(memory.counts),
        level: view(memory.level),
        skip: view(memory.skip),
      },
      start: view(memory.weightStart),
      previous: view(memory.weightPrevious),
      batches: new Batches(
        common.units,
        memory.activeCounts.subarray(block, block + 1),
        view(memory.runs),
        columnsTogether,
        stream(seed, 1 + block),
      ),
      stats: memory.stats.subarray(block * stat.length, (block + 1) * stat.length),
    };
  }

  #homeOf(block: number): HomeBlock {
    return this.#home[block - this.#place.team.first];
  }

  #mine(): WorkerMargins[] {
    return this.#workers.slice(this.#place.team.first, this.#place.team.end);
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

  /** With one worker, which hands nothing on, every column is a batch. */
  get rotations(): number {
    return this.#place.problem.grid.size === 1 ? 0 : this.#rotations;
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
    for (const { columns, start, previous, batches, stats } of this.#home) {
      kernels.extrapolate(columns.weights, start, previous, beta);
      batches.deal(kernels, columns.skip, columns.weights, start);
      stats.fill(0);
    }
    if (team.shared.workers === 1) this.#sweep();
    else this.#rotate();
    const [work, effective] = team.reduce(2, (block, values) => {
      values.set(this.#homeOf(block).stats.subarray(0, 2));
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
    // Another process may be the one that plays it.
    if (this.#home.length === 0) return;
    const { kernels, problem } = this.#place;
    const { rows } = this.#workers[0];
    const { columns, batches, stats } = this.#home[0];
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
        1 / problem.mass,
        stats,
      );
    }
  }

  /** B rotations and one more that only applies the changes of the last batch. */
  #rotate(): void {
    const { kernels, problem, ring, team } = this.#place;
    const { cells, size } = problem.grid;
    const parcels = this.#parcels;
    const damping = this.#damping.value;
    for (let batch = 0; batch <= this.#rotations; batch++) {
      ring.rotate(parcels.cargo, (worker, block, iteration) => {
        const { rows } = this.#workers[worker];
        const here = this.#blocks[block];
        const { columns, pending, units, range } = here;
        const cell = cells[worker * size + block];
        parcels.arrive(worker, block, iteration > 0 || batch > 0, here);
        if (iteration === 0) this.#stepAtHome(block, batch);
        kernels.scatterColumns(cell, pending, here.count[0], rows);
        const fresh = iteration === 0;
        kernels.gatherColumns(cell, units, range[0], range[1], fresh, rows, columns, damping);
        parcels.leave(worker, block, here);
      });
    }
    team.barrier();
  }

  /** A block begins its round at home, where the batch that has come home takes its steps. */
  #stepAtHome(block: number, batch: number): void {
    const { kernels, problem } = this.#place;
    const { columns, batches, pending, stats, range, count } = this.#homeOf(block);
    const scale = 1 / problem.mass;
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
    if (atEnd >= 0 && this.#place.problem.box) return { eta: 1, exactness };
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
      const { margins, labels, importance } = rows;
      values[0] = kernels.lossSlope(start, margins, labels, importance, 0, margins.length, eta);
      const { columns, start: from } = this.#homeOf(part);
      values[1] = kernels.penaltySlope(from, columns.weights, columns.l1, columns.l2, eta);
    });
    return loss / problem.mass + penalty;
  }

  #moveTo(eta: number): void {
    if (eta === 1) return;
    const { kernels } = this.#place;
    for (const { rows, start } of this.#mine()) {
      kernels.interpolate(rows.margins, start, rows.margins, eta);
    }
    for (const { columns, start } of this.#home) {
      kernels.interpolate(columns.weights, start, columns.weights, eta);
    }
    this.#place.objective.keepInBox(this.weights);
    this.#place.team.barrier();
  }

  evaluate(whole: boolean): Gap {
    return {
      primal: this.#place.objective.primal(this.weights, this.#memory.margins),
      dual: whole ? this.#dual() : -Infinity,
    };
  }

  /** D at α_i = −c_i ℓ'(u_i), the dual point that the margins suggest. */
  #dual(): number {
    const { kernels, objective } = this.#place;
    const { slopes } = this.#memory;
    for (const { rows } of this.#mine()) {
      const { margins, labels, importance } = rows;
      kernels.dualPoint(margins, labels, importance, 0, margins.length, rows.slopes);
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
    for (const [k, { batches }] of this.#home.entries()) {
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

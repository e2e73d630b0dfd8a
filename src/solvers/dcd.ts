import { type StateArray, stateArrays } from '../checkpoint/state.ts';
import { type RowState, type RowStep, stat, type WeightMap } from '../kernels/kernels.ts';
import { stream } from '../math/random.ts';
import type { Gap } from '../objective/objective.ts';
import type { Arena } from '../parallel/arena.ts';
import type { Partition } from '../parallel/partition.ts';
import { Batches } from './batches.ts';
import { type Engine, refuseBounds } from './engine.ts';
import { allocateGenerators } from './generators.ts';
import type { Method, Workplace } from './method.ts';
import type { DcdSettings } from './solver.ts';

/** Rows per call of a kernel: short calls let the engine replace a kernel by a faster one. */
const sweepChunk = 1024;

export type DcdMemory = ReturnType<typeof allocateDcd>;

function allocateDcd(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  // One worker has all columns, or none: they never travel.
  const columns = partition.columnOrder.length;
  return {
    alpha: arena.float64(rows),
    norms: arena.float64(rows),
    collisions: arena.float64(rows),
    counts: arena.int32(rows),
    level: arena.uint8(rows),
    skip: arena.uint8(rows),
    active: arena.int32(rows),
    order: arena.int32(rows),
    activeCount: arena.int32(1),
    generators: allocateGenerators(arena, partition),
    margins: arena.float64(rows),
    stats: arena.float64(stat.length),
    weights: arena.float64(columns),
    image: arena.float64(columns),
    threshold: arena.float64(columns),
    inverse: arena.float64(columns),
    shift: arena.float64(columns),
  };
}

/**
 * Dual coordinate descent (Hsieh et al. 2008; for the logistic loss Yu et al. 2011): the rows in a
 * new random order every epoch, and for each the α_i that maximises D with all others fixed.
 *
 *   max_a  −ℓ*(−a) − u_i (a − α_i) − (q_i/2)(a − α_i)²,   q_i = (1/m) Σ_j x_ij² / (λ l2 f_j)
 *
 * With an L1 part w is no longer linear in α, and the same step maximises a lower bound of D, so
 * that D rises all the same.
 *
 * Shrinking: a row that rests at a bound, and would rest there if its margin were a little
 * different, is left out of the next epoch; if it is found there again, of the next three, then
 * seven. Hsieh et al. leave such a row out until everything else has converged, which takes a last
 * check of all rows to be safe; here none is out for longer than seven epochs.
 */
export class Dcd implements Method {
  readonly weights: Float64Array;
  readonly margins: Float64Array;
  passes = 0;
  readonly polish = 0;
  readonly mixes = false;
  readonly #place: Workplace;
  readonly #memory: DcdMemory;
  readonly #rows: RowState;
  readonly #batches: Batches;
  readonly #step: RowStep;
  readonly #map: WeightMap | undefined;

  constructor(place: Workplace, memory: DcdMemory, { shrink }: DcdSettings) {
    this.#place = place;
    this.#memory = memory;
    this.weights = memory.weights;
    this.margins = memory.margins;
    const { rows, labels, l2 } = place.problem;
    this.#rows = { ...memory, labels };
    const { active, activeCount, order } = memory;
    this.#batches = new Batches(active, activeCount, order, 1, stream(place.seed, 1));
    this.#map = this.#isMapped() ? memory : undefined;
    this.#step = {
      damping: 0,
      inverseRows: 1 / rows,
      deltaScale: this.#map ? 1 / rows : 1 / (l2[0] * rows),
      shrink: shrink ? 1 : 0,
    };
    if (place.team.first < place.team.end) this.#prepare();
  }

  /** Whether w is anything but a multiple of its image. */
  #isMapped(): boolean {
    const { penalty, l2 } = this.#place.problem;
    return penalty.l1 > 0 || l2.some((curvature) => curvature !== l2[0]);
  }

  #prepare(): void {
    const { problem, kernels } = this.#place;
    const { inverse, threshold, norms, collisions, counts } = this.#memory;
    threshold.set(problem.l1);
    for (let j = 0; j < inverse.length; j++) inverse[j] = 1 / problem.l2[j];
    kernels.rowNorms(problem.grid.cells[0], norms.length, inverse, inverse, norms, collisions);
    counts.set(problem.grid.partition.rowCounts);
  }

  epoch(): void {
    const { team, problem } = this.#place;
    const [work] = team.reduce(1, (_worker, values) => {
      values[0] = this.#sweep();
    });
    this.passes += work / Math.max(1, problem.entries);
  }

  /** A step on every row that does not rest; returns the entries touched. */
  #sweep(): number {
    const { kernels, problem } = this.#place;
    const { alpha, skip, stats, weights } = this.#memory;
    const batches = this.#batches;
    const cell = problem.grid.cells[0];
    batches.deal(kernels, skip, alpha, alpha);
    stats.fill(0);
    for (let begin = 0; begin < batches.count; begin += sweepChunk) {
      const end = Math.min(batches.count, begin + sweepChunk);
      const sweep = [cell, batches.active, begin, end, this.#rows, this.#step] as const;
      if (this.#map) kernels.sweepRowsMapped(...sweep, this.#map, weights, stats);
      else kernels.sweepRows(...sweep, weights, stats);
    }
    return stats[stat.work];
  }

  evaluate(whole: boolean): Gap {
    const { objective } = this.#place;
    const { weights, margins, alpha } = this.#memory;
    const dual = objective.dualOfImage(alpha, this.#image());
    if (!whole) return { primal: Infinity, dual };
    objective.margins(weights, margins);
    return { primal: objective.primal(weights, margins), dual };
  }

  /** v = (1/m) Σ α_i x_i, which without a map is λ l2 w. */
  #image(): Float64Array {
    const { kernels, problem } = this.#place;
    const { image, weights } = this.#memory;
    if (!this.#map) kernels.scaleInto(weights, image, problem.l2[0]);
    return image;
  }

  /** The image gathers rounding errors from step to step. */
  certify(): number {
    return this.#place.objective.dual(this.#memory.alpha);
  }

  save() {
    this.#batches.save(this.#memory.generators);
    return { passes: this.passes };
  }

  restore(saved: ReturnType<Dcd['save']>): void {
    this.passes = saved.passes;
  }

  arrays(): StateArray[] {
    const { alpha, level, skip, order, weights, image, generators } = this.#memory;
    return stateArrays({
      row: { alpha, level, skip, order },
      column: { weights, ...(this.#map && { image }) },
      worker: { generators },
    });
  }

  resume(): void {
    this.#batches.resume(this.#memory.generators);
  }
}

export const dcdEngine: Engine<DcdSettings, DcdMemory> = {
  orientation: 'rows',
  serial: true,
  refusal: (request) => {
    const { penalty, intercept } = request;
    if (!(penalty.l2 > 0)) {
      return `cannot solve penalty '${penalty.name}': its steps on α need a quadratic part (l2 or elastic-net)`;
    }
    return intercept
      ? 'cannot fit an intercept: it is not penalised, and steps on one α at a time need a quadratic penalty on every column'
      : refuseBounds(request);
  },
  allocate: allocateDcd,
  create: (place, memory, settings) => new Dcd(place, memory, settings),
};

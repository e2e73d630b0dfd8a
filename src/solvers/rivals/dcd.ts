import type { Arena } from '../../engine/arena.ts';
import { type StateArray, stateArrays } from '../../engine/checkpoint/state.ts';
import type { Partition } from '../../engine/partition.ts';
import { rootOfFalling } from '../../math/line-search.ts';
import { softThreshold } from '../../math/scalars.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { allocateGenerators, BlockMethod, BlockState, reserve } from '../block-state.ts';
import { type RowState, type RowStep, stat, type WeightMap } from '../kernels/kernels.ts';
import type { Gap } from '../objective/objective.ts';
import { Batches, inChunks } from '../orders.ts';
import type { SolverCode, SolverContext, WarmStart } from '../solver.ts';
import { startingAlpha, startingShare } from '../warm-start.ts';

export interface DcdSettings {
  /** Leaves out rows that rest at a bound (default true). */
  readonly shrink: boolean;
}

export type DcdMemory = ReturnType<typeof allocateDcd>;

function allocateDcd(arena: Arena, partition: Partition) {
  const rows = partition.rowOrder.length;
  // One worker has all columns, or none: they never travel.
  const columns = partition.columnOrder.length;
  return {
    ...reserve(arena, 'float64', rows, ['alpha', 'margins', 'norms', 'collisions']),
    ...reserve(arena, 'int32', rows, ['counts', 'active', 'order']),
    ...reserve(arena, 'uint8', rows, ['level', 'skip']),
    activeCount: arena.int32(1),
    generators: allocateGenerators(arena, partition),
    stats: arena.float64(stat.length),
    ...reserve(arena, 'float64', columns, ['weights', 'image', 'threshold', 'inverse', 'shift']),
  };
}

/**
 * Dual coordinate descent (Hsieh et al. 2008; for the logistic loss Yu et al. 2011): the rows in a
 * new random order every epoch, and for each the α_i that maximises D with all others fixed.
 *
 *   max_a  −c_i ℓ*(−a/c_i) − u_i (a − α_i) − (q_i/2)(a − α_i)²,   q_i = (1/W) Σ_j x_ij² / (λ l2 f_j)
 *
 * With an L1 part w is no longer linear in α, and the same step maximises a lower bound of D, so
 * that D rises all the same.
 *
 * Shrinking: a row that rests at a bound, and would rest there if its margin were a little
 * different, is left out of the next epoch; if it is found there again, of the next three, then
 * seven. Hsieh et al. leave such a row out until everything else has converged, which takes a last
 * check of all rows to be safe; here none is out for longer than seven epochs.
 */
export class Dcd extends BlockMethod {
  readonly #memory: DcdMemory;
  readonly #rows: RowState;
  readonly #batches: Batches;
  readonly #step: RowStep;
  readonly #map: WeightMap | undefined;

  constructor(context: SolverContext, memory: DcdMemory, { shrink }: DcdSettings, loss: Loss) {
    super(new BlockState(context, memory.generators), memory, memory.alpha);
    this.#memory = memory;
    const { totalWeight, labels, rowWeights, l2, penalty } = context.problem;
    this.#rows = { ...memory, labels, rowWeights };
    const { active, activeCount: count, order: runs } = memory;
    this.#batches = new Batches({ active, count, runs, run: 1, random: this.state.random(0) });
    // Else w is a multiple of its image.
    const isMapped = penalty.l1 > 0 || l2.some((curvature) => curvature !== l2[0]);
    this.#map = isMapped ? memory : undefined;
    this.#step = {
      damping: 0,
      inverseTotalWeight: 1 / totalWeight,
      deltaScale: this.#map ? 1 / totalWeight : 1 / (l2[0] * totalWeight),
      shrink: shrink ? 1 : 0,
    };
    if (context.team.first < context.team.end) this.#prepare();
    if (context.start) this.#startFrom(context.start, loss);
  }

  /** A multiple of the α suggested, see startingShare. */
  #startFrom(start: WarmStart, loss: Loss): void {
    const { objective, kernels, problem } = this.context;
    const { alpha, margins, image, weights, inverse } = this.#memory;
    this.passes += 1 + startingAlpha(this.context, start, loss, margins, alpha);
    objective.image(alpha, image);
    margins.fill(0);
    const slope = (share: number) => this.#slopeFromZero(share);
    const [atZero, atAll] = [slope(0), slope(1)];
    const falls = atZero > 0 && atAll < 0;
    const found = falls ? rootOfFalling(slope, [0, atZero], [1, atAll], 1e-3 * -atAll, 20) : 1;
    const share = startingShare(atZero > 0 ? found : 0);
    kernels.scaleInto(alpha, alpha, share);
    kernels.scaleInto(image, image, share);
    for (let j = 0; j < weights.length; j++) {
      weights[j] = softThreshold(image[j], problem.l1[j]) * inverse[j];
    }
  }

  /** d/ds of D(s α); the margins are 0. */
  #slopeFromZero(share: number): number {
    const { team, kernels, problem } = this.context;
    const { alpha, margins, image, inverse } = this.#memory;
    const [conjugate, penalty] = team.reduce(2, (_worker, values) => {
      const { labels, rowWeights } = problem;
      values[0] = kernels.conjugateSlope(margins, alpha, labels, rowWeights, share);
      for (let j = 0; j < image.length; j++) {
        values[1] += softThreshold(share * image[j], problem.l1[j]) * inverse[j] * image[j];
      }
    });
    return conjugate / problem.totalWeight - penalty;
  }

  #prepare(): void {
    const { problem, kernels } = this.context;
    const { inverse, threshold, norms, collisions, counts } = this.#memory;
    threshold.set(problem.l1);
    for (let j = 0; j < inverse.length; j++) inverse[j] = 1 / problem.l2[j];
    kernels.rowNorms(problem.grid.cells[0], norms.length, inverse, inverse, norms, collisions);
    counts.set(problem.grid.partition.rowCounts);
  }

  epoch(): void {
    this.passes += this.passesOf(() => this.#sweep());
  }

  /** A step on every row that does not rest; returns the nonzeros touched. */
  #sweep(): number {
    const { kernels, problem } = this.context;
    const { alpha, skip, stats, weights } = this.#memory;
    const batches = this.#batches;
    const cell = problem.grid.cells[0];
    batches.shuffle(kernels, skip, alpha, alpha);
    stats.fill(0);
    inChunks(0, batches.count, (begin, end) => {
      const sweep = [cell, batches.active, begin, end, this.#rows, this.#step] as const;
      if (this.#map) kernels.sweepRowsMapped(...sweep, this.#map, weights, stats);
      else kernels.sweepRows(...sweep, weights, stats);
    });
    return stats[stat.work];
  }

  override evaluate(whole: boolean): Gap {
    const { objective } = this.context;
    const { weights, margins, alpha } = this.#memory;
    const dual = objective.dualOfImage(alpha, this.#image());
    if (!whole) return { primal: Infinity, dual };
    objective.margins(weights, margins);
    return { primal: objective.primal(weights, margins), dual };
  }

  /** v = (1/W) Σ α_i x_i, which without a map is λ l2 w. */
  #image(): Float64Array {
    const { kernels, problem } = this.context;
    const { image, weights } = this.#memory;
    if (!this.#map) kernels.scaleInto(weights, image, problem.l2[0]);
    return image;
  }

  override arrays(): StateArray[] {
    const { alpha, level, skip, order, weights, image, generators } = this.#memory;
    return stateArrays({
      row: { alpha, level, skip, order },
      column: { weights, ...(this.#map && { image }) },
      worker: { generators },
    });
  }

  override resume(): void {
    super.resume();
    this.#batches.resume();
  }
}

export const dcd: SolverCode<DcdSettings, DcdMemory> = {
  allocate: allocateDcd,
  create: (context, memory, settings, loss) => new Dcd(context, memory, settings, loss),
};

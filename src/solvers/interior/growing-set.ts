import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { DsoError } from '../../errors.ts';
import { type Gap, relativeGap } from '../objective/objective.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, everywhere } from '../whole.ts';
import { allocateColumnSet, ColumnSet } from './column-set.ts';

/** How exactly the first set is solved; later ones to this share of the gap or of the tolerance. */
const firstAccuracy = 1e-2;
const shareOfGap = 0.1;
const shareOfTolerance = 0.3;
/** From fewer columns outside that break their constraint, as a share of the set, on sets are final. */
const few = 0.05;
/** |v_j|/κ_j up to which a column leaves the set, and from which on it is likely to have a weight. */
const idle = 0.6;
const active = 0.9;
/** How often a column may leave. */
const mostReturns = 2;
/** Steps on one set, at most. */
const longestRound = 60;

/** What decides when a set has been solved; the same in all threads. */
export interface GrowthState {
  accuracy: number;
  /** P and the bound of the problem with the columns of the set alone, and steps taken on it. */
  roundPrimal: number;
  roundDual: number;
  roundSteps: number;
}

export const noRound: Readonly<GrowthState> = {
  accuracy: firstAccuracy,
  roundPrimal: Infinity,
  roundDual: -Infinity,
  roundSteps: 0,
};

export type GrowingSetMemory = ReturnType<typeof allocateGrowingSet>;

/** `most`: columns of a set, at most. */
export function allocateGrowingSet(arena: Arena, partition: Partition, most: number) {
  return {
    set: allocateColumnSet(arena, partition, most),
    /** How often each column has left the set. */
    left: arena.uint8(partition.columnOrder.length),
    rank: arena.float64(partition.bufferLength),
    ranks: arena.float64(allColumns(partition)),
  };
}

/**
 * The columns on which an interior point method works while most weights are 0. With v = −XᵀCs, a
 * column outside that has |v_j| > κ_j joins, the worst first; one inside that has |v_j| ≤ 0.6 κ_j
 * leaves. A set is solved to an accuracy that follows the gap of the whole problem.
 */
export class GrowingSet {
  readonly columns: ColumnSet;
  readonly #context: SolverContext;
  readonly #memory: GrowingSetMemory;
  readonly #members: Uint8Array;
  readonly #state: GrowthState;
  /** Columns that may join at a time, if not more have a weight. */
  readonly #joining: number;

  constructor(
    context: SolverContext,
    memory: GrowingSetMemory,
    members: Uint8Array,
    state: GrowthState,
    joining: number,
  ) {
    this.#context = context;
    this.#memory = memory;
    this.#members = members;
    this.#state = state;
    this.#joining = joining;
    this.columns = new ColumnSet(context, memory.set);
  }

  /** The first set, by the image of slopes at some margins. */
  begin(image: Float64Array): void {
    this.#rank(image, true);
    this.#choose(this.#joining);
  }

  /** P of an iterate, and the bound of its slopes, of the problem without the other columns. */
  note(primal: number, dual: number): void {
    const state = this.#state;
    state.roundPrimal = Math.min(state.roundPrimal, primal);
    state.roundDual = Math.max(state.roundDual, dual);
    state.roundSteps++;
  }

  get round(): Gap & { readonly accuracy: number } {
    const { roundPrimal: primal, roundDual: dual, accuracy } = this.#state;
    return { primal, dual, accuracy };
  }

  get isSolved(): boolean {
    const { accuracy, roundSteps } = this.#state;
    return relativeGap(this.round) <= accuracy || roundSteps >= longestRound;
  }

  /** The next set, by the image of the slopes that solve this one; `gap`: of the whole problem. */
  grow(image: Float64Array, gap: number): void {
    const { tolerance } = this.#context;
    const state = this.#state;
    // Before the first thread may change it.
    const size = this.columns.count;
    const { violated, weighty } = this.#rank(image, false);
    const least = shareOfTolerance * tolerance;
    if (violated === 0) state.accuracy = Math.min(shareOfTolerance * state.accuracy, least);
    else {
      const goal = violated < few * size ? 0 : shareOfGap * gap;
      state.accuracy = Math.min(state.accuracy, Math.max(least, goal));
    }
    Object.assign(state, { ...noRound, accuracy: state.accuracy });
    this.#choose(Math.max(this.#joining, weighty));
    if (violated > 0 && size === this.columns.capacity && this.columns.count === size) {
      const message = `the growing set of interior-point has all ${size} columns it may have, and ${violated} more are needed`;
      throw new DsoError(
        'failure',
        `${message}: choose a larger λ or another solver, such as ring`,
      );
    }
  }

  /** What each column is worth to the next set: ∞ if it stays, else |v_j|/κ_j, 0 if it is not wanted. */
  #rank(image: Float64Array, first: boolean): { violated: number; weighty: number } {
    const { team, problem, objective } = this.#context;
    const { rank, left, ranks } = this.#memory;
    const [violated, weighty] = team.reduce(2, (block, values) => {
      const own = objective.columnsOf(rank, block);
      const [v, l1] = [image, problem.l1].map((array) => objective.columnsOf(array, block));
      const from = problem.grid.partition.blockOffsets[block];
      for (let j = 0; j < own.length; j++) {
        const size = l1[j] > 0 ? Math.abs(v[j]) / l1[j] : Infinity;
        const isMember = this.#members[from + j] === 1;
        if (isMember && size > active) values[1]++;
        if (!isMember && size > 1) values[0]++;
        if (isMember && size <= idle && left[from + j] < mostReturns) {
          left[from + j]++;
          own[j] = 0;
        } else if (isMember) own[j] = Infinity;
        else own[j] = first || size > 1 ? size : 0;
      }
    });
    everywhere(this.#context, rank, ranks);
    return { violated, weighty };
  }

  /** Keeps the columns that stay, and takes up to `room` others. */
  #choose(room: number): void {
    const { ranks } = this.#memory;
    const { capacity } = this.columns;
    const candidates: number[] = [];
    let kept = 0;
    for (const [position, rank] of ranks.entries()) {
      if (rank === Infinity) kept++;
      else if (rank > 0) candidates.push(position);
    }
    candidates.sort((a, b) => ranks[b] - ranks[a] || a - b);
    const joining = new Set(candidates.slice(0, Math.min(room, capacity - kept)));
    this.columns.take((position) => ranks[position] === Infinity || joining.has(position));
    this.#mark();
  }

  #mark(): void {
    const { team, problem } = this.#context;
    const { columnBounds, blockOffsets, blockLengths } = problem.grid.partition;
    const { places } = this.columns;
    for (let block = team.first; block < team.end; block++) {
      for (let j = 0; j < blockLengths[block]; j++) {
        this.#members[blockOffsets[block] + j] = places[columnBounds[block] + j] < 0 ? 0 : 1;
      }
    }
    team.barrier();
  }

  /** How often columns have left, for checkpoints. */
  get left(): Uint8Array {
    return this.#memory.left;
  }

  /** After the members have come back from a checkpoint. */
  resume(): void {
    const { team, problem, objective } = this.#context;
    const { rank, ranks } = this.#memory;
    const { blockOffsets } = problem.grid.partition;
    for (let block = team.first; block < team.end; block++) {
      const own = objective.columnsOf(rank, block);
      for (let j = 0; j < own.length; j++) own[j] = this.#members[blockOffsets[block] + j];
    }
    team.barrier();
    everywhere(this.#context, rank, ranks);
    this.columns.take((position) => ranks[position] === 1);
  }

  /** A copy of an image, 0 outside the set. */
  restrict(image: Float64Array, target: Float64Array): void {
    const { team, objective, problem } = this.#context;
    const { blockOffsets } = problem.grid.partition;
    for (let block = team.first; block < team.end; block++) {
      const [from, to] = [image, target].map((array) => objective.columnsOf(array, block));
      const members = this.#members.subarray(blockOffsets[block]);
      for (let j = 0; j < to.length; j++) to[j] = members[j] === 1 ? from[j] : 0;
    }
    team.barrier();
  }
}

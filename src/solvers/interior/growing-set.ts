import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import { DsoError } from '../../errors.ts';
import { type Gap, relativeGap } from '../objective/objective.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns, everywhere } from '../whole.ts';
import { allocateColumnSet, ColumnSet } from './column-set.ts';

/** A set is solved to this share of the gap of the whole problem: less exactly, its slopes are central. */
const shareOfGap = 0.9;
/** From fewer columns outside that break their constraint, as a share of the set, on columns join at once. */
const few = 0.3;
/** From these columns on, and this many times as many outside, a set would become too large. */
const large = 1300;
const farMore = 3;
/** |v_j|/κ_j up to which a column leaves the set, and from which on it is likely to have a weight. */
const idle = 0.6;
const active = 0.9;
/** How often a column may leave. */
const mostReturns = 2;
/** Steps from one start to the next, at most. */
const longestRound = 60;

/** What becomes of the iterate: nothing, or it begins anew, or takes up the columns that have joined. */
export type Growth = 'none' | 'anew' | 'joined';

/** What decides when columns join; the same in all threads. */
export interface GrowthState {
  /** Columns join and leave between any two steps; else when a set has been solved. */
  flows: boolean;
  /** The set would become too large. */
  isStuck: boolean;
  accuracy: number;
  /** P and the bound of the problem with the columns of the set alone, and steps since the start. */
  roundPrimal: number;
  roundDual: number;
  roundSteps: number;
}

const noRound = { roundPrimal: Infinity, roundDual: -Infinity, roundSteps: 0 } as const;

export const firstRound: Readonly<GrowthState> = {
  flows: false,
  isStuck: false,
  accuracy: shareOfGap,
  ...noRound,
};

export interface GrowthSettings {
  /** Columns that may join at a time, if not more have a weight. */
  readonly joining: number;
  /** Another method takes over where the set would become too large. */
  readonly yields?: boolean | undefined;
}

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
 * leaves. While many are missing, a set is solved roughly and the next one begins anew: slopes near the ends
 * of their domains would hold the steps up. Once few are missing the iterate goes on with those that join.
 */
export class GrowingSet {
  readonly columns: ColumnSet;
  readonly #context: SolverContext;
  readonly #memory: GrowingSetMemory;
  readonly #members: Uint8Array;
  readonly #state: GrowthState;
  readonly #settings: GrowthSettings;

  constructor(
    context: SolverContext,
    memory: GrowingSetMemory,
    members: Uint8Array,
    state: GrowthState,
    settings: GrowthSettings,
  ) {
    this.#context = context;
    this.#memory = memory;
    this.#members = members;
    this.#state = state;
    this.#settings = settings;
    this.columns = new ColumnSet(context, memory.set);
  }

  /** The first set, by the image of slopes at some margins. */
  begin(image: Float64Array): void {
    this.#rank(image, true);
    this.#choose(this.#settings.joining);
  }

  /** P of an iterate, and the bound of its slopes, of the problem without the other columns. */
  note(primal: number, dual: number): void {
    const state = this.#state;
    state.roundPrimal = Math.min(state.roundPrimal, primal);
    state.roundDual = Math.max(state.roundDual, dual);
    state.roundSteps++;
  }

  /** The set's own gap and the accuracy it is solved to; none once columns join at any time. */
  get round(): (Gap & { readonly accuracy: number }) | undefined {
    const { roundPrimal: primal, roundDual: dual, accuracy, flows } = this.#state;
    return flows ? undefined : { primal, dual, accuracy };
  }

  /** Whether another method should take over. */
  get isStuck(): boolean {
    return this.#state.isStuck;
  }

  /** Changes the set where it is time to, by the image of the iterate's slopes; `gap`: of the whole problem. */
  advance(image: Float64Array, gap: number): Growth {
    const state = this.#state;
    const isLong = state.roundSteps >= longestRound;
    if (state.flows && isLong) {
      Object.assign(state, { flows: false, ...noRound });
      return 'anew';
    }
    const { round } = this;
    if (round && !(relativeGap(round) <= round.accuracy) && !isLong) return 'none';
    // Before the first thread may change it.
    const size = this.columns.count;
    const { violated, weighty, leaving } = this.#rank(image, false);
    if (round) {
      const accuracy = Math.min(state.accuracy, shareOfGap * gap);
      Object.assign(state, { flows: violated < few * size, accuracy, ...noRound });
    }
    state.isStuck = this.#settings.yields === true && this.#isTooSmall(size, violated);
    if (violated + leaving === 0 || state.isStuck) return 'none';
    this.#choose(Math.max(this.#settings.joining, weighty));
    if (violated > 0 && size === this.columns.capacity && this.columns.count === size) {
      const message = `the growing set of interior-point has all ${size} columns it may have, and ${violated} more are needed`;
      throw new DsoError(
        'failure',
        `${message}: choose a larger λ or another solver, such as ring`,
      );
    }
    return state.flows ? 'joined' : 'anew';
  }

  /** Whether the problem needs far more columns than a set of this size, or more than a set may have. */
  #isTooSmall(size: number, violated: number): boolean {
    if (violated > 0 && size === this.columns.capacity) return true;
    return size >= large && violated > farMore * size;
  }

  /** What each column is worth to the next set: ∞ if it stays, else |v_j|/κ_j, 0 if it is not wanted. */
  #rank(image: Float64Array, first: boolean) {
    const { team, problem, objective } = this.#context;
    const { rank, left, ranks } = this.#memory;
    const [violated, weighty, leaving] = team.reduce(3, (block, values) => {
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
          values[2]++;
          own[j] = 0;
        } else if (isMember) own[j] = Infinity;
        else own[j] = first || size > 1 ? size : 0;
      }
    });
    everywhere(this.#context, rank, ranks);
    return { violated, weighty, leaving };
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

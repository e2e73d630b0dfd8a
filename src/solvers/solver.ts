import type { Arena } from '../engine/arena.ts';
import type { StateArray } from '../engine/checkpoint/state.ts';
import type { Orientation } from '../engine/grid.ts';
import type { Partition } from '../engine/partition.ts';
import type { Ring } from '../engine/ring.ts';
import type { Team } from '../engine/team.ts';
import type { Loss } from '../problem/losses/loss.ts';
import type { Penalty } from '../problem/penalties/index.ts';
import type { Kernels } from './kernels/kernels.ts';
import type { ProvedBound } from './objective/certificate.ts';
import type { Gap, Objective } from './objective/objective.ts';
import type { Problem } from './objective/problem.ts';

/**
 * A point to start from, by position: `weights` as long as an array that travels, and within their
 * box; `alpha` by rows. Both are read only, and are not among the arrays of the run itself.
 */
export interface WarmStart {
  readonly weights: Float64Array;
  readonly alpha?: Float64Array;
}

/** What a thread needs to take part in solving a problem. */
export interface SolverContext {
  readonly problem: Problem;
  readonly kernels: Kernels;
  readonly team: Team;
  readonly ring: Ring;
  readonly objective: Objective;
  readonly seed: number;
  /** The relative gap at which the run ends. */
  readonly tolerance: number;
  /** The run continues from a checkpoint: what only leads to a first point may be left out. */
  readonly resumes?: boolean;
  /** Where to start instead of w = 0; not when the run resumes, whose state is complete. */
  readonly start?: WarmStart;
}

/**
 * A solver at work in one thread. All threads of the team call the same methods in the same
 * order, so that every decision is taken by all of them from the same bits.
 */
export interface Method {
  /** The current primal point, by position; threads write only the blocks they are home to. */
  readonly weights: Float64Array;
  /** Those of `weights`, after an evaluation that returned P. */
  readonly margins: Float64Array;
  /**
   * The dual point behind the last bound, by row position, where a method has one. It may be
   * infeasible with an intercept or a pure L1 penalty; Objective.dual makes it feasible.
   */
  readonly dualPoint?: Float64Array | undefined;
  /** Non-zeros touched so far / |Ω|. */
  readonly passes: number;
  /**
   * The sum of what the gap has of each row, as the last epoch met the rows one after the other: a few
   * times the gap, and known without an evaluation.
   */
  readonly slack?: number | undefined;
  /**
   * The result: the point with the least P, of the iterates or of combinations of them; `latest`: of
   * points that meet the tolerance the latest, which has more exact zeros.
   */
  readonly result: 'best' | 'combined' | 'latest';
  /** The order in which the last epoch visited the cells, where it was free. */
  readonly visits?: Int32Array | undefined;
  /** Rotations of the ring per epoch, where they are a choice. */
  readonly rotations?: number | undefined;
  /** Whether it can not go on as it should, so that another method takes its place where there is one. */
  readonly isStuck?: boolean;
  /** The name of the solver at work, where several take turns. */
  readonly solver?: string;
  epoch(): void;
  /**
   * P at `weights` and a lower bound on the optimum; called once after every epoch. When `whole` is
   * false, what would take a pass over the data may be left at ±Infinity.
   */
  evaluate(whole: boolean): Gap;
  /** The best lower bound less its rounding errors; only of a method without a dual point. */
  certify?(): ProvedBound;
  /**
   * The state between two epochs, in three parts. Numbers of a thread, the same in all
   * threads, are returned by save() and taken back by restore(), in every thread. Arrays are listed
   * by arrays(), where save() has written what belongs to single workers, their random numbers.
   * What follows from both, resume() computes once they are back. Everything else must follow from
   * the data and the options, as the constructor finds it.
   */
  save(): object;
  restore(saved: unknown): void;
  arrays(): StateArray[];
  resume(): void;
}

export interface DataShape {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
}

/** The problem to solve, before any data is laid out. */
export interface ProblemSummary {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly lambda: number;
  readonly intercept: boolean;
  /** Whether columns differ in their penalty. */
  readonly factors: boolean;
  readonly shape: DataShape;
  /** The grid that is asked for, if any. */
  readonly grid?: number | undefined;
  /** Whether the data may stay on disk, since memory is limited by an option. */
  readonly fromDisk?: boolean;
  /** Whether the non-zeros are on disk. */
  readonly stored?: boolean;
}

/** What is known of a solver before its code is loaded: see registry.ts. */
export interface SolverEntry<Settings> {
  /** Its name in messages, where that differs. */
  readonly title?: string;
  readonly orientation: Orientation;
  /** A serial method has a grid of one and no use for a second thread. */
  readonly serial?: boolean;
  /** Whether it is serial with these settings. */
  isSerial?(settings: Settings): boolean;
  /** Workers it gets by default where the data alone would give fewer. */
  readonly leastGrid?: number;
  /** Non-zeros below which its default grid is 1, and from which on it is at least 2. */
  readonly parallelFrom?: number;
  /** On a path it starts from where the last two models lead, and a long path is cut in two. */
  readonly followsPath?: true;
  /** The order of visits depends on time and is recorded: one process, one run, from its beginning. */
  readonly asynchronous?: true;
  readonly readsFromDisk?: true;
  /** It takes no problem with an intercept. */
  readonly hasNoIntercept?: true;
  /** Its bound does not come from a dual point, which could be kept. */
  readonly hasNoDualPoint?: true;
  /** A setting that needs all of the data in memory all the same, and what to do about it. */
  inMemoryOnly?(settings: Settings, size: number): readonly [string, string] | undefined;
  /** The settings that users give, where the others follow from the problem. */
  readonly given?: readonly string[];
  /** What of a problem it cannot solve, a colon, and why. */
  incompatible?(problem: ProblemSummary, settings: Settings): string | undefined;
  load(): Promise<SolverCode<Settings, unknown>>;
}

/** The arrays that a solver needs, and the method itself. */
export interface SolverCode<Settings, Memory> {
  allocate(arena: Arena, partition: Partition, settings: Settings): Memory;
  create(context: SolverContext, memory: Memory, settings: Settings, loss: Loss): Method;
}

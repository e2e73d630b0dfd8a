import type { StateArray } from '../engine/checkpoint/state.ts';
import type { Ring } from '../engine/ring.ts';
import type { Team } from '../engine/team.ts';
import type { Kernels } from './kernels/kernels.ts';
import type { Gap, Objective } from './objective/objective.ts';
import type { Problem } from './objective/problem.ts';

/**
 * A point to start from, by place: `weights` as long as an array that travels and within their box,
 * where there is one, `alpha` by rows.
 * Both are read only, and are not among the arrays of the run itself.
 */
export interface Start {
  readonly weights: Float64Array;
  readonly alpha?: Float64Array;
}

/** What a thread needs to take part in solving a problem. */
export interface Workplace {
  readonly problem: Problem;
  readonly kernels: Kernels;
  readonly team: Team;
  readonly ring: Ring;
  readonly objective: Objective;
  readonly seed: number;
  /** The run goes on from a checkpoint: what only leads to a first point may be left out. */
  readonly resumes?: boolean;
  /** Where to start instead of w = 0; not when the run resumes, whose state is complete. */
  readonly start?: Start;
}

/**
 * A solver at work in one thread. All threads of the team call the same methods in the same
 * order, so that every decision is taken by all of them from the same bits.
 */
export interface Method {
  /** The current primal point, by place; threads write only the blocks they are home to. */
  readonly weights: Float64Array;
  /** Those of `weights`, after an evaluation that returned P. */
  readonly margins: Float64Array;
  /**
   * The dual point behind the last bound, by row place, where a method has one. It may be outside of
   * what an intercept or a pure L1 penalty asks for; Objective.dual makes it feasible.
   */
  readonly dualPoint?: Float64Array;
  /** Non-zeros touched so far / |Ω|. */
  readonly passes: number;
  /**
   * Epochs to add once the tolerance is met. In row mode the primal point lags behind the dual one,
   * and late epochs touch few rows: for a pass or two they halve what is left.
   */
  readonly polish: number;
  /** Whether the result may be mixed from iterates; otherwise it is the one with the least P. */
  readonly mixes: boolean;
  /** The order in which the last epoch visited the cells, where it was free. */
  readonly visits?: Int32Array | undefined;
  /** Rotations of the ring per epoch, where they are a choice. */
  readonly rotations?: number;
  /** One epoch. */
  epoch(): void;
  /**
   * P at `weights` and a lower bound on the optimum; called once after every epoch. When `whole` is false, what would cost a pass
   * over the data may be left at ±Infinity.
   */
  evaluate(whole: boolean): Gap;
  /**
   * A lower bound that holds to the last digit, given the best one that evaluate() has returned:
   * where that came from incremental updates, which gather rounding errors, it is computed again
   * from nothing but α and the data.
   */
  certify(bound: number): number;
  /**
   * The state between two epochs, in three parts. Numbers a thread keeps to itself, the same in all
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

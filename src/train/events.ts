import type { Imbalance } from '../engine/partition.ts';
import type { BlockPositions } from '../engine/ring.ts';
import type { Model } from '../model/model.ts';
import type { ThreadTimeUse, TimeUse } from '../solvers/statistics.ts';

export type { StopReason } from '../model/model.ts';

/** Sent after every epoch. */
export interface EpochEvent {
  /** Which vector of the model is trained, from 0, and of how many, where there are several. */
  readonly vector?: { readonly index: number; readonly count: number };
  readonly epoch: number;
  /** Seconds of training so far; measuring on the test rows does not count. */
  readonly seconds: number;
  /** Non-zeros touched so far, divided by the number of non-zeros. */
  readonly passes: number;
  readonly primal: number;
  /** The best lower bound on the optimum so far. */
  readonly dual: number;
  readonly relativeGap: number;
  /** P and D of the last iterate evaluated; primal and dual are the best so far. */
  readonly latest?: { readonly primal: number; readonly dual: number };
  /** Error rate (classification) or mean squared error (regression) on the test rows, if any. */
  readonly testError?: number;
  /** Area under the precision-recall curve on the test rows, if it is measured. */
  readonly testAuprc?: number;
  /** What the threads did with their time in this epoch. */
  readonly effort: TimeUse;
}

/** The data is laid out and training begins: how the work is divided. */
export interface BeginEvent
  extends Pick<Model, 'solver' | 'lambda' | 'rows' | 'columns' | 'nonzeros' | 'grid'> {
  /** Vectors of weights: 1, or one for each class. */
  readonly vectors: number;
  /** Of each process. */
  readonly threads: number;
  /** Processes, where there are several, their hosts, and the first worker that each plays. */
  readonly ranks?: number;
  readonly hosts?: readonly string[];
  readonly firsts?: readonly number[];
  /** Rows of each worker, columns of each block, non-zeros of each cell, worker · p + block. */
  readonly loads: Readonly<Record<'rows' | 'columns' | 'cells', readonly number[]>>;
  /** Largest over fair share, minus 1. */
  readonly imbalance: Imbalance;
  /** Seconds that laying out the data took. */
  readonly seconds: number;
  /** Where the blocks are at this moment; undefined while none travels. May be called at any time. */
  look(): BlockPositions | undefined;
}

/** Sent at most twice a second, and at the end. */
export interface SampleEvent extends Pick<EpochEvent, 'vector' | 'epoch' | 'seconds'> {
  /** Bytes that all processes hold. */
  readonly memory: number;
  /** What each thread of each process has done since the run began. */
  readonly threads: readonly ThreadTimeUse[];
  /** The weights of the largest size in the best model so far, largest first, without intercept. */
  readonly largest: readonly { readonly column: number; readonly weight: number }[];
}

import type { Imbalance } from '../engine/partition.ts';
import type { BlockPositions } from '../engine/ring.ts';

export type { StopReason } from '../model/model.ts';

/** What training says after every epoch; the command line, logs and tests are listeners. */
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
  /** Area under the precision-recall curve on the test rows, when asked for. */
  readonly testAuprc?: number;
  /** What the threads did with their time in this epoch. */
  readonly effort: {
    /** Seconds, summed over all threads of all processes. */
    readonly computing: number;
    readonly waiting: number;
    /** Seconds in which data was under way between processes, summed over processes. */
    readonly communicating: number;
    /** Sent from one process to another. */
    readonly bytes: number;
  };
}

/** The data is laid out and training begins: what there is to do, and for whom. */
export interface BeginEvent {
  /** ring-rows, ring-columns, dso, lbfgs, … */
  readonly solver: string;
  readonly lambda: number;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** Vectors of weights: 1, or one for each class. */
  readonly vectors: number;
  /** p of the p × p grid. */
  readonly grid: number;
  /** Of each process. */
  readonly threads: number;
  /** Processes, where there are several, their hosts, and the first worker that each plays. */
  readonly ranks?: number;
  readonly hosts?: readonly string[];
  readonly firsts?: readonly number[];
  /** Rows of each worker, columns of each block, non-zeros of each cell, worker · p + block. */
  readonly loads: {
    readonly rows: readonly number[];
    readonly columns: readonly number[];
    readonly cells: readonly number[];
  };
  /** Largest over fair share, minus 1. */
  readonly imbalance: Imbalance;
  /** That it took to lay the data out. */
  readonly seconds: number;
  /** Where the blocks are at this moment; undefined while none travels. May be called at any time. */
  look(): BlockPositions | undefined;
}

/** Told twice a second at most, and at the end. */
export interface SampleEvent {
  readonly vector?: EpochEvent['vector'];
  readonly epoch: number;
  readonly seconds: number;
  /** Bytes that all processes hold. */
  readonly memory: number;
  /** What each thread of each process has done since the run began. */
  readonly threads: readonly (EpochEvent['effort'] & {
    /** The first worker that it plays. */
    readonly first: number;
  })[];
  /** The weights of the largest size in the best model so far, largest first, without intercept. */
  readonly largest: readonly { readonly column: number; readonly weight: number }[];
}

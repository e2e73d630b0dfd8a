/**
 * Why training ended. `early-stop`: the error on the hold-out rows rose; `stream`: the stream ended
 * whose rows were learned from and not kept; `imported`: another program trained, without a proof.
 */
export type StopReason =
  | 'converged'
  | 'epoch-limit'
  | 'time-limit'
  | 'interrupted'
  | 'early-stop'
  | 'stream'
  | 'imported';

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

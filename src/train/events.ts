/** Why training ended. */
export type StopReason = 'converged' | 'epoch-limit' | 'time-limit' | 'interrupted';

/** What training says after every epoch; the command line, logs and tests are listeners. */
export interface EpochEvent {
  readonly epoch: number;
  /** Seconds since training began. */
  readonly seconds: number;
  /** Non-zeros touched so far, divided by the number of non-zeros. */
  readonly passes: number;
  readonly primal: number;
  /** The best lower bound on the optimum so far. */
  readonly dual: number;
  readonly relativeGap: number;
  /** Error rate (classification) or mean squared error (regression) on the test rows, if any. */
  readonly testError?: number;
}

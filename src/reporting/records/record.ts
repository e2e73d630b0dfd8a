import type { BeginEvent } from '../../train/events.ts';
import type { TrainReport } from '../../train/options/options.ts';

/** The version of the record; a reader skips lines and fields that it does not know. */
export const recordFormat = 1;

/** First line: what was asked for, and by whom it is being done. */
export interface StartLine {
  readonly event: 'start';
  readonly format: number;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly started: string;
  /** Of the program. */
  readonly version: string;
  /** The process, as long as it runs, and its machine. */
  readonly pid: number;
  readonly host: string;
  /**
   * When that process began, in the clock ticks of its system, where the system tells: numbers of
   * processes are reused. The recorder fills it in.
   */
  readonly began?: number;
  /** What the run was called, if it was. */
  readonly name?: string;
  /** The data as it was named on the command line; of a query only that it was one. */
  readonly data: string;
  /** Where the model goes. */
  readonly model: string;
  readonly task: 'classification' | 'regression';
  readonly loss: string;
  readonly penalty: string;
  readonly tolerance: number;
  /** The limits, where there are any: most epochs, most seconds. */
  readonly epochs?: number;
  readonly time?: number;
  /** The command line after `dso`, from which a query is left out. */
  readonly words?: readonly string[];
  /**
   * By their long names in camel case the options that were given, and those with a default that
   * counts, such as the loss.
   */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The data is laid out and training begins. */
export interface BeginLine extends Omit<BeginEvent, 'look' | 'seconds' | 'loads'> {
  readonly event: 'begin';
  /** What each worker and block has to do; cells by worker · p + block, left out above a size. */
  readonly loads: Omit<BeginEvent['loads'], 'cells'> & { readonly cells?: readonly number[] };
  /** Seconds spent so far. */
  readonly seconds: { readonly read: number; readonly partition: number };
}

export interface EpochLine {
  readonly event: 'epoch';
  /** The vector of weights, from 0, where there are several. */
  readonly vector?: number;
  readonly epoch: number;
  /** Of training; of several vectors each has a clock of its own. */
  readonly seconds: number;
  /** Since training began, where there are several vectors. */
  readonly elapsed?: number;
  /** Non-zeros touched so far, divided by their number. */
  readonly passes: number;
  /** These three are null where they are not finite: JSON has no infinity. */
  readonly primal: number | null;
  /** null while there is no bound. */
  readonly dual: number | null;
  /** null while there is no bound. */
  readonly relativeGap: number | null;
  readonly testError?: number;
  readonly testAuprc?: number;
  /**
   * Sent from process to process so far, in all epochs of this vector. The recorder is given the
   * bytes of each epoch and adds them up, so that lines may be left out.
   */
  readonly bytes?: number;
}

/** What a thread has done so far, in seconds and bytes. Communicating goes on beside computing. */
export interface ThreadEffort {
  /** The first logical worker that it plays. */
  readonly first: number;
  readonly computing: number;
  readonly waiting: number;
  readonly communicating: number;
  readonly bytes: number;
}

/** Now and then: threads, memory, weights. */
export interface SampleLine {
  readonly event: 'sample';
  readonly vector?: number;
  readonly epoch: number;
  readonly seconds: number;
  /** Bytes that all processes hold. */
  readonly memory: number;
  readonly threads: readonly ThreadEffort[];
  /** The weights of the largest size, largest first. */
  readonly features: readonly { readonly name: string; readonly weight: number }[];
}

/** Of `--progressive`, which knows no epochs. */
export interface ReportLine {
  readonly event: 'report';
  readonly seconds: number;
  readonly rows: number;
  /** null where they are not finite. */
  readonly loss: number | null;
  readonly recentLoss: number | null;
  readonly error: number | null;
  readonly recentError: number | null;
}

export interface NoticeLine {
  readonly event: 'notice';
  readonly message: string;
}

/** Last line of a run that came to an end: its report, the one `--json` prints. */
export interface ResultLine extends Partial<TrainReport> {
  readonly event: 'result';
  readonly ended: string;
  /** The exit code. */
  readonly code: number;
  readonly model: string;
}

/** Last line of a run that failed. */
export interface FailureLine {
  readonly event: 'failure';
  readonly ended: string;
  readonly message: string;
}

export type RunLine =
  | StartLine
  | BeginLine
  | EpochLine
  | SampleLine
  | ReportLine
  | NoticeLine
  | ResultLine
  | FailureLine;

/**
 * running: its process is there (or on another machine and the record is being written);
 * done: it came to its end, by itself or because it was asked to; failed: it says why;
 * lost: its process is gone without a word.
 */
export type RunStatus = 'running' | 'done' | 'failed' | 'lost';

/** A run in short: what a list shows. */
export interface RunSummary {
  readonly id: string;
  readonly status: RunStatus;
  readonly start: StartLine;
  readonly begin?: BeginLine;
  /** The newest epoch. */
  readonly latest?: EpochLine;
  readonly report?: ReportLine;
  readonly result?: ResultLine;
  readonly failure?: FailureLine;
}

/** Epochs of a run, or every so many of them, as columns of equal length; null where unknown. */
export interface RunSeries {
  readonly epoch: readonly number[];
  readonly seconds: readonly number[];
  readonly passes: readonly number[];
  readonly primal: readonly (number | null)[];
  readonly dual: readonly (number | null)[];
  readonly relativeGap: readonly (number | null)[];
  readonly testError?: readonly (number | null)[];
  readonly testAuprc?: readonly (number | null)[];
  /** Bytes sent so far, all epochs before included, where processes talk. */
  readonly bytes?: readonly number[];
}

/** A run with its curves. */
export interface RunDetail {
  readonly summary: RunSummary;
  /** The vector that the series is of. */
  readonly vector: number;
  /** Epochs of that vector in the record, of which the series may hold fewer. */
  readonly epochs: number;
  readonly series: RunSeries;
  /** Of a run with several vectors: those whose newest gap is within the tolerance. */
  readonly reached?: readonly number[];
  /** Spread over the run, at most a few hundred; the newest is always there. */
  readonly samples: readonly SampleLine[];
  readonly reports: readonly ReportLine[];
  readonly notices: readonly string[];
}

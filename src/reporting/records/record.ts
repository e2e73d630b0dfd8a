import type { Quality } from '../../data/quality/quality.ts';
import type { BeginEvent, EpochEvent, SampleEvent } from '../../train/events.ts';
import type { TrainReport } from '../../train/options/options.ts';

/** The version of the record; a reader skips lines and fields that it does not know. */
export const recordFormat = 1;

/** First line: what was requested, and which process does it. */
export interface StartLine {
  readonly event: 'start';
  readonly format: number;
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly version: string;
  /** The process and its machine; `--log` leaves them out. */
  readonly pid: number;
  readonly host: string;
  /** When it began, in clock ticks, where known; process ids are reused. Set by the recorder. */
  readonly began?: number;
  /** From `--name`. */
  readonly name?: string;
  /** The data as named on the command line; for a query only that it was one. */
  readonly data: string;
  readonly model: string;
  readonly task: 'classification' | 'regression';
  readonly loss: string;
  readonly penalty: string;
  readonly tolerance: number;
  /** Limits on epochs and seconds, if any. */
  readonly epochs?: number;
  readonly time?: number;
  /** The command line after `dso`, from which a query is left out. */
  readonly words?: readonly string[];
  /** Options given, and those whose default matters, such as the loss; names in camel case. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The data is laid out and training begins. */
export interface BeginLine extends Omit<BeginEvent, 'look' | 'seconds' | 'loads'> {
  readonly event: 'begin';
  /** Loads of workers and blocks; cells by worker · p + block, absent for large grids. */
  readonly loads: Omit<BeginEvent['loads'], 'cells'> & { readonly cells?: readonly number[] };
  /** Seconds spent so far. */
  readonly seconds: { readonly read: number; readonly partition: number };
}

type Measured = Pick<EpochEvent, 'epoch' | 'seconds' | 'passes' | 'testError' | 'testAuprc'>;

/** `seconds` are those of the vector: each has a clock of its own. */
export interface EpochLine extends Measured {
  readonly event: 'epoch';
  /** The vector of weights, from 0, where there are several. */
  readonly vector?: number;
  /** Seconds since training began, where there are several vectors. */
  readonly elapsed?: number;
  /** The best so far; these three are null where they are not finite: JSON has no infinity. */
  readonly primal: number | null;
  readonly dual: number | null;
  readonly relativeGap: number | null;
  /** Of the iterate evaluated last. */
  readonly latest?: { readonly primal: number | null; readonly dual: number | null };
  readonly effort?: EpochEvent['effort'];
  /** Sent between processes so far, for this vector; the recorder adds up those of the epochs. */
  readonly bytes?: number;
}

/** What a thread has done so far. Communication runs in parallel with computation. */
export type ThreadEffort = SampleEvent['threads'][number];

/** Written at intervals: threads, memory, weights. */
export interface SampleLine extends Pick<SampleEvent, 'epoch' | 'seconds' | 'memory' | 'threads'> {
  readonly event: 'sample';
  readonly vector?: number;
  /** The weights of the largest size, largest first. */
  readonly features: readonly { readonly name: string; readonly weight: number }[];
}

/** Of `--progressive`, which has no epochs. */
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

interface NoticeLine {
  readonly event: 'notice';
  readonly message: string;
}

/** Last line of a run that came to an end: its report, the one `--json` prints. */
export interface ResultLine extends Partial<TrainReport> {
  readonly event: 'result';
  /** With `--describe`. */
  readonly quality?: Quality;
  readonly ended: string;
  /** The exit code. */
  readonly code: number;
  readonly model: string;
}

export interface FailureLine {
  readonly event: 'failure';
  readonly ended: string;
  readonly message: string;
}

/** Lines of which fewer are written the longer the run takes. */
export type FrequentLine = EpochLine | SampleLine | ReportLine;

export type RunLine = StartLine | BeginLine | FrequentLine | NoticeLine | ResultLine | FailureLine;

export function isFrequent(line: RunLine): line is FrequentLine {
  return line.event === 'epoch' || line.event === 'sample' || line.event === 'report';
}

/**
 * running: its process exists (or is on another machine and the record grows); done: it ended, by
 * itself or on request; failed: it recorded why; lost: its process is gone without a last line.
 */
export type RunStatus = 'running' | 'done' | 'failed' | 'lost';

/** A run in short: what a list shows. */
export interface RunSummary {
  readonly id: string;
  readonly status: RunStatus;
  readonly start: StartLine;
  readonly begin?: BeginLine;
  readonly latest?: EpochLine;
  readonly report?: ReportLine;
  readonly result?: ResultLine;
  readonly failure?: FailureLine;
}

type Values = readonly (number | null)[];

/** Epochs of a run, or every k-th of them, as columns of equal length; null where unknown. */
export interface RunSeries {
  readonly epoch: readonly number[];
  readonly seconds: readonly number[];
  readonly passes: readonly number[];
  readonly primal: Values;
  readonly dual: Values;
  readonly relativeGap: Values;
  readonly testError?: Values;
  readonly testAuprc?: Values;
  /** Bytes sent so far between processes, if there are several. */
  readonly bytes?: readonly number[];
}

export interface RunDetail {
  readonly summary: RunSummary;
  /** The vector that the series is of. */
  readonly vector: number;
  /** Epochs of that vector in the record, of which the series may hold fewer. */
  readonly epochs: number;
  readonly series: RunSeries;
  /** For several vectors: those whose newest gap is within the tolerance. */
  readonly reached?: readonly number[];
  /** Spread over the run, at most a few hundred; the newest is always there. */
  readonly samples: readonly SampleLine[];
  readonly reports: readonly ReportLine[];
  readonly notices: readonly string[];
}

/** The summary after another line; nothing follows a result or failure. */
export function withLine<Summary extends Partial<RunSummary>>(
  summary: Summary,
  line: RunLine,
): Summary {
  const { event } = line;
  if (summary.result || summary.failure || event === 'sample' || event === 'notice') return summary;
  if (event === 'start' || event === 'begin') return { [event]: line, ...summary };
  return { ...summary, [event === 'epoch' ? 'latest' : event]: line };
}

/** The status that the last line gives. */
export function endOf({ result, failure }: Partial<RunSummary>): 'done' | 'failed' | undefined {
  if (result) return 'done';
  return failure ? 'failed' : undefined;
}

/** Whether the gap is within the tolerance. */
export function hasReached({ relativeGap }: EpochLine, tolerance: number): boolean {
  return relativeGap !== null && relativeGap <= tolerance;
}

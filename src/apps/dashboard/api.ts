import type { FigureAxis, FigureQuantity } from '../../reporting/charts/quantities.ts';
import type { RunLine, RunSummary } from '../../reporting/records/record.ts';

export type { FigureAxis, FigureQuantity } from '../../reporting/charts/quantities.ts';

/**
 * The interface between the page and its server. All addresses are under /TOKEN/, which is part of
 * the printed address:
 *
 *   GET  api/runs                    → RunsAnswer
 *   GET  api/runs/ID?points=&vector= → RunDetail (src/reporting/records/record.ts), at most that many points
 *   GET  api/events                  → server-sent events, see StreamEvents
 *   POST api/runs/ID/stop            → 202, or 409 when it does not run
 *   GET  api/figure?…                → an SVG or PNG file, see FigureQuery
 *
 * Errors have a status of 400 or more and a Failure as body. A client that opens the events first and
 * requests runs afterwards gets some lines twice but misses none.
 */
export interface RunsAnswer {
  /** Of the program. */
  readonly version: string;
  /** The folder of the records as it was given. */
  readonly folder: string;
  /** Its absolute path. */
  readonly path: string;
  /** The run that this process trains, if any. */
  readonly own?: string;
  /** Newest first. */
  readonly runs: readonly RunSummary[];
}

export interface Failure {
  readonly error: string;
}

/** The events of the stream by name, each with its data as JSON. */
export interface StreamEvents {
  /**
   * A run has appeared, begun to train or ended; running ones are sent to every new page. A page that
   * did not read for a while gets it in place of the lines that it missed.
   */
  run: RunSummary;
  /** New lines of a running run, at most four times a second; some epochs may be left out. */
  lines: { readonly id: string; readonly lines: readonly RunLine[] };
  /** Work before training: reading, laying out; fraction 0 … 1 where known. */
  stage: { readonly id: string; readonly text: string; readonly fraction?: number };
  /** Where the blocks are, for the run of this process. */
  look: BlockHolders & { readonly id: string };
  /** The record has been deleted. */
  gone: { readonly id: string };
  /** The server is about to end. */
  bye: { readonly reason: string };
}

/** Which worker holds which block at this moment. */
export interface BlockHolders {
  readonly epoch: number;
  /** holders[block] is the worker that holds it, works on it or has it next; −1 for none. */
  readonly holders: readonly number[];
  /** Blocks that are with another process, whose holders follow from the schedule of the ring. */
  readonly elsewhere: readonly number[];
}

export interface FigureQuery {
  /** IDs separated by commas. The position decides the colour; an empty one counts as well. */
  readonly runs: string;
  readonly y: FigureQuantity;
  readonly x: FigureAxis;
  readonly format: 'svg' | 'png';
  /** Default: that of the quantity (gap: log). */
  readonly scale?: 'linear' | 'log';
  /** Default: linear. */
  readonly xscale?: 'linear' | 'log';
  /** Which class is shown of runs with several, from 1; default 1. */
  readonly class?: string;
  /** The part of the x axis to show. */
  readonly from?: string;
  readonly to?: string;
}

/** Threads of a running run on the host where it was started. */
export function runningThreads({ status, start, begin }: RunSummary): number {
  if (status !== 'running' || begin === undefined) return 0;
  const { threads, ranks = 1, hosts } = begin;
  return threads * (hosts ? hosts.filter((host) => host === start.host).length : ranks);
}

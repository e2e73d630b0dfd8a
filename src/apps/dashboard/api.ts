import type { RunLine, RunSummary } from '../../reporting/records/record.ts';

/**
 * What the page and its server say to each other. All addresses lie under /TOKEN/, which is part of
 * the address that was printed:
 *
 *   GET  api/runs                    → RunsAnswer
 *   GET  api/runs/ID?points=&vector= → RunDetail (src/reporting/records/record.ts), no more points than asked for
 *   GET  api/events                  → server-sent events, see StreamEvents
 *   POST api/runs/ID/stop            → 202, or 409 when it does not run
 *   GET  api/figure?…                → an SVG or PNG file, see FigureQuery
 *
 * Whatever cannot be done is answered with a status of 400 and more and a Failure. Who opens the
 * events first and asks for runs then gets some lines twice, but misses none.
 */
export interface RunsAnswer {
  /** Of the program. */
  readonly version: string;
  /** The folder of the records as a person would name it. */
  readonly folder: string;
  /** The same from the root of the file system. */
  readonly path: string;
  /** The run that this very process trains, if it does. */
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
   * A run has appeared, has begun to train or has ended; those that go on are told to every page
   * that comes. A page that did not read for a while gets it in place of the lines that it missed.
   */
  run: RunSummary;
  /** New lines of a run that goes on, at most four times a second; some epochs may be left out. */
  lines: { readonly id: string; readonly lines: readonly RunLine[] };
  /** What the process does before training: reading, laying out; fraction 0 … 1 where it is known. */
  stage: { readonly id: string; readonly text: string; readonly fraction?: number };
  /** Where the blocks are, for the run of this process; only while somebody looks. */
  look: Look & { readonly id: string };
  /** The record has been deleted. */
  gone: { readonly id: string };
  /** The server is about to end. */
  bye: { readonly reason: string };
}

/** Which worker holds which block at this moment. */
export interface Look {
  readonly epoch: number;
  /** holders[block] is the worker that holds it, works on it or has it next; −1 if nobody does. */
  readonly holders: readonly number[];
  /** Blocks that are with another process, whose holders follow from the schedule of the ring. */
  readonly elsewhere: readonly number[];
}

/** What is plotted over what. */
export type FigureQuantity =
  | 'objective'
  | 'gap'
  | 'testError'
  | 'testAuprc'
  | 'progressiveLoss'
  | 'progressiveError'
  | 'updates'
  | 'memory';
export type FigureAxis = 'seconds' | 'epoch' | 'passes';

export interface FigureQuery {
  /** IDs with commas between. The place decides the colour: an empty one keeps that of the next. */
  readonly runs: string;
  readonly y: FigureQuantity;
  readonly x: FigureAxis;
  readonly format: 'svg' | 'png';
  /** Default: the usual one of the quantity (gap: log). */
  readonly scale?: 'linear' | 'log';
  /** Default: linear. */
  readonly xscale?: 'linear' | 'log';
  /** Which class is shown of runs with several, from 1; default 1. */
  readonly class?: string;
  /** The part of the x axis to show. */
  readonly from?: string;
  readonly to?: string;
}

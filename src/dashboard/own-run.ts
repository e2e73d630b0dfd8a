import type { Look } from '../apps/dashboard/api.ts';
import type { RunDetail, RunLine, RunSummary } from '../reporting/records/record.ts';

/** The run that this very process trains. It may have no file. */
export interface OwnRun {
  readonly id: string;
  summary(): RunSummary;
  detail(query: { readonly points?: number; readonly vector?: number }): RunDetail;
  /** Calls the listener with every new line, until the returned function is called. */
  subscribe(listener: (line: RunLine) => void): () => void;
  /** Where the blocks are; undefined while it does not train. */
  look(): Look | undefined;
  /** Ends it as Ctrl-C does. */
  stop(): void;
}

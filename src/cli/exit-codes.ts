import { DsoError } from '../errors.ts';
import type { StopReason } from '../train/events.ts';

/** What the shell sees; `dso --help` lists them. */
export const exitCodes = {
  done: 0,
  failure: 1,
  usage: 2,
  data: 3,
  unfinished: 4,
  /** A process of an MPI job stopped answering. */
  lost: 5,
} as const;

/** 128 + the number of the signal, as shells count. */
export const signalExitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

export type InterruptSignal = keyof typeof signalExitCodes;

export function exitCodeOfError(error: unknown): number {
  return error instanceof DsoError ? exitCodes[error.kind] : exitCodes.failure;
}

export function exitCodeOfStop(stopped: StopReason, signal: InterruptSignal | undefined): number {
  if (stopped === 'converged' || stopped === 'early-stop') return exitCodes.done;
  return stopped === 'interrupted' ? signalExitCodes[signal ?? 'SIGINT'] : exitCodes.unfinished;
}

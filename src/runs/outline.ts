import { hostname } from 'node:os';
import { isAlive } from '../checkpoint/process.ts';
import type { RunLine, RunStatus, RunSummary } from '../reporting/records/record.ts';

/** The lines that a summary shows, as far as they have been met. */
export type Outline = {
  -readonly [Name in Exclude<keyof RunSummary, 'id' | 'status'>]?: RunSummary[Name];
};

/** How long the record of a run on another machine may stay as it is, in seconds. */
export const silence = 300;

/** Notes the next line of a run. */
export function take(outline: Outline, line: RunLine): void {
  if (outline.result || outline.failure) return;
  switch (line.event) {
    case 'start':
      outline.start ??= line;
      break;
    case 'begin':
      outline.begin ??= line;
      break;
    case 'epoch':
      outline.latest = line;
      break;
    case 'report':
      outline.report = line;
      break;
    case 'result':
      outline.result = line;
      break;
    case 'failure':
      outline.failure = line;
      break;
    default:
  }
}

/** The status that the last line tells. */
export function endOf({ result, failure }: Outline): 'done' | 'failed' | undefined {
  if (result) return 'done';
  return failure ? 'failed' : undefined;
}

/** Undefined if there is no first line: that is no record. */
export function summaryOf(
  id: string,
  { start, ...others }: Outline,
  status: RunStatus,
): RunSummary | undefined {
  return start && { id, status, start, ...others };
}

/** What has become of a run whose record was last written at a time, in milliseconds. */
export function statusOf(outline: Outline, written: number): RunStatus {
  return endOf(outline) ?? (isAtWork(outline, written) ? 'running' : 'lost');
}

function isAtWork({ start }: Outline, written: number): boolean {
  if (!start) return false;
  if (start.host === hostname()) return isAlive(start.pid, start.began);
  return Date.now() - written < 1000 * silence;
}

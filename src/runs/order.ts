import type { RunSummary } from '../reporting/records/record.ts';

/** Characters of an id that are its second. */
const secondLength = '20261115-212345'.length;

/**
 * Sorts runs, the newest first: by the second in their ids, then by when they began, of which ids
 * do not tell more.
 */
export function newestFirst(a: RunSummary, b: RunSummary): number {
  return (
    compare(b.id.slice(0, secondLength), a.id.slice(0, secondLength)) ||
    compare(b.start.started, a.start.started) ||
    compare(b.id, a.id)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

import { writeFileSync } from 'node:fs';
import { DataError, DsoError } from '../../errors.ts';
import { reasonOf } from '../../files.ts';
import { recordedIds, recordPath, removeIfPossible, stopPath } from './folder.ts';
import { newestFirst, shortId } from './labels.ts';
import type { RunDetail, RunSummary } from './record.ts';
import { outlineOf, readRange, withFile } from './record-file.ts';
import { type DetailOptions, RunView, statusOf } from './run-view.ts';

/** No record comes near; of a larger file the first part is read. */
const mostBytes = 2 ** 28;

/** How many names an error lists. */
const mostNames = 10;

/** The runs recorded in a folder, the newest first; none where there is no folder. */
export function listRuns(folder: string): RunSummary[] {
  return readFolder(folder).runs;
}

/** The same, and the names of records without information, since their first line is damaged. */
export function readFolder(folder: string): { runs: RunSummary[]; damaged: string[] } {
  const runs: RunSummary[] = [];
  const damaged: string[] = [];
  for (const id of recordedIds(folder)) {
    const summary = readSummary(folder, id);
    if (summary) runs.push(summary);
    else if (isDamaged(folder, id)) damaged.push(id);
  }
  return { runs: runs.sort(newestFirst), damaged };
}

/** A record that could not be read may be gone by now, or may just get its first line. */
function isDamaged(folder: string, id: string): boolean {
  const isFilled = withFile(recordPath(folder, id), (_, { size }) => size > 0) ?? false;
  return isFilled && readSummary(folder, id) === undefined;
}

/**
 * A record and the status of its run; undefined if none can be read. A run that seems to be lost may
 * have ended between the reading and the check of its process: a second reading finds all lines.
 */
function readView(path: string, read: (file: number, size: number) => RunView) {
  const once = () =>
    withFile(path, (file, { size, mtimeMs }) => {
      const view = read(file, size);
      return view.isRecord ? { view, status: statusOf(view, mtimeMs) } : undefined;
    });
  const found = once();
  return found?.status === 'lost' ? once() : found;
}

/** A run in short; undefined if there is no record of it that can be read. */
export function readSummary(folder: string, id: string): RunSummary | undefined {
  const found = readView(recordPath(folder, id), (file, size) => outlineOf(id, file, size));
  return found?.view.summary(found.status);
}

/** A run with its curves. Its process may be writing the record at the same time. */
export function readRun(folder: string, id: string, options: DetailOptions = {}): RunDetail {
  const found = readView(
    recordPath(folder, id),
    (file, size) => new RunView(id, readRange(file, 0, Math.min(size, mostBytes))),
  );
  if (!found) throw new DataError(`${folder}: no record of the run ${id}`);
  return found.view.detail(options, found.status);
}

/** The run that a text names: its id, the beginning or end of it if unique, or `last`. */
export function findRun(folder: string, text: string): string {
  const ids = listRuns(folder).map(({ id }) => id);
  if (ids.length === 0) throw new DataError(`${folder}: no run is recorded there`);
  if (text === 'last') return ids[0];
  const found = matching(ids, text);
  if (found.length === 1) return found[0];
  throw new DataError(
    found.length === 0
      ? `${folder}: no run "${text}"; there ${ids.length === 1 ? 'is' : 'are'} ${listOf(ids)}`
      : `${folder}: "${text}" is the beginning or end of several runs: ${listOf(found)}`,
  );
}

/** The digits after the last dash, which a list may show alone, go before other pieces of names. */
function matching(ids: readonly string[], text: string): string[] {
  if (ids.includes(text)) return [text];
  const ending = ids.filter((id) => shortId(id) === text);
  return ending.length === 1
    ? ending
    : ids.filter((id) => id.startsWith(text) || id.endsWith(text));
}

function listOf(ids: readonly string[]): string {
  const rest = ids.length - mostNames;
  return `${ids.slice(0, mostNames).join(', ')}${rest > 0 ? ` and ${rest} older` : ''}`;
}

/** Requests that a run ends as with Ctrl-C. False if it does not run. */
export function requestStop(folder: string, id: string): boolean {
  const summary = readSummary(folder, id);
  if (!summary) throw new DataError(`${folder}: no record of the run ${id}`);
  if (summary.status !== 'running') return false;
  try {
    // Never through a link that is there already.
    writeFileSync(stopPath(folder, id), '', { flag: 'wx' });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      const message = `${id}: cannot be asked to stop in ${folder}: ${reasonOf(cause)}`;
      throw new DsoError('failure', message, { cause });
    }
  }
  return true;
}

/** Removes the oldest records of ended runs, beyond `keep` records; what is no record stays. */
export function pruneRuns(folder: string, keep: number): void {
  for (const id of recordedIds(folder, 'file').slice(keep)) {
    const status = readSummary(folder, id)?.status;
    if (status === undefined || status === 'running') continue;
    removeIfPossible(recordPath(folder, id));
    removeIfPossible(stopPath(folder, id));
  }
}

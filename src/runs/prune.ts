import {
  recordedIds,
  recordPath,
  removeIfPossible,
  stopPath,
} from '../reporting/records/folder.ts';
import { statusOf } from './outline.ts';
import { outlineOf, withFile } from './record-bytes.ts';

/**
 * Removes the oldest records, so that at most `keep` remain and those of runs that go on. A file
 * that only has the name of a record is left alone. Others may do the same at the same time.
 */
export function pruneRuns(folder: string, keep: number): void {
  for (const id of recordedIds(folder, 'file').slice(keep)) {
    if (!hasEnded(recordPath(folder, id))) continue;
    removeIfPossible(recordPath(folder, id));
    removeIfPossible(stopPath(folder, id));
  }
}

function hasEnded(path: string): boolean {
  const status = withFile(path, (file, { size, mtimeMs }) => {
    const outline = outlineOf(file, size);
    return outline.start && statusOf(outline, mtimeMs);
  });
  return status !== undefined && status !== 'running';
}

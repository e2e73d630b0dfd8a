import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OwnRun } from '../../dashboard/own-run.ts';
import { recordedIds, recordPath } from '../../reporting/records/folder.ts';
import type { RunDetail, RunSummary } from '../../reporting/records/record.ts';
import { readRun, readSummary, requestStop } from '../../reporting/records/store.ts';
import { isRunId } from '../../runs/id.ts';
import { newestFirst } from '../../runs/order.ts';

export interface DetailQuery {
  readonly points?: number;
  readonly vector?: number;
}

interface Kept {
  /** Size and time of the file when it was read. */
  readonly stamp: string;
  readonly summary: RunSummary | undefined;
}

/**
 * The runs that can be shown: the records of a folder, and the run of this process, which is asked
 * itself instead of its file. Summaries are kept as long as their files stay as they are.
 */
export class RunShelf {
  readonly #folder: string | undefined;
  readonly #own: OwnRun | undefined;
  #kept = new Map<string, Kept>();

  constructor(folder: string | undefined, own: OwnRun | undefined) {
    this.#folder = folder;
    this.#own = own;
  }

  get folderName(): string {
    return this.#folder ?? '';
  }

  get folderPath(): string {
    return this.#folder === undefined ? '' : resolve(this.#folder);
  }

  get ownId(): string | undefined {
    return this.#own?.id;
  }

  /** Newest first. */
  list(): RunSummary[] {
    if (this.#own === undefined) return this.recorded().sort(newestFirst);
    try {
      return [this.#own.summary(), ...this.recorded()].sort(newestFirst);
    } catch {
      // A folder that cannot be read takes nothing away from the run that is there.
      return [this.#own.summary()];
    }
  }

  /** Those of the folder, without the run of this process. */
  recorded(): RunSummary[] {
    const folder = this.#folder;
    if (folder === undefined) return [];
    const ids = recordedIds(folder).filter((id) => id !== this.#own?.id);
    const kept = new Map(ids.map((id) => [id, this.#look(folder, id)]));
    this.#kept = kept;
    return [...kept.values()].flatMap(({ summary }) => summary ?? []);
  }

  summary(id: string): RunSummary | undefined {
    if (id === this.#own?.id) return this.#own.summary();
    if (this.#folder === undefined || !isRunId(id)) return undefined;
    const found = this.#look(this.#folder, id);
    this.#kept.set(id, found);
    return found.summary;
  }

  /** undefined if there is no such run. */
  detail(id: string, query: DetailQuery): RunDetail | undefined {
    if (id === this.#own?.id) return this.#own.detail(query);
    if (this.#folder === undefined || this.summary(id) === undefined) return undefined;
    return readRun(this.#folder, id, query);
  }

  /** Asks a run to end as after Ctrl-C; false if it does not go on. */
  stop(id: string): boolean {
    if (id !== this.#own?.id) return requestStop(this.#folder!, id);
    if (this.#own.summary().status !== 'running') return false;
    this.#own.stop();
    return true;
  }

  /** A run that goes on may be lost without a change of its file. */
  #look(folder: string, id: string): Kept {
    const stamp = stampOf(recordPath(folder, id));
    const before = this.#kept.get(id);
    if (before?.stamp === stamp && before.summary?.status !== 'running') return before;
    return { stamp, summary: stamp === '' ? undefined : readSummary(folder, id) };
  }
}

/** '' for what cannot be looked at, such as a link to itself. */
function stampOf(path: string): string {
  try {
    const { size, mtimeMs, ino } = statSync(path);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    return '';
  }
}

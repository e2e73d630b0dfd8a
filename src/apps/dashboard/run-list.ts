import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isRunId, recordedIds, recordPath } from '../../reporting/records/folder.ts';
import { newestFirst } from '../../reporting/records/labels.ts';
import type { RunDetail, RunSummary } from '../../reporting/records/record.ts';
import type { DetailOptions } from '../../reporting/records/run-view.ts';
import { readRun, readSummary, requestStop } from '../../reporting/records/store.ts';
import type { RunsAnswer } from './api.ts';
import type { CurrentRun } from './feeds.ts';

/** `stamp`: size and time of the file when it was read. */
type Cached = Readonly<{ stamp: string; summary: RunSummary | undefined }>;

/**
 * The runs that can be shown: the records of a folder, and the run of this process, which answers
 * instead of its file. Summaries are cached as long as their files do not change.
 */
export class RunList {
  readonly #folder: string | undefined;
  readonly #own: CurrentRun | undefined;
  #cache = new Map<string, Cached>();

  constructor(folder: string | undefined, own: CurrentRun | undefined) {
    this.#folder = folder;
    this.#own = own;
  }

  /** The folder as it was given, its absolute path, and the id of the run of this process. */
  get origin(): Pick<RunsAnswer, 'folder' | 'path' | 'own'> {
    const folder = this.#folder ?? '';
    return { folder, path: folder && resolve(folder), ...(this.#own && { own: this.#own.id }) };
  }

  /** Newest first. */
  list(): RunSummary[] {
    if (this.#own === undefined) return this.recorded().sort(newestFirst);
    try {
      return [this.#own.summary(), ...this.recorded()].sort(newestFirst);
    } catch {
      // A folder that cannot be read does not hide the run of this process.
      return [this.#own.summary()];
    }
  }

  /** Those of the folder, without the run of this process. */
  recorded(): RunSummary[] {
    const folder = this.#folder;
    if (folder === undefined) return [];
    const ids = recordedIds(folder).filter((id) => id !== this.#own?.id);
    const cache = new Map(ids.map((id) => [id, this.#read(folder, id)]));
    this.#cache = cache;
    return [...cache.values()].flatMap(({ summary }) => summary ?? []);
  }

  summary(id: string): RunSummary | undefined {
    if (id === this.#own?.id) return this.#own.summary();
    if (this.#folder === undefined || !isRunId(id)) return undefined;
    const found = this.#read(this.#folder, id);
    this.#cache.set(id, found);
    return found.summary;
  }

  /** Undefined if there is no such run. */
  detail(id: string, query: DetailOptions): RunDetail | undefined {
    if (id === this.#own?.id) return this.#own.detail(query);
    if (this.#folder === undefined || this.summary(id) === undefined) return undefined;
    return readRun(this.#folder, id, query);
  }

  /** Requests a stop as by Ctrl-C; false if it is not running. */
  stop(id: string): boolean {
    if (id !== this.#own?.id) return requestStop(this.#folder!, id);
    if (this.#own.summary().status !== 'running') return false;
    this.#own.stop();
    return true;
  }

  /** A running process may die without a change of its file. */
  #read(folder: string, id: string): Cached {
    const stamp = stampOf(recordPath(folder, id));
    const before = this.#cache.get(id);
    if (before?.stamp === stamp && before.summary?.status !== 'running') return before;
    return { stamp, summary: stamp === '' ? undefined : readSummary(folder, id) };
  }
}

/** '' for what cannot be read, such as a link to itself. */
function stampOf(path: string): string {
  try {
    const { size, mtimeMs, ino } = statSync(path);
    return `${size} ${mtimeMs} ${ino}`;
  } catch {
    return '';
  }
}

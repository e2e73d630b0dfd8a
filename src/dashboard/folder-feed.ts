import { type FSWatcher, watch } from 'node:fs';
import type { RunShelf } from '../apps/dashboard/run-list.ts';
import type { RunLine, RunSummary } from '../reporting/records/record.ts';
import { RunTail } from '../runs/tail.ts';
import { changesSummary, thinned } from './batch.ts';
import type { Emit } from './own-feed.ts';
import { attempt, repeat } from './repeating.ts';

/** Milliseconds between two readings of records that grow. */
const tailInterval = 250;
/** Between two looks at the folder, where the system says nothing of changes. */
const lookInterval = 2000;
/** From a change in the folder to the look at it: several come at once. */
const noticeDelay = 100;

/** The news of a folder of records, gathered only while somebody wants them. */
export class FolderFeed {
  readonly #folder: string;
  readonly #shelf: RunShelf;
  readonly #emit: Emit;
  readonly #onFailure: (error: unknown) => void;
  /** What the pages know of each run. */
  readonly #told = new Map<string, string>();
  /** Runs that go on. */
  readonly #tails = new Map<string, RunTail>();
  #ends: (() => void)[] = [];
  #notice: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;

  constructor(folder: string, shelf: RunShelf, emit: Emit, onFailure: (error: unknown) => void) {
    this.#folder = folder;
    this.#shelf = shelf;
    this.#emit = emit;
    this.#onFailure = onFailure;
  }

  /** A page that comes asks for the list after this, so nothing has to be told of what is there. */
  start(): void {
    this.#ends = [
      repeat(lookInterval, () => this.look(), this.#onFailure),
      repeat(tailInterval, () => this.#read(), this.#onFailure),
    ];
    this.#watch();
    for (const summary of this.#shelf.recorded()) this.#note(summary);
  }

  stop(): void {
    for (const end of this.#ends) end();
    this.#ends = [];
    clearTimeout(this.#notice);
    this.#notice = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#tails.clear();
    this.#told.clear();
  }

  /** Compares the folder with what has been told. */
  look(): void {
    const summaries = this.#shelf.recorded();
    const there = new Set(summaries.map(({ id }) => id));
    for (const id of [...this.#told.keys()].filter((known) => !there.has(known))) {
      this.#told.delete(id);
      this.#tails.delete(id);
      this.#emit('gone', { id });
    }
    for (const summary of summaries) this.#tell(summary);
  }

  /** New epochs are told as lines; a summary only when the run itself is in another state. */
  #tell(summary: RunSummary): void {
    const { id } = summary;
    if (this.#told.get(id) === stateOf(summary)) return;
    const tail = this.#tails.get(id);
    if (tail) this.#forward(id, tail);
    this.#note(summary);
    this.#emit('run', summary);
  }

  /** The lines that have come since the last time. */
  #forward(id: string, tail: RunTail): readonly RunLine[] {
    const lines = tail.read();
    const toleranceOf = () => this.#shelf.summary(id)?.start.tolerance ?? 0;
    if (lines.length > 0) this.#emit('lines', { id, lines: thinned(lines, toleranceOf) });
    return lines;
  }

  #note(summary: RunSummary): void {
    const { id, status } = summary;
    this.#told.set(id, stateOf(summary));
    if (status !== 'running') this.#tails.delete(id);
    else if (!this.#tails.has(id)) this.#tails.set(id, new RunTail(this.#folder, id, 'end'));
  }

  #read(): void {
    // The folder may be made by the first run.
    if (this.#watcher === undefined && this.#watch()) this.look();
    for (const [id, tail] of this.#tails) {
      if (!changesSummary(this.#forward(id, tail))) continue;
      const summary = this.#shelf.summary(id);
      if (summary !== undefined) this.#tell(summary);
    }
  }

  /** Whether changes are told. Not every file system does; then the timer alone has to do. */
  #watch(): boolean {
    try {
      const watcher = watch(this.#folder, { persistent: false });
      this.#watcher = watcher;
      // Files that appear and disappear; those that only grow are read by the timer.
      watcher.on('change', (kind) => {
        if (kind === 'rename') this.#lookSoon();
      });
      watcher.on('error', () => {
        watcher.close();
        this.#watcher = undefined;
      });
      return true;
    } catch {
      return false;
    }
  }

  #lookSoon(): void {
    this.#notice ??= setTimeout(() => {
      this.#notice = undefined;
      attempt(() => this.look(), this.#onFailure);
    }, noticeDelay).unref();
  }
}

function stateOf({ status, begin }: RunSummary): string {
  return `${status} ${begin === undefined ? 'before' : 'after'}`;
}

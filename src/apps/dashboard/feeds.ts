import { type FSWatcher, watch } from 'node:fs';
import { availableParallelism } from 'node:os';
import {
  type EpochLine,
  hasReached,
  type RunDetail,
  type RunLine,
  type RunSummary,
} from '../../reporting/records/record.ts';
import { RunTail } from '../../reporting/records/record-file.ts';
import type { DetailOptions } from '../../reporting/records/run-view.ts';
import { spreadIndices } from '../../reporting/records/series.ts';
import { type BlockHolders, runningThreads, type StreamEvents } from './api.ts';
import type { RunList } from './run-list.ts';
import type { Emit } from './subscribers.ts';

/** Lines in a message at most, unless it has more that are no epochs. */
const mostLines = 200;

/**
 * Leaves out epochs of a long batch evenly, never the last one, nor those that bring one of several
 * vectors within the tolerance.
 */
function downsampled(lines: readonly RunLine[], tolerance: number): readonly RunLine[] {
  const epochs = lines.filter((line) => line.event === 'epoch');
  const room = Math.max(1, mostLines - (lines.length - epochs.length));
  const chosen = new Set<RunLine>(spreadIndices(epochs.length, room).map((index) => epochs[index]));
  const isGoal = (line: EpochLine) => line.vector !== undefined && hasReached(line, tolerance);
  return lines.filter((line) => line.event !== 'epoch' || chosen.has(line) || isGoal(line));
}

/** Whether the summary of a run changes with these lines, in more than its newest epoch. */
function changesSummary(lines: readonly RunLine[]): boolean {
  return lines.some(({ event }) => event === 'begin' || event === 'result' || event === 'failure');
}

function attempt(action: () => void, onFailure: (error: unknown) => void): void {
  try {
    action();
  } catch (error) {
    onFailure(error);
  }
}

/** The run that this process trains. It may have no file. */
export interface CurrentRun {
  readonly id: string;
  summary(): RunSummary;
  detail(query: DetailOptions): RunDetail;
  /** Calls the listener with every new line, until the returned function is called. */
  subscribe(listener: (line: RunLine) => void): () => void;
  /** Where the blocks are; undefined while it does not train. */
  look(): BlockHolders | undefined;
  /** Ends it as Ctrl-C does. */
  stop(): void;
}

interface FeedOptions {
  readonly runs: RunList;
  /** Of the records. */
  readonly folder?: string | undefined;
  readonly current?: CurrentRun | undefined;
  readonly emit: Emit;
  readonly onFailure: (error: unknown) => void;
}

/** Milliseconds between two messages: each costs a process that trains on all cores. */
const interval = 250;
/** While all cores train, only every k-th time, unless the run begins or ends. */
const busyFactor = 4;
/** Milliseconds between two scans of the folder, where the system does not report changes. */
const scanInterval = 2000;
/** From a change in the folder to its scan: several come at once. */
const scanDelay = 100;

type Stage = Omit<StreamEvents['stage'], 'id'>;

/** Sends what changes in the runs of a folder and in the run of this process, once started. */
export class RunFeed {
  readonly #options: FeedOptions;
  /** New lines of the recorded runs that are running. */
  readonly #tails = new Map<string, RunTail>();
  /** The state of each recorded run that the pages know. */
  readonly #sent = new Map<string, string>();
  #ends: (() => void)[] = [];
  #scanTimer: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;
  /** New lines of the run of this process. */
  #lines: RunLine[] = [];
  #holders = '';
  #stage: Stage | undefined;
  #stageSent = true;
  #skipped = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /** The first page has joined. It loads the list after this, so only changes have to be sent. */
  start(): void {
    const { current, folder, runs, onFailure } = this.#options;
    this.#repeat(interval, () => this.#tick());
    if (current) this.#ends.push(current.subscribe((line) => void this.#lines.push(line)));
    if (folder === undefined) return;
    this.#repeat(scanInterval, () => this.#scan());
    this.#watch();
    // A folder that cannot be read is no reason to reject the page.
    attempt(() => {
      for (const summary of runs.recorded()) this.#note(summary);
    }, onFailure);
  }

  /** The last page has left. */
  stop(): void {
    for (const end of this.#ends) end();
    this.#ends = [];
    clearTimeout(this.#scanTimer);
    this.#scanTimer = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#tails.clear();
    this.#sent.clear();
    this.#lines = [];
  }

  /** Sends a page that has joined the running runs; what does not change follows with the next tick. */
  sendCurrent(send: Emit): void {
    const { runs, current, onFailure } = this.#options;
    this.#holders = '';
    this.#stageSent = this.#stage === undefined || current?.summary().begin !== undefined;
    attempt(() => {
      for (const run of runs.list()) if (run.status === 'running') send('run', run);
    }, onFailure);
  }

  /** Updates a page that has missed messages about a run. */
  refresh(id: string, send: Emit): void {
    const summary = this.#options.runs.summary(id);
    if (summary === undefined) send('gone', { id });
    else send('run', summary);
  }

  /** What the run of this process does while there are no epochs. */
  stage(stage: Stage): void {
    this.#stage = stage;
    this.#stageSent = false;
  }

  /** Sends what is new of the run of this process. */
  flush(): void {
    const { current, emit } = this.#options;
    if (!current) return;
    const { id } = current;
    if (!this.#stageSent && this.#stage) emit('stage', { id, ...this.#stage });
    this.#stageSent = true;
    const lines = this.#lines;
    this.#lines = [];
    if (this.#forward(id, lines)) emit('run', current.summary());
  }

  /** The timers neither keep the process alive nor end it: it may be training. */
  #repeat(milliseconds: number, action: () => void): void {
    const timer = setInterval(() => attempt(action, this.#options.onFailure), milliseconds);
    timer.unref();
    this.#ends.push(() => clearInterval(timer));
  }

  #tick(): void {
    this.#sendCurrent();
    const { folder, runs } = this.#options;
    if (folder === undefined) return;
    // The folder may be made by the first run.
    if (this.#watcher === undefined && this.#watch()) this.#scan();
    for (const [id, tail] of this.#tails) {
      if (!this.#forward(id, tail.read())) continue;
      const summary = runs.summary(id);
      if (summary !== undefined) this.#sendChange(summary);
    }
  }

  #sendCurrent(): void {
    const { current, emit } = this.#options;
    if (!current) return;
    const busy = this.#stageSent && runningThreads(current.summary()) >= availableParallelism();
    if (busy && !changesSummary(this.#lines) && ++this.#skipped < busyFactor) return;
    this.#skipped = 0;
    this.flush();
    const holders = current.look();
    const text = holders === undefined ? '' : JSON.stringify(holders);
    if (holders === undefined || text === this.#holders) return;
    this.#holders = text;
    emit('look', { id: current.id, ...holders });
  }

  /** Sends lines; returns whether they change the summary. */
  #forward(id: string, lines: readonly RunLine[]): boolean {
    const { runs, emit } = this.#options;
    if (lines.length > mostLines) {
      const { tolerance = 0 } = runs.summary(id)?.start ?? {};
      emit('lines', { id, lines: downsampled(lines, tolerance) });
    } else if (lines.length > 0) emit('lines', { id, lines });
    return changesSummary(lines);
  }

  /** Compares the folder with what has been sent. */
  #scan(): void {
    const { runs, emit } = this.#options;
    const summaries = runs.recorded();
    const present = new Set(summaries.map(({ id }) => id));
    for (const id of [...this.#sent.keys()].filter((known) => !present.has(known))) {
      this.#sent.delete(id);
      this.#tails.delete(id);
      emit('gone', { id });
    }
    for (const summary of summaries) this.#sendChange(summary);
  }

  /** New epochs are sent as lines; a summary only when the state of the run has changed. */
  #sendChange(summary: RunSummary): void {
    const { id } = summary;
    if (this.#sent.get(id) === stateOf(summary)) return;
    const tail = this.#tails.get(id);
    if (tail) this.#forward(id, tail.read());
    this.#note(summary);
    this.#options.emit('run', summary);
  }

  #note(summary: RunSummary): void {
    const { id, status } = summary;
    this.#sent.set(id, stateOf(summary));
    if (status !== 'running') this.#tails.delete(id);
    else if (!this.#tails.has(id)) {
      this.#tails.set(id, new RunTail(this.#options.folder!, id, 'end'));
    }
  }

  /** Whether changes are reported. Not every file system does; then there is only the timer. */
  #watch(): boolean {
    try {
      const watcher = watch(this.#options.folder!, { persistent: false });
      this.#watcher = watcher;
      // Files that appear and disappear; those that only grow are read by the timer.
      watcher.on('change', (kind) => {
        if (kind === 'rename') this.#scanSoon();
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

  #scanSoon(): void {
    this.#scanTimer ??= setTimeout(() => {
      this.#scanTimer = undefined;
      attempt(() => this.#scan(), this.#options.onFailure);
    }, scanDelay).unref();
  }
}

function stateOf({ status, begin }: RunSummary): string {
  return `${status} ${begin === undefined ? 'before' : 'after'}`;
}

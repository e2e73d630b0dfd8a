import { availableParallelism } from 'node:os';
import type { StreamEvents } from '../apps/dashboard/api.ts';
import type { RunLine } from '../reporting/records/record.ts';
import { changesSummary, thinned } from './batch.ts';
import { threadsOf } from './occupancy.ts';
import type { OwnRun } from './own-run.ts';
import { repeat } from './repeating.ts';

export type Emit = <Name extends keyof StreamEvents>(name: Name, data: StreamEvents[Name]) => void;

/** Milliseconds between two messages: whoever trains on all cores is disturbed by each. */
const interval = 250;
/** Where all cores train, every so many times only, unless the run begins or ends. */
const patience = 4;

/** The news of the run of this process, gathered only while somebody wants them. */
export class OwnFeed {
  readonly #run: OwnRun;
  readonly #emit: Emit;
  readonly #onFailure: (error: unknown) => void;
  #lines: RunLine[] = [];
  #look = '';
  #stage: Omit<StreamEvents['stage'], 'id'> | undefined;
  #stageSent = true;
  #skipped = 0;
  #end: (() => void) | undefined;

  constructor(run: OwnRun, emit: Emit, onFailure: (error: unknown) => void) {
    this.#run = run;
    this.#emit = emit;
    this.#onFailure = onFailure;
  }

  start(): void {
    const unsubscribe = this.#run.subscribe((line) => void this.#lines.push(line));
    const end = repeat(interval, () => this.#tick(), this.#onFailure);
    this.#end = () => {
      unsubscribe();
      end();
    };
  }

  stop(): void {
    this.#end?.();
    this.#end = undefined;
    this.#lines = [];
  }

  /** Somebody new looks, who has not seen what does not change. */
  repeat(): void {
    this.#look = '';
    this.#stageSent = this.#stage === undefined || this.#run.summary().begin !== undefined;
  }

  /** What is being done while there are no epochs. */
  stage(stage: Omit<StreamEvents['stage'], 'id'>): void {
    this.#stage = stage;
    this.#stageSent = false;
  }

  /** Sends what has been gathered. */
  flush(): void {
    const { id } = this.#run;
    if (!this.#stageSent && this.#stage) this.#emit('stage', { id, ...this.#stage });
    this.#stageSent = true;
    if (this.#lines.length === 0) return;
    const lines = thinned(this.#lines, () => this.#run.summary().start.tolerance);
    this.#lines = [];
    this.#emit('lines', { id, lines });
    if (changesSummary(lines)) this.#emit('run', this.#run.summary());
  }

  #tick(): void {
    if (this.#isBusy() && !changesSummary(this.#lines) && ++this.#skipped < patience) return;
    this.#skipped = 0;
    this.flush();
    const look = this.#run.look();
    const text = look === undefined ? '' : JSON.stringify(look);
    if (look === undefined || text === this.#look) return;
    this.#look = text;
    this.#emit('look', { id: this.#run.id, ...look });
  }

  #isBusy(): boolean {
    return this.#stageSent && threadsOf(this.#run.summary()) >= availableParallelism();
  }
}

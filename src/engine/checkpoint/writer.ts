import { rmSync } from 'node:fs';
import { reasonOf } from '../../files.ts';
import type { Header } from './file.ts';
import { addCheckpoint, removeOthers, type Workers, workersText } from './folder.ts';
import type { Layout, StateArray } from './state.ts';

/** How often a run is saved: after this many epochs, or seconds. */
export type Interval = { readonly epochs: number } | { readonly seconds: number };

/** What a run's checkpoints have in common. */
export interface CheckpointWriterSettings
  extends Pick<Header, 'program' | 'identity' | 'tolerance' | 'test'> {
  readonly folder: string;
  readonly every: Interval;
  /** Epoch of the checkpoint in the same folder that the run continues from. */
  readonly previous?: number;
}

/**
 * Decides when a run is saved and does it, in two steps: every process writes its part, and once it
 * is known whether all of them could, either the oldest checkpoint is removed or the new one. A
 * checkpoint that cannot be written is only reported: the one before stays, and training continues.
 */
export class CheckpointWriter {
  readonly #settings: CheckpointWriterSettings;
  readonly #layout: Layout;
  readonly #notice: (message: string) => void;
  /** Epoch of the newest checkpoint that all processes have in the folder, if there is one. */
  newest: number | undefined;
  #follows: number;
  #lastEpoch: number;
  #lastTime = performance.now();
  #written: string | undefined;
  #reason: string | undefined;
  #lastNotice = '';
  #unflushed = false;

  /** `epoch`: where the run continues from, 0 for one that begins. */
  constructor(
    settings: CheckpointWriterSettings,
    layout: Layout,
    epoch: number,
    notice: (message: string) => void,
  ) {
    this.#settings = settings;
    this.#layout = layout;
    this.#notice = notice;
    this.newest = settings.previous;
    this.#follows = epoch;
    this.#lastEpoch = epoch;
  }

  isDue(epoch: number): boolean {
    const { every } = this.#settings;
    if ('epochs' in every) return epoch - this.#lastEpoch >= every.epochs;
    return performance.now() - this.#lastTime >= 1000 * every.seconds;
  }

  /** First step: the part of this process. Another one may be at it at the same time. */
  write(
    moment: Pick<Header, 'epoch' | 'seconds' | 'saved'>,
    arrays: () => readonly StateArray[],
  ): void {
    const { folder, program, identity, tolerance, test } = this.#settings;
    const { first, end } = this.#layout;
    this.#written = undefined;
    this.#reason = undefined;
    // Nothing is new in a run that ended where it was resumed; a process without workers has nothing.
    if (this.newest === moment.epoch || first === end) return;
    try {
      const common = { program, identity, tolerance, test, follows: this.#follows };
      const content = { ...common, ...moment };
      const { path, problem } = addCheckpoint(folder, content, arrays(), this.#layout);
      this.#written = path;
      if (problem !== undefined && !this.#unflushed)
        this.#notice(`${path}: written, but ${problem}`);
      this.#unflushed = problem !== undefined;
    } catch (error) {
      this.#reason = reasonOf(error);
    }
  }

  /** The workers whose part could not be written here. */
  get failed(): Workers | undefined {
    return this.#reason === undefined ? undefined : [this.#layout.first, this.#layout.end];
  }

  /** Second step, once it is known whether any process has `failed`; `leads`: in rank 0. */
  settle(epoch: number, failed: Workers | undefined, leads: boolean): void {
    this.#lastEpoch = epoch;
    this.#lastTime = performance.now();
    if (this.newest === epoch) return;
    if (failed) {
      this.#undo();
      this.#report(epoch, failed, leads);
      return;
    }
    this.#lastNotice = '';
    const { first, end } = this.#layout;
    try {
      removeOthers(this.#settings.folder, [first, end], [this.newest ?? epoch, epoch]);
    } catch {
      // What should go stays, and goes the next time.
    }
    this.newest = epoch;
    this.#follows = epoch;
  }

  /** Others could not write their part: this one is of no use. */
  #undo(): void {
    try {
      if (this.#written !== undefined) rmSync(this.#written, { force: true });
    } catch {
      // It stays and is never chosen, since the others have no such epoch.
    }
  }

  /** Says so once, not every time until there is space again. */
  #report(epoch: number, failed: Workers, leads: boolean): void {
    if (this.#reason === undefined && !leads) return;
    const what = this.#reason ?? `${workersText(failed)} could not be written`;
    if (what === this.#lastNotice) return;
    this.#lastNotice = what;
    const rest =
      this.newest === undefined ? 'there is none before it' : `that of epoch ${this.newest} stays`;
    this.#notice(
      `no checkpoint of epoch ${epoch} in ${this.#settings.folder}: ${what}; ${rest}, and training continues`,
    );
  }
}

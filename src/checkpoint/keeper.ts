import { addCheckpoint, reasonOf, removeOthers } from './folder.ts';
import type { Header } from './header.ts';
import type { StateArray } from './state.ts';

/** How often a run is kept: every so many epochs, or once so many seconds have passed. */
export type Interval = { readonly epochs: number } | { readonly seconds: number };

/** What a run's checkpoints have in common. */
export interface KeeperSettings
  extends Pick<Header, 'program' | 'identity' | 'workers' | 'tolerance' | 'test'> {
  readonly folder: string;
  readonly every: Interval;
  /** The checkpoint in the same folder that the run goes on from. */
  readonly previous?: { readonly path: string; readonly epoch: number };
}

/**
 * Decides when a run is kept and does it. A checkpoint that cannot be written is reported and
 * forgotten: the one before stays, and training matters more.
 */
export class Keeper {
  readonly #settings: KeeperSettings;
  readonly #notice: (message: string) => void;
  #previous: { readonly path: string; readonly epoch: number } | undefined;
  #lastEpoch: number;
  #lastTime = performance.now();
  #failure = '';

  constructor(settings: KeeperSettings, epoch: number, notice: (message: string) => void) {
    this.#settings = settings;
    this.#notice = notice;
    this.#previous = settings.previous;
    this.#lastEpoch = epoch;
  }

  isDue(epoch: number): boolean {
    const { every } = this.#settings;
    if ('epochs' in every) return epoch - this.#lastEpoch >= every.epochs;
    return performance.now() - this.#lastTime >= 1000 * every.seconds;
  }

  keep(
    moment: Pick<Header, 'epoch' | 'seconds' | 'saved'>,
    arrays: () => readonly StateArray[],
  ): void {
    const { folder, program, identity, workers, tolerance, test } = this.#settings;
    // The run ended where it went on from: nothing has happened since.
    if (this.#previous?.epoch === moment.epoch) return;
    try {
      const common = { program, identity, workers, tolerance, test };
      const { path } = addCheckpoint(folder, { ...common, ...moment }, arrays());
      const before = this.#previous?.path;
      this.#previous = { path, epoch: moment.epoch };
      this.#failure = '';
      removeOthers(folder, [path, before]);
    } catch (error) {
      if (this.#previous?.epoch !== moment.epoch) this.#fail(moment.epoch, reasonOf(error));
    }
    this.#lastEpoch = moment.epoch;
    this.#lastTime = performance.now();
  }

  /** Says so once, not every time until there is room again. */
  #fail(epoch: number, reason: string): void {
    if (reason === this.#failure) return;
    this.#failure = reason;
    const rest = this.#previous
      ? `that of epoch ${this.#previous.epoch} stays`
      : 'there is none before it';
    this.#notice(
      `no checkpoint of epoch ${epoch} in ${this.#settings.folder}: ${reason}; ${rest}, and training goes on`,
    );
  }
}

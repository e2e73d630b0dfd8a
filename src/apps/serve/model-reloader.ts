import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { decodeModel, readModelBytes, sha256 } from '../../model/file.ts';
import type { Model } from '../../model/model.ts';
import type { PredictorOptions } from '../../model/predict/predictor.ts';
import { Scorer } from './scorer.ts';

/** Digits of the file's SHA-256 that name its version. */
const versionDigits = 16;

/** A model in use. */
export interface LoadedModel {
  readonly model: Model;
  readonly scorer: Scorer;
  readonly version: string;
  readonly loadedAt: Date;
}

export interface ReloaderSettings extends PredictorOptions {
  /** A model was read and answers from now on. */
  onLoad(loaded: LoadedModel): void;
  /** The file could not be read; the model before it stays. */
  onFailure(message: string): void;
}

/**
 * Holds the model of a file and replaces it when the file changes. A new file is read and checked
 * as a whole first; if it is damaged, the old model stays.
 */
export class ModelReloader {
  readonly #path: string;
  readonly #settings: ReloaderSettings;
  #current: LoadedModel;
  #state: string;
  #timer: NodeJS.Timeout | undefined;
  /** Files are read one after the other, so the newest one stays. */
  #queue: Promise<void> = Promise.resolve();
  #polling = false;

  private constructor(
    path: string,
    settings: ReloaderSettings,
    state: string,
    loaded: LoadedModel,
  ) {
    this.#path = path;
    this.#settings = settings;
    this.#state = state;
    this.#current = loaded;
  }

  /** Reads the first model; throws a DataError if the file has none. */
  static async open(path: string, settings: ReloaderSettings): Promise<ModelReloader> {
    // Before it is read: a change in between is then noticed later.
    const state = await fileState(path);
    const loaded = await load(path, settings);
    settings.onLoad(loaded);
    return new ModelReloader(path, settings, state, loaded);
  }

  get current(): LoadedModel {
    return this.#current;
  }

  /**
   * Polls the file. Events of the file system would be faster, but do not work on network drives,
   * nor through a symbolic link whose target is replaced.
   */
  watch(milliseconds: number): void {
    this.#timer = setInterval(() => void this.#poll(), milliseconds);
    this.#timer.unref();
  }

  /** Reads the file, changed or not; resolves when that is done. */
  reload(): Promise<void> {
    return this.#enqueue(true);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    await this.#enqueue(false);
    this.#polling = false;
  }

  #enqueue(always: boolean): Promise<void> {
    this.#queue = this.#queue.then(() => this.#replace(always));
    return this.#queue;
  }

  async #replace(always: boolean): Promise<void> {
    const state = await fileState(this.#path);
    if (state === this.#state && !always) return;
    try {
      this.#current = await load(this.#path, this.#settings);
      this.#state = state;
      this.#settings.onLoad(this.#current);
    } catch (error) {
      // A file that is still being written is read again before an error is reported.
      if ((await fileState(this.#path)) !== state) return;
      this.#state = state;
      this.#settings.onFailure((error as Error).message);
    }
  }
}

/** Messages name the file without its folder. */
async function load(path: string, { strict = false }: PredictorOptions): Promise<LoadedModel> {
  const name = basename(path);
  const bytes = await readModelBytes(path, name);
  const model = decodeModel(bytes, name);
  const version = sha256([bytes]).slice(0, versionDigits);
  return { model, scorer: new Scorer(model, { strict }), version, loadedAt: new Date() };
}

/** What changes when a file is written or another one takes its name. */
async function fileState(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return (error as Error).message;
  }
}

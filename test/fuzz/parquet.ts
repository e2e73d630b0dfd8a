import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDataset } from '../../src/data/read/read.ts';
import { inlineRunner, type OwnThread, type TaskRunner } from '../../src/data/read/tasks.ts';
import { RequestThread, threadEntry } from '../../src/engine/thread.ts';
import { DsoError } from '../../src/errors.ts';
import type { Random } from '../../src/math/random.ts';
import { namedRows } from '../unit/data/tables/support.ts';
import {
  checkDataset,
  contentOf,
  difference,
  Fault,
  type Read,
  readInMemory,
  readOrMessage,
} from './datasets.ts';
import { minimize } from './minimize.ts';
import {
  damagedParquet,
  expectedLines,
  type ParquetSeed,
  parquetSeeds,
  sameTable,
} from './parquet-files.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';

/** Far more than any of these files may take, in milliseconds, on a busy machine. */
const longest = 20_000;
/** More memory than before, in kilobytes. */
const mostGrowth = 1 << 19;

/** A decoder's thread for all inputs, unless it has to be ended. */
class SharedThread implements OwnThread {
  #thread: RequestThread | undefined;
  #open: number | undefined;

  async request<Result>(task: string, payload: unknown): Promise<Result> {
    this.#thread ??= new RequestThread(threadEntry('worker'), {});
    const thread = this.#thread;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fault = new Fault(`${task} takes more than ${longest / 1000} s`);
      timer = setTimeout(() => reject(fault), longest);
    });
    try {
      const result = await Promise.race([thread.request<Result>(task, payload), late]);
      if (task === 'parquet-open') this.#open = (result as { id: number }).id;
      return result;
    } catch (error) {
      // It may have ended by itself.
      if (!(error instanceof DsoError)) await this.end();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What a decoder ends its thread with: here the next one goes on with it. */
  async terminate(): Promise<void> {
    if (this.#open !== undefined) await this.#thread?.request('parquet-close', this.#open);
    this.#open = undefined;
  }

  async end(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
    this.#open = undefined;
  }
}

class ParquetAttack implements Attack {
  readonly counts = new Counts();
  readonly #folder: string;
  readonly #seeds = parquetSeeds();
  readonly #thread = new SharedThread();
  readonly #runner: TaskRunner = { ...inlineRunner, ownThread: () => this.#thread };
  /** What the valid files hold. */
  readonly #contents = new Map<Uint8Array, string>();
  #files = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** All ways to write the table give its rows. */
  async prepare(): Promise<void> {
    for (const seed of this.#seeds) this.#contents.set(seed.bytes, await this.#contentOf(seed));
    const [first, ...others] = this.#seeds.slice(0, sameTable);
    for (const { name, bytes } of others) {
      if (this.#contents.get(bytes) !== this.#contents.get(first.bytes)) {
        throw new Error(`the table is another one in the file ${name}`);
      }
    }
    const lines = await readInMemory(Buffer.from(expectedLines()), 'table.jsonl', {});
    const expected = JSON.stringify(namedRows(lines));
    const { dataset } = (await this.#read(first.bytes)) as Extract<Read, { dataset: unknown }>;
    const found = JSON.stringify(namedRows(dataset));
    if (found !== expected) throw new Error(`the table differs: ${difference(found, expected)}`);
  }

  async #contentOf({ name, bytes }: ParquetSeed): Promise<string> {
    const read = await this.#read(bytes);
    if ('dataset' in read) return contentOf(read.dataset);
    throw new Error(`the file ${name} is refused: ${read.message}`);
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const bytes = damagedParquet(random, this.#seeds);
    const fault = await this.#faultOf(bytes, true);
    return fault && this.#failure(fault, bytes);
  }

  async #read(bytes: Uint8Array): Promise<Read> {
    const path = join(this.#folder, 'input.parquet');
    writeFileSync(path, bytes);
    return readOrMessage(() => readDataset(path, { runner: this.#runner }));
  }

  async #faultOf(bytes: Uint8Array, counted = false): Promise<Fault | undefined> {
    const before = process.resourceUsage().maxRSS;
    try {
      const read = await this.#read(bytes);
      const growth = process.resourceUsage().maxRSS - before;
      if (growth > mostGrowth) throw new Fault('memory', `${growth >> 10} MB more memory`);
      if ('dataset' in read) checkDataset(read.dataset, false);
      else if (!read.message.includes('input.parquet')) {
        throw new Fault('a message without the file', read.message);
      }
      const known = this.#contents.get(bytes);
      if (known !== undefined && (!('dataset' in read) || contentOf(read.dataset) !== known)) {
        throw new Fault('a valid file is read as another one');
      }
      if (counted) this.counts.add('dataset' in read ? 'accepted' : 'refused');
      return undefined;
    } catch (error) {
      if (error instanceof Fault) return error;
      throw error;
    }
  }

  async #failure(fault: Fault, bytes: Uint8Array): Promise<Failure> {
    // What takes memory or time is not repeated: a peak is seen once.
    const isShort = fault.kind !== 'memory' && !fault.kind.includes(' s');
    const smallest = isShort
      ? await minimize(
          bytes,
          async (smaller) => (await this.#faultOf(smaller))?.kind === fault.kind,
        )
      : bytes;
    const path = join(this.#folder, `${this.#files++}.parquet`);
    writeFileSync(path, smallest);
    return { what: fault.message, command: `dso describe ${path}` };
  }

  async close(): Promise<void> {
    await this.#thread.end();
  }
}

export const parquet: Target = {
  summary: 'Parquet files with forged headers and damaged pages',
  quick: 1500,
  open: async (folder) => {
    const attack = new ParquetAttack(folder);
    await attack.prepare();
    return attack;
  },
};

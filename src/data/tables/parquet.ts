import { DataError, UsageError } from '../../errors.ts';
import { Collector, type DatasetShape } from '../read/collector.ts';
import type { PartsOptions } from '../read/pieces.ts';
import { inputFiles } from '../read/pieces.ts';
import { type DataSource, filesOfSource, standardInput, titleOfSource } from '../read/sources.ts';
import { inlineRunner, type OwnThread } from '../read/tasks.ts';
import type { OpenedParquet, RowGroupSize } from './parquet-file.ts';
import { type Table, type TableBatch, TableReader } from './table.ts';

/** How long a file may be decoded without progress: a number of intervals, in milliseconds. */
const defaultPatience = { intervals: 60, interval: 1000 };
/** Values that are decoded in an interval at the very least; a page may have all of its row group. */
const valuesPerInterval = 500_000;

/** Reads Parquet files one after the other, in memory for a row group of them. */
export async function readParquet(
  source: DataSource,
  options: PartsOptions,
): Promise<DatasetShape> {
  const paths = filesOfSource(source);
  if (paths.includes(standardInput)) {
    throw new UsageError(
      'Parquet from standard input; expected files, which are read from their end',
    );
  }
  const files = await inputFiles(paths);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const collector = new Collector(options);
  const decoder = new Decoder(options.runner?.ownThread?.());
  let reader: TableReader | undefined;
  try {
    for (const { path, size } of files) {
      const table = await decoder.open(path);
      reader ??= new TableReader(table, 'Parquet', collector, options);
      await reader.read(table);
      collector.bytes += size;
      options.onProgress?.(collector.bytes / total);
    }
  } finally {
    await decoder.close();
  }
  return collector.checkedShape(titleOfSource(source));
}

/** Decodes files in a thread, if there is one, and ends it if it makes no progress. */
export class Decoder {
  readonly #thread: OwnThread | undefined;
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  patience = defaultPatience;
  /** The file that is open. */
  #id: number | undefined;

  constructor(thread: OwnThread | undefined) {
    this.#thread = thread;
  }

  async open(path: string): Promise<Table> {
    await this.#closeFile();
    const payload = { path, progress: this.#progress };
    const where = `${path}: its footer`;
    const file = await this.#run<OpenedParquet>('parquet-open', payload, where);
    this.#id = file.id;
    const batches = (positions: readonly number[]) => this.#batches(path, file, positions);
    return { title: path, columns: file.columns, batches };
  }

  /** A batch for every row group. */
  async *#batches(
    path: string,
    { id, groups }: OpenedParquet,
    positions: readonly number[],
  ): AsyncGenerator<TableBatch> {
    for (const [group, size] of groups.entries()) {
      if (size.rows === 0) continue;
      const where = `${path}: row group ${group + 1}`;
      yield await this.#run<TableBatch>('parquet-group', { id, group, positions }, where, size);
    }
  }

  async close(): Promise<void> {
    if (this.#thread) await this.#thread.terminate();
    else await this.#closeFile();
  }

  async #closeFile(): Promise<void> {
    if (this.#id !== undefined) await this.#run('parquet-close', this.#id, 'closing');
    this.#id = undefined;
  }

  async #run<Result>(
    task: string,
    payload: unknown,
    where: string,
    size: RowGroupSize = { rows: 0, values: 0 },
  ): Promise<Result> {
    if (!this.#thread) return inlineRunner.run<Result>(task, payload);
    const { intervals, interval } = this.patience;
    const most = intervals + Math.ceil(size.values / valuesPerInterval);
    const stalled = Promise.withResolvers<never>();
    let [seen, ticks] = [-1, 0];
    // Intervals are counted, not time: what delays this thread or the machine is no fault of a file.
    const timer = setInterval(() => {
      const now = Atomics.load(this.#progress, 0);
      ticks = now === seen ? ticks + 1 : 0;
      seen = now;
      if (ticks < most) return;
      const found = `${where}: no progress for ${(most * interval) / 1000} seconds`;
      stalled.reject(new DataError(`${found}; the file is damaged, or its pages are too large`));
    }, interval);
    try {
      return await Promise.race([this.#thread.request<Result>(task, payload), stalled.promise]);
    } catch (error) {
      throw outOfMemory(error) ? tooLarge(where, error) : error;
    } finally {
      clearInterval(timer);
    }
  }
}

function outOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge(where: string, cause: unknown): DataError {
  return new DataError(
    `${where}: needs more memory than a thread can have; expected smaller row groups`,
    { cause },
  );
}

import { type DatasetShape, datasetOf } from './collector.ts';
import type { Dataset, DatasetPart } from './dataset.ts';
import { inputFiles, readPieces, wholePiece } from './pieces.ts';
import type { PartsOptions, ReadOptions } from './read-options.ts';
import { type DataSource, filesOfSource, titleOfSource } from './sources.ts';

export type { DatasetShape } from './collector.ts';
export type { PartsOptions, ReadOptions } from './read-options.ts';

/**
 * Reads LIBSVM text or binary data from files (plain, gzip or zstd, told apart by content), one
 * after the other, or, for `-`, from standard input. Every fault of the input is a DataError; of
 * several faulty lines the first one is reported, whatever the number of threads.
 */
export async function readDataset(source: DataSource, options: ReadOptions = {}): Promise<Dataset> {
  const parts: DatasetPart[] = [];
  const takePart = (part: DatasetPart) => void parts.push(part);
  return datasetOf(await readParts(source, { ...options, takePart }), parts);
}

/** The same, but hands the rows on as they come, in memory for a few pieces of the input. */
export async function readParts(source: DataSource, options: PartsOptions): Promise<DatasetShape> {
  const files = await inputFiles(filesOfSource(source));
  const collector = await readPieces(files.map(wholePiece), options);
  const title = titleOfSource(source);
  collector.check(title);
  return collector.shape(title, options.columns ?? 0);
}

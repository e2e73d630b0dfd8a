import type { Dataset, DatasetPart } from './dataset.ts';
import { type DatasetShape, datasetOf } from './read/collector.ts';
import { nameLines, withStoredNames } from './read/feature-names.ts';
import type { PartsOptions, ReadOptions } from './read/options.ts';
import { inputFiles, readPieces, wholePiece } from './read/pieces.ts';
import { type DataSource, filesOfSource, titleOfSource } from './read/sources.ts';
import { formatOfName } from './text/format.ts';

export type { DatasetShape } from './read/collector.ts';
export type { PartsOptions, ReadOptions } from './read/options.ts';

/**
 * Reads data of any format from files (plain, gzip or zstd, told apart by content), one after the
 * other, or, for `-`, from standard input. Every fault of the input is a DataError; of
 * several faulty lines the first one is reported, whatever the number of threads.
 */
export async function readDataset(source: DataSource, options: ReadOptions = {}): Promise<Dataset> {
  const parts: DatasetPart[] = [];
  const takePart = (part: DatasetPart) => void parts.push(part);
  const lines: Uint8Array[] = [];
  const takeNames = (more: Uint8Array) => void lines.push(more);
  const taking = { ...options, takePart, takeNames, takesTexts: true };
  const dataset = datasetOf(await readShape(source, taking), parts);
  return lines.length === 0 ? dataset : withStoredNames(dataset, lines, options.like);
}

/** The same, but hands the rows on as they come, in memory for a few pieces of the input. */
export async function readParts(source: DataSource, options: PartsOptions): Promise<DatasetShape> {
  const shape = await readShape(source, options);
  const { featureNames } = shape;
  if (featureNames && options.takeNames) {
    for (const lines of nameLines(featureNames)) await options.takeNames(lines);
  }
  return shape;
}

async function readShape(source: DataSource, options: PartsOptions): Promise<DatasetShape> {
  if (isParquet(source, options)) {
    // Few runs need it, and its decoders take time to load.
    const { readParquet } = await import('./table/read-parquet.ts');
    return readParquet(source, options);
  }
  const files = await inputFiles(filesOfSource(source));
  const collector = await readPieces(files.map(wholePiece), options);
  const title = titleOfSource(source);
  collector.check(title);
  return collector.shape(title, options.columns ?? 0);
}

/** Parquet is read from its end, so what the name says has to do. */
function isParquet(source: DataSource, { format }: PartsOptions): boolean {
  if (format !== undefined) return format === 'parquet';
  return filesOfSource(source).every((path) => formatOfName(path) === 'parquet');
}

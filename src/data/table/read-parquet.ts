import { UsageError } from '../../errors.ts';
import { Collector, type DatasetShape } from '../read/collector.ts';
import type { PartsOptions } from '../read/options.ts';
import { inputFiles } from '../read/pieces.ts';
import { type DataSource, filesOfSource, standardInput, titleOfSource } from '../read/sources.ts';
import { ParquetFile } from '../tables/parquet.ts';
import { TableReader } from './table-reader.ts';

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
  const reader = new TableReader(collector, options);
  for (const { path, size } of files) {
    const file = await ParquetFile.open(path);
    try {
      await reader.read(file, 'Parquet');
    } finally {
      await file.close();
    }
    collector.bytes += size;
    options.onProgress?.(collector.bytes / total);
  }
  const title = titleOfSource(source);
  collector.check(title);
  return collector.shape(title, options.columns ?? 0);
}

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ColumnSource, type ParquetWriteOptions, parquetWriteFile } from 'hyparquet-writer';
import type { Dataset } from '../../../../src/data/dataset.ts';
import { temporaryFolder } from '../support/files.ts';

/** A file with every type, written by DuckDB; typed.parquet.json says what it means. */
export const golden = fileURLToPath(new URL('../../../golden/data/typed.parquet', import.meta.url));

/** Writes columns to a file that goes away with the test. */
export function writeParquet(
  columnData: ColumnSource[],
  options: Partial<ParquetWriteOptions> = {},
  path = join(temporaryFolder(), 'data.parquet'),
): string {
  parquetWriteFile({ ...options, filename: path, columnData });
  return path;
}

/** A row as people think of it. */
export interface NamedRow {
  readonly label: number | string;
  readonly weight?: number;
  readonly features: Readonly<Record<string, number>>;
}

/** Rows with the names of their features, in alphabetical order. */
export function namedRows({ parts, featureNames, labelNames }: Dataset): NamedRow[] {
  return parts.flatMap(({ labels, rowOffsets, indices, values, weights }) =>
    Array.from(labels, (label, row) => {
      const entries: [string, number][] = [];
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        entries.push([featureNames![indices[entry]], values[entry]]);
      }
      entries.sort(([left], [right]) => (left < right ? -1 : 1));
      return {
        label: labelNames ? labelNames[label] : label,
        ...(weights && { weight: weights[row] }),
        features: Object.fromEntries(entries),
      };
    }),
  );
}

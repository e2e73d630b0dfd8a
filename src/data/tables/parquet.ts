import { type FileHandle, open } from 'node:fs/promises';
import zlib from 'node:zlib';
import type { AsyncBuffer, Compressors, DecodedArray, FileMetaData } from 'hyparquet';
import { DataError, UsageError } from '../../errors.ts';
import { explainAccess } from '../../files.ts';
import { Collector, type DatasetShape } from '../read/collector.ts';
import type { PartsOptions } from '../read/pieces.ts';
import { inputFiles } from '../read/pieces.ts';
import { type DataSource, filesOfSource, standardInput, titleOfSource } from '../read/sources.ts';
import { type ParquetColumn, parquetColumns, parsers } from './parquet-types.ts';
import { type Table, type TableBatch, TableReader, type TableValue } from './table.ts';

const magic = 'PAR1';
const encryptedMagic = 'PARE';
/** Magic at both ends and the length of the footer. */
const smallestSize = 12;

/** A file of the operating system, in pieces. */
class ParquetBytes implements AsyncBuffer {
  readonly byteLength: number;
  readonly #file: FileHandle;

  constructor(file: FileHandle, byteLength: number) {
    this.#file = file;
    this.byteLength = byteLength;
  }

  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(Math.max(0, end - start));
    for (let filled = 0; filled < bytes.length; ) {
      const { bytesRead } = await this.#file.read(
        bytes,
        filled,
        bytes.length - filled,
        start + filled,
      );
      if (bytesRead === 0) throw new Error(`the file ends before byte ${end}`);
      filled += bytesRead;
    }
    return bytes.buffer;
  }
}

/** A Parquet file, from which row group after row group is read. */
export class ParquetFile implements Table {
  readonly title: string;
  readonly columns: readonly ParquetColumn[];
  readonly #file: FileHandle;
  readonly #bytes: ParquetBytes;
  readonly #metadata: FileMetaData;

  private constructor(
    title: string,
    file: FileHandle,
    bytes: ParquetBytes,
    metadata: FileMetaData,
    columns: readonly ParquetColumn[],
  ) {
    this.title = title;
    this.columns = columns;
    this.#file = file;
    this.#bytes = bytes;
    this.#metadata = metadata;
  }

  static async open(path: string): Promise<ParquetFile> {
    const file = await open(path).catch((error: unknown) => {
      throw explainAccess(error, path);
    });
    try {
      const bytes = new ParquetBytes(file, (await file.stat()).size);
      await checkEnds(bytes, path);
      const { parquetMetadataAsync, parquetSchema } = await import('hyparquet');
      return await explained(path, async () => {
        const metadata = await parquetMetadataAsync(bytes, { geoparquet: false });
        const columns = parquetColumns(parquetSchema(metadata));
        checkFooter(metadata, columns);
        return new ParquetFile(path, file, bytes, metadata, columns);
      });
    } catch (error) {
      await file.close();
      throw explainAccess(error, path);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *batches(places: readonly number[]): AsyncGenerator<TableBatch> {
    const compressors = await allCompressors();
    let rowStart = 0;
    for (const group of this.#metadata.row_groups) {
      const rows = Number(group.num_rows);
      const range = { rowStart, rowEnd: rowStart + rows };
      if (rows > 0) yield await this.#readGroup(places, range, compressors);
      rowStart += rows;
    }
  }

  async #readGroup(
    places: readonly number[],
    range: { rowStart: number; rowEnd: number },
    compressors: Compressors,
  ): Promise<TableBatch> {
    const { parquetRead } = await import('hyparquet');
    const wanted = places.map((place) => this.columns[place]);
    const pieces = new Map(wanted.map(({ name }) => [name, [] as DecodedArray[]]));
    const names = wanted.map(({ name }) => name);
    const where = `rows ${range.rowStart + 1} to ${range.rowEnd}`;
    return explained(
      this.title,
      async () => {
        await parquetRead({
          file: this.#bytes,
          metadata: this.#metadata,
          columns: names,
          ...range,
          compressors,
          parsers,
          onChunk: ({ columnName, columnData }) => pieces.get(columnName)?.push(columnData),
        });
        const rows = range.rowEnd - range.rowStart;
        const columns = wanted.map((column) => joined(column, pieces.get(column.name)!, rows));
        return { rows, columns };
      },
      where,
    );
  }
}

async function checkEnds(bytes: ParquetBytes, path: string): Promise<void> {
  const wanted = 'expected a Parquet file';
  if (bytes.byteLength === 0) throw new DataError(`${path}: empty; ${wanted}`);
  const head = Buffer.from(await bytes.slice(0, Math.min(4, bytes.byteLength))).toString('latin1');
  if (head === encryptedMagic) throw new DataError(`${path}: encrypted; ${wanted} that is not`);
  if (head !== magic)
    throw new DataError(`${path}: not a Parquet file: it does not begin with ${magic}`);
  const size = bytes.byteLength;
  const tail =
    size < smallestSize ? '' : Buffer.from(await bytes.slice(size - 4)).toString('latin1');
  if (tail === encryptedMagic) throw new DataError(`${path}: encrypted; ${wanted} that is not`);
  if (tail === magic) return;
  throw new DataError(`${path}: truncated: it begins as a Parquet file, but does not end as one`);
}

/** The decoder takes a footer as it is: what is missing there shows only where it is used. */
function checkFooter({ num_rows, row_groups }: FileMetaData, columns: readonly ParquetColumn[]) {
  if (columns.some(({ name }) => typeof name !== 'string')) throw new Error('a column has no name');
  const rows = row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  if (rows === num_rows) return;
  throw new Error(`row groups of ${rows} rows together; expected ${num_rows}`);
}

/** Whatever the decoder trips over is a fault of the file. */
async function explained<Result>(
  path: string,
  read: () => Promise<Result>,
  where = 'its footer',
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DataError) throw error;
    const message = (error instanceof Error ? error.message : String(error)).replace(
      /^parquet /,
      '',
    );
    throw new DataError(`${path}: damaged or unsupported Parquet in ${where}: ${message}`, {
      cause: error,
    });
  }
}

/** The values of a column, which come page by page. */
function joined(
  { name, convert }: ParquetColumn,
  pieces: readonly DecodedArray[],
  rows: number,
): ArrayLike<TableValue> {
  const found = pieces.reduce((sum, { length }) => sum + length, 0);
  if (found !== rows) {
    throw new Error(`column ${JSON.stringify(name)} has ${found} values; expected ${rows}`);
  }
  if (!convert && pieces.length === 1) return pieces[0];
  if (!convert && pieces.every((piece) => piece instanceof Float64Array)) {
    return joinedNumbers(pieces, rows);
  }
  const values: TableValue[] = [];
  for (const piece of pieces) {
    for (const value of piece as Iterable<TableValue>) {
      values.push(convert && value !== null && value !== undefined ? convert(value) : value);
    }
  }
  return values;
}

/** The most frequent case by far, and the quickest. */
function joinedNumbers(pieces: readonly Float64Array[], rows: number): Float64Array {
  const values = new Float64Array(rows);
  let filled = 0;
  for (const piece of pieces) {
    values.set(piece, filled);
    filled += piece.length;
  }
  return values;
}

/** Node's own decompressors where it has them: they are faster, and limited in what they make. */
async function allCompressors(): Promise<Compressors> {
  const { compressors } = await import('hyparquet-compressors');
  const limit = (length: number) => ({ maxOutputLength: Math.max(1, length) });
  return {
    ...compressors,
    GZIP: (input, length) => zlib.gunzipSync(input, limit(length)),
    ...('zstdDecompressSync' in zlib && {
      ZSTD: (input: Uint8Array, length: number) => zlib.zstdDecompressSync(input, limit(length)),
    }),
  };
}

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

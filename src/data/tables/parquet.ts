import { type FileHandle, open } from 'node:fs/promises';
import zlib from 'node:zlib';
import type {
  AsyncBuffer,
  Compressors,
  DecodedArray,
  FileMetaData,
  SchemaElement,
  SchemaTree,
} from 'hyparquet';
import { DataError, UsageError } from '../../errors.ts';
import { explainAccess } from '../../files.ts';
import { Collector, type DatasetShape } from '../read/collector.ts';
import type { PartsOptions } from '../read/pieces.ts';
import { inputFiles } from '../read/pieces.ts';
import { type DataSource, filesOfSource, standardInput, titleOfSource } from '../read/sources.ts';
import {
  type ColumnKind,
  convertItem,
  secondsPerDay,
  type Table,
  type TableBatch,
  type TableColumn,
  TableReader,
  type TableValue,
} from './table.ts';

const magic = 'PAR1';
const encryptedMagic = 'PARE';
/** Magic at both ends and the length of the footer. */
const smallestSize = 12;

function bytesOf(file: FileHandle, byteLength: number): AsyncBuffer {
  return {
    byteLength,
    async slice(start, end = byteLength) {
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let filled = 0; filled < bytes.length; ) {
        const length = bytes.length - filled;
        const { bytesRead } = await file.read(bytes, filled, length, start + filled);
        if (bytesRead === 0) throw new Error(`the file ends before byte ${end}`);
        filled += bytesRead;
      }
      return bytes.buffer;
    },
  };
}

interface ParquetFile {
  readonly path: string;
  readonly bytes: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly TableColumn[];
}

async function openParquet(path: string): Promise<Table & { close(): Promise<void> }> {
  const file = await open(path).catch((error: unknown) => {
    throw explainAccess(error, path);
  });
  try {
    const bytes = bytesOf(file, (await file.stat()).size);
    await checkEnds(bytes, path);
    const { parquetMetadataAsync, parquetSchema } = await import('hyparquet');
    return await explained(path, async () => {
      const metadata = await parquetMetadataAsync(bytes, { geoparquet: false });
      const columns = parquetColumns(parquetSchema(metadata));
      checkFooter(metadata, columns);
      const batches = (positions: readonly number[]) =>
        readGroups({ path, bytes, metadata, columns }, positions);
      return { title: path, columns, batches, close: () => file.close() };
    });
  } catch (error) {
    await file.close();
    throw explainAccess(error, path);
  }
}

/** A batch for every row group. */
async function* readGroups(
  { path, bytes, metadata, columns }: ParquetFile,
  positions: readonly number[],
): AsyncGenerator<TableBatch> {
  const { parquetRead } = await import('hyparquet');
  const compressors = await allCompressors();
  const selected = positions.map((position) => columns[position]);
  let rowEnd = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const rowStart = rowEnd;
    rowEnd += rows;
    if (rows === 0) continue;
    const pieces = new Map(selected.map(({ name }) => [name, [] as DecodedArray[]]));
    const read = async () => {
      await parquetRead({
        file: bytes,
        metadata,
        columns: [...pieces.keys()],
        rowStart,
        rowEnd,
        compressors,
        parsers,
        onChunk: ({ columnName, columnData }) => pieces.get(columnName)?.push(columnData),
      });
      return selected.map((column) => joined(column, pieces.get(column.name)!, rows));
    };
    const where = `rows ${rowStart + 1} to ${rowEnd}`;
    yield { rows, columns: await explained(path, read, where) };
  }
}

async function checkEnds(bytes: AsyncBuffer, path: string): Promise<void> {
  const expected = 'expected a Parquet file';
  if (bytes.byteLength === 0) throw new DataError(`${path}: empty; ${expected}`);
  const head = Buffer.from(await bytes.slice(0, Math.min(4, bytes.byteLength))).toString('latin1');
  if (head === encryptedMagic) throw new DataError(`${path}: encrypted; ${expected} that is not`);
  if (head !== magic)
    throw new DataError(`${path}: not a Parquet file: it does not begin with ${magic}`);
  const size = bytes.byteLength;
  const tail =
    size < smallestSize ? '' : Buffer.from(await bytes.slice(size - 4)).toString('latin1');
  if (tail === encryptedMagic) throw new DataError(`${path}: encrypted; ${expected} that is not`);
  if (tail === magic) return;
  throw new DataError(`${path}: truncated: it begins as a Parquet file, but does not end as one`);
}

/** The decoder does not check the footer: a missing part would fail only where it is used. */
function checkFooter({ num_rows, row_groups }: FileMetaData, columns: readonly TableColumn[]) {
  if (columns.some(({ name }) => typeof name !== 'string')) throw new Error('a column has no name');
  const rows = row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  if (rows === num_rows) return;
  throw new Error(`row groups of ${rows} rows together; expected ${num_rows}`);
}

/** Any error of the decoder is a fault of the file. */
async function explained<Result>(
  path: string,
  read: () => Promise<Result>,
  where = 'its footer',
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DataError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const fault = `damaged or unsupported Parquet in ${where}: ${message.replace(/^parquet /, '')}`;
    throw new DataError(`${path}: ${fault}`, { cause: error });
  }
}

/** The values of a column, which come page by page. */
function joined(
  { name, convert }: TableColumn,
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
  let reader: TableReader | undefined;
  for (const { path, size } of files) {
    const table = await openParquet(path);
    try {
      reader ??= new TableReader(table, 'Parquet', collector, options);
      await reader.read(table);
    } finally {
      await table.close();
    }
    collector.bytes += size;
    options.onProgress?.(collector.bytes / total);
  }
  return collector.checkedShape(titleOfSource(source));
}

/** Times become days here, so that the decoder makes no object for each of them. */
const parsers = {
  timestampFromMilliseconds: (time: bigint) => Number(time) / (1e3 * secondsPerDay),
  timestampFromMicroseconds: (time: bigint) => Number(time) / (1e6 * secondsPerDay),
  timestampFromNanoseconds: (time: bigint) => Number(time) / (1e9 * secondsPerDay),
  dateFromDays: (days: number) => days,
};

/** The columns of the root of a schema. */
function parquetColumns({ children }: SchemaTree): TableColumn[] {
  return children.map((node) => {
    const kind = kindOf(node);
    const convert = kind && conversion(kind, valueNode(node).element);
    const column = { name: node.element.name, type: typeName(node) };
    return { ...column, ...(kind && { kind }), ...(convert && { convert }) };
  });
}

/** Where the values of lists and maps are; for plain columns the column itself. */
function valueNode(node: SchemaTree): SchemaTree {
  const last = node.children.at(-1);
  return last ? valueNode(last) : node;
}

function kindOf(node: SchemaTree): ColumnKind | undefined {
  const { element, children } = node;
  if (children.length === 0) {
    const kind = kindOfLeaf(element);
    return element.repetition_type === 'REPEATED' ? pluralOf(kind) : kind;
  }
  const [repeated] = children;
  if (children.length > 1 || repeated.element.repetition_type !== 'REPEATED') return undefined;
  const leaves = repeated.children.length === 0 ? [repeated] : repeated.children;
  if (leaves.some((leaf) => leaf.children.length > 0)) return undefined;
  const kinds = leaves.map((leaf) => kindOfLeaf(leaf.element));
  if (element.converted_type === 'LIST' && kinds.length === 1) return pluralOf(kinds[0]);
  const isMap = element.converted_type === 'MAP' && kinds.length === 2;
  return isMap && kinds[0] === 'text' && kinds[1] === 'number' ? 'map' : undefined;
}

function pluralOf(kind: ColumnKind | undefined): ColumnKind | undefined {
  if (kind === 'text') return 'texts';
  return kind === 'number' ? 'numbers' : undefined;
}

function kindOfLeaf(element: SchemaElement): ColumnKind | undefined {
  const { type, converted_type: converted, logical_type: logical } = element;
  switch (type) {
    case 'BYTE_ARRAY':
      if (converted === 'DECIMAL') return 'number';
      if (converted === 'UTF8' || converted === 'ENUM' || logical?.type === 'STRING') return 'text';
      // Old writers do not say that their bytes are text.
      return converted === undefined && logical === undefined ? 'text' : undefined;
    case 'FIXED_LEN_BYTE_ARRAY':
      if (converted === 'DECIMAL' || logical?.type === 'FLOAT16') return 'number';
      return logical?.type === 'UUID' ? 'text' : undefined;
    case undefined:
      return undefined;
    default:
      // hyparquet knows the scale of a decimal by its older annotation only.
      return logical?.type === 'DECIMAL' && converted !== 'DECIMAL' ? undefined : 'number';
  }
}

/** For messages: `BYTE_ARRAY (JSON)`, `map`. */
function typeName({ element, children }: SchemaTree): string {
  if (children.length > 0) return (element.converted_type ?? 'struct').toLowerCase();
  const note = element.logical_type?.type ?? element.converted_type;
  const type = element.type ?? 'no type';
  return note === undefined ? type : `${type} (${note})`;
}

function conversion(kind: ColumnKind, element: SchemaElement): TableColumn['convert'] {
  const convert = leafConversion(element);
  const item = (value: unknown) => convertItem(value, convert);
  if (kind === 'texts' || kind === 'numbers') {
    return convert && ((value) => Array.from(value as ArrayLike<unknown>, item));
  }
  if (kind !== 'map') return convert;
  return (value) => {
    const entries = Object.entries(value as Record<string, unknown>);
    return new Map(entries.map(([name, number]) => [name, item(number)]));
  };
}

function leafConversion(element: SchemaElement): ((value: unknown) => number) | undefined {
  const { converted_type: converted, logical_type: logical, scale = 0 } = element;
  if (converted === 'DECIMAL') return (value) => decimalOf(value as number, scale);
  if (logical?.type !== 'TIME' && !converted?.startsWith('TIME_')) return undefined;
  const unit = logical?.type === 'TIME' ? logical.unit : converted?.replace('TIME_', '');
  const perSecond = { MILLIS: 1e3, MICROS: 1e6, NANOS: 1e9 }[unit as 'MILLIS'];
  return (value) => Number(value) / (perSecond * secondsPerDay);
}

/** Decimals come multiplied by a power of ten, which is not exact: 3 · 10⁻¹ is not 0.3. */
function decimalOf(value: number, scale: number): number {
  return Math.abs(value) < 1e21 ? Number(value.toFixed(scale)) : value;
}

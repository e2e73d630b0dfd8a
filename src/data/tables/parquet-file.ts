/**
 * Decoding of Parquet files, as tasks: the decoder runs in a thread of its own, which can be ended
 * whatever the file makes it do.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import zlib from 'node:zlib';
import type {
  AsyncBuffer,
  ColumnMetaData,
  Compressors,
  DecodedArray,
  FileMetaData,
  SchemaTree,
} from 'hyparquet';
import { DataError } from '../../errors.ts';
import { explainAccess } from '../../files.ts';
import { parquetColumns, parsers } from './parquet-columns.ts';
import { checkPages } from './parquet-pages.ts';
import type { TableBatch, TableColumn, TableValue } from './table.ts';

const magic = 'PAR1';
const encryptedMagic = 'PARE';
/** Magic at both ends and the length of the footer. */
const smallestSize = 12;
/** Bytes per read; a system call moves at most 2³¹ − 1. */
const atOnce = 2 ** 26;

export interface OpenPayload {
  readonly path: string;
  /** Counts what has been done: it changes while there is progress. */
  readonly progress: Int32Array;
}

/** What is known of a file without its pages. */
export interface OpenedParquet {
  /** Names the file in further tasks. */
  readonly id: number;
  readonly columns: readonly Omit<TableColumn, 'convert'>[];
  readonly groups: readonly RowGroupSize[];
}

export interface RowGroupSize {
  readonly rows: number;
  /** Values of all columns. */
  readonly values: number;
}

export interface GroupPayload {
  readonly id: number;
  readonly group: number;
  /** Of the columns to be read. */
  readonly positions: readonly number[];
}

interface ParquetFile extends OpenPayload {
  readonly handle: number;
  readonly bytes: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly TableColumn[];
}

const opened = new Map<number, ParquetFile>();
let nextId = 0;

function bytesOf(handle: number, byteLength: number): AsyncBuffer {
  return {
    byteLength,
    slice(start, end = byteLength) {
      // Sizes come from the file: memory is taken only for bytes that are there.
      if (!(start >= 0 && end <= byteLength)) {
        throw new Error(`it refers to bytes ${start} to ${end}; the file has ${byteLength}`);
      }
      const bytes = new Uint8Array(Math.max(0, end - start));
      for (let filled = 0; filled < bytes.length; ) {
        const length = Math.min(atOnce, bytes.length - filled);
        const count = readSync(handle, bytes, filled, length, start + filled);
        if (count === 0) throw new Error(`the file ends before byte ${end}`);
        filled += count;
      }
      return bytes.buffer;
    },
  };
}

export async function openParquet({ path, progress }: OpenPayload): Promise<OpenedParquet> {
  const handle = openFile(path);
  try {
    const bytes = bytesOf(handle, fstatSync(handle).size);
    await checkEnds(bytes, path);
    const { parquetMetadataAsync, parquetSchema } = await import('hyparquet');
    const footer = await explained(path, 'its footer', async () => {
      const metadata = await parquetMetadataAsync(bytes, { geoparquet: false });
      const schema = parquetSchema(metadata);
      const columns = parquetColumns(schema);
      checkFooter(metadata, columns);
      checkChunks(metadata, schema);
      return { metadata, columns, groups: metadata.row_groups.map(sizeOf) };
    });
    const { metadata, columns, groups } = footer;
    const id = nextId++;
    opened.set(id, { path, progress, handle, bytes, metadata, columns });
    const shown = columns.map(({ name, type, kind }) => ({ name, type, ...(kind && { kind }) }));
    return { id, columns: shown, groups };
  } catch (error) {
    closeSync(handle);
    throw explainAccess(error, path);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw explainAccess(error, path);
  }
}

function sizeOf({ num_rows, columns }: FileMetaData['row_groups'][number]): RowGroupSize {
  const values = columns.reduce((sum, { meta_data }) => sum + Number(meta_data!.num_values), 0);
  return { rows: Number(num_rows), values };
}

export function closeParquet(id: number): void {
  const file = opened.get(id);
  opened.delete(id);
  if (file) closeSync(file.handle);
}

/** The rows of a row group. */
export async function readGroup({ id, group, positions }: GroupPayload): Promise<TableBatch> {
  const file = opened.get(id)!;
  const { path, metadata, columns } = file;
  const groups = metadata.row_groups;
  const rows = Number(groups[group].num_rows);
  const before = groups.slice(0, group).reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
  const selected = positions.map((position) => columns[position]);
  const where = `rows ${before + 1} to ${before + rows} (row group ${group + 1})`;
  return explained(path, where, async () => {
    const names = selected.map(({ name }) => name);
    await checkColumns(file, group, names);
    const pieces = await decode(file, names, [before, before + rows]);
    return {
      rows,
      columns: selected.map((column) => joined(column, pieces.get(column.name)!, rows)),
    };
  });
}

/** Checks the pages of some columns of a row group. */
async function checkColumns(file: ParquetFile, group: number, names: readonly string[]) {
  const { bytes, metadata, progress } = file;
  for (const { meta_data: column } of metadata.row_groups[group].columns) {
    if (!column || !names.includes(column.path_in_schema[0])) continue;
    const begin = Number(column.dictionary_page_offset || column.data_page_offset);
    const chunk = await bytes.slice(begin, begin + Number(column.total_compressed_size));
    checkPages(new Uint8Array(chunk), column, () => advance(progress));
  }
}

function advance(progress: Int32Array): void {
  Atomics.add(progress, 0, 1);
}

async function decode(
  { bytes, metadata, progress }: ParquetFile,
  names: readonly string[],
  [rowStart, rowEnd]: readonly [number, number],
): Promise<Map<string, DecodedArray[]>> {
  const { parquetRead } = await import('hyparquet');
  const pieces = new Map(names.map((name) => [name, [] as DecodedArray[]]));
  await parquetRead({
    file: bytes,
    metadata,
    columns: [...pieces.keys()],
    rowStart,
    rowEnd,
    compressors: await allCompressors(() => advance(progress)),
    parsers,
    onPage: () => advance(progress),
    onChunk: ({ columnName, columnData }) => pieces.get(columnName)?.push(columnData),
  });
  return pieces;
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
  if ([num_rows, ...row_groups.map((group) => group.num_rows)].some((n) => typeof n !== 'bigint')) {
    throw new Error('a number of rows is missing, or of another type; expected a whole number');
  }
  if (row_groups.some((group) => group.num_rows < 0n)) {
    throw new Error('a row group of less than 0 rows');
  }
  const rows = row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  if (rows === num_rows) return;
  throw new Error(`row groups of ${rows} rows together; expected ${num_rows}`);
}

/**
 * A row group has the columns of the schema, each once. The decoder reads those that it is not asked
 * for as well, but nobody hears of their errors, and an unheard error ends the thread.
 */
function checkChunks({ row_groups }: FileMetaData, schema: SchemaTree): void {
  const leaves = leavesOf(schema);
  for (const [group, { columns }] of row_groups.entries()) {
    const found = columns.map(({ meta_data: column }) => pathText(column?.path_in_schema));
    const expected = leaves.map(({ path }) => pathText(path));
    const other = expected.findIndex((path, position) => path !== found[position]);
    if (other < 0 && found.length === expected.length) {
      for (const { meta_data: column } of columns) checkChunk(column!, group);
      continue;
    }
    const [ours, theirs] = [expected[other], found[other]].map((path) => path ?? 'no column');
    throw new Error(`row group ${group + 1} has ${theirs} where the schema has ${ours}`);
  }
}

/** The numbers that reading begins with; the decoder takes any for granted. */
const chunkNumbers = {
  num_values: 'number of values',
  total_compressed_size: 'compressed size',
  data_page_offset: 'page offset',
} as const;

function checkChunk(column: ColumnMetaData, group: number): void {
  const title = `row group ${group + 1}, ${pathText(column.path_in_schema)}`;
  for (const [field, what] of Object.entries(chunkNumbers)) {
    const value: unknown = column[field as keyof typeof chunkNumbers];
    if (typeof value === 'bigint' && value >= 0n) continue;
    const found = typeof value === 'bigint' ? String(value) : 'missing, or of another type';
    throw new Error(`${title}: its ${what} is ${found}; expected a whole number from 0 on`);
  }
  // The decoder makes nothing of a number that it has no name for.
  for (const [what, name] of Object.entries({ type: column.type, compression: column.codec })) {
    if (name) continue;
    throw new Error(`${title}: its ${what} is missing or unknown; expected one that Parquet has`);
  }
}

/** The columns of the schema: what has a type. */
function leavesOf(node: SchemaTree): SchemaTree[] {
  if (node.children.length > 0) return node.children.flatMap(leavesOf);
  return node.element.type === undefined ? [] : [node];
}

function pathText(path: readonly string[] | undefined): string {
  return path === undefined
    ? 'a column without a path'
    : `column ${JSON.stringify(path.join('.'))}`;
}

/** Any error of the decoder is a fault of the file. */
async function explained<Result>(
  path: string,
  where: string,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DataError) throw error;
    const fault = `damaged or unsupported Parquet in ${where}: ${faultOf(error)}`;
    throw new DataError(`${path}: ${fault}`, { cause: error });
  }
}

/** What the decoder says; where it trips over a value, JavaScript's own words help nobody. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TypeError || error instanceof RangeError) {
    return 'a field or a value that is missing, or of another type or size; expected what the format prescribes there';
  }
  return error.message.replace(/^parquet /, '');
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
  if (!convert && pieces.every((piece) => piece instanceof Float64Array)) {
    return joinedNumbers(pieces, rows);
  }
  if (!convert && pieces.length === 1 && Array.isArray(pieces[0])) return pieces[0];
  const values: TableValue[] = [];
  for (const piece of pieces) {
    for (const value of piece as Iterable<TableValue>) {
      values.push(convert && value !== null && value !== undefined ? convert(value) : value);
    }
  }
  return values;
}

/** Copied also from a single page: a view of it would take the whole page along to the other thread. */
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
async function allCompressors(onPage: () => void): Promise<Compressors> {
  const { compressors } = await import('hyparquet-compressors');
  const limit = (length: number) => ({ maxOutputLength: Math.max(1, length) });
  const all: Compressors = {
    ...compressors,
    GZIP: (input, length) => zlib.gunzipSync(input, limit(length)),
    ...('zstdDecompressSync' in zlib && {
      ZSTD: (input: Uint8Array, length: number) => zlib.zstdDecompressSync(input, limit(length)),
    }),
  };
  const counted = Object.entries(all).map(([name, decompress]): [string, typeof decompress] => [
    name,
    (input, length) => {
      onPage();
      return decompress(input, length);
    },
  ]);
  return Object.fromEntries(counted);
}

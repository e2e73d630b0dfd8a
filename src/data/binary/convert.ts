import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { DataError } from '../../errors.ts';
import { explainAccess, type OutputFile } from '../../files.ts';
import type { Dataset } from '../dataset.ts';
import type { FieldOptions } from '../fields/options.ts';
import { BlockPool, compressionOf, decompress, lineBlocks, peek } from '../read/byte-blocks.ts';
import { nameLines, namesOf } from '../read/feature-names.ts';
import { type DatasetShape, type PartsOptions, readParts } from '../read/read.ts';
import { type DataSource, titleOfSource } from '../read/sources.ts';
import type { TaskRunner } from '../read/tasks.ts';
import type { LibsvmOptions } from '../text/libsvm.ts';
import { TextWriter } from '../text/write.ts';
import { plainLines } from './columns.ts';
import { float64Values, packedIndices } from './layout.ts';
import type { TakePart } from './read.ts';
import { type BinaryOptions, BinaryWriter, writeOutput } from './writer.ts';

type DataFormat = 'dsob' | 'text';

export type ReadingOptions = LibsvmOptions & Omit<FieldOptions, 'like'>;

export interface ConvertOptions extends ReadingOptions, BinaryOptions {
  /** Default: by the ending of the target's name. */
  readonly to?: DataFormat;
  /** A file with one feature name per line: read for dsob, written for text. */
  readonly names?: string;
  readonly runner?: TaskRunner;
  /** Collects garbage: memory that threads share is freed only after all of them have done so. */
  readonly collect?: () => Promise<void>;
  readonly onProgress?: (fraction: number) => void;
}

export interface DataSummary extends Pick<Dataset, 'rows' | 'columns' | 'nonzeros' | 'notices'> {
  /** Features that have a name. */
  readonly names: number;
}

/** The content of files, after every byte of them has been checked. */
export interface DataDescription extends DataSummary {
  /** `mixed`: some files are text and some binary. */
  readonly format: DataFormat | 'mixed';
  readonly files: number;
  /** Of the files, as they are stored; without standard input and pipes. */
  readonly bytes: number;
  /** The rest is of binary data only: all sections, sections of rows (blocks), … */
  readonly sections?: number;
  readonly blocks?: number;
  /** … and blocks with float64 values and with packed indices. */
  readonly float64Blocks?: number;
  readonly packedBlocks?: number;
}

const namesPerSection = 1 << 20;
const weightsLeftOut = 'the weights of the rows are left out: LIBSVM text cannot hold them';
/** Bytes of rows between two collections of garbage. */
const collectionBytes = 1 << 25;

export function formatOf(path: string): DataFormat {
  return /\.dsob(\.gz|\.zst)?$/.test(path) ? 'dsob' : 'text';
}

/** Writes data in another format, in memory for a few pieces. `-` is standard input or output. */
export async function convert(
  source: DataSource,
  target: string,
  options: ConvertOptions = {},
): Promise<DataSummary> {
  const { to = formatOf(target), names } = options;
  if (to === 'dsob') return writeOutput(target, (file) => toBinary(source, file, options));
  if (names === undefined) return writeOutput(target, (file) => toText(source, file, options));
  return writeOutput(names, (lines) =>
    writeOutput(target, (file) => toText(source, file, options, lines)),
  );
}

async function toBinary(
  source: DataSource,
  file: OutputFile,
  options: ConvertOptions,
): Promise<DataSummary> {
  const writer = new BinaryWriter(file, options);
  const { names } = options;
  // Fail now rather than after hours of rows.
  if (names !== undefined) await access(names).catch(throwExplained(names));
  const shape = await readParts(source, {
    ...partsOptions(options),
    takePart: collecting(options, (part, float64) => writer.add(part, float64)),
    // Given names replace those in the data.
    ...(names === undefined && { takeNames: (lines) => writer.addNames(lines) }),
  });
  if (names !== undefined) {
    const pieces: Uint8Array[] = [];
    for await (const lines of linesOf(names)) {
      pieces.push(lines.slice());
      await writer.addNames(lines);
    }
    namesOf(pieces, names);
  }
  await writer.finish(shape.columns);
  return { ...summary(shape), names: writer.names };
}

async function toText(
  source: DataSource,
  file: OutputFile,
  options: ConvertOptions,
  names?: OutputFile,
): Promise<DataSummary> {
  const writer = new TextWriter(file, options);
  const shape = await readParts(source, {
    ...partsOptions(options),
    takePart: collecting(options, (part, float64) => writer.add(part, float64)),
    ...(names && { takeNames: (lines) => names.write(lines) }),
  });
  await writer.finish(shape.columns);
  const found = namesIn(shape);
  if (names && found === 0) throw new DataError(`${shape.name}: no names of features in it`);
  const left = names || found === 0 ? [] : ['the names of the features are left out (--names)'];
  const unweighted = writer.leavesWeights ? [weightsLeftOut] : [];
  return { ...summary(shape), notices: [...shape.notices, ...left, ...unweighted] };
}

function collecting({ collect }: ConvertOptions, take: TakePart): TakePart {
  let bytes = 0;
  return async (part, float64) => {
    await take(part, float64);
    bytes += 12 * part.labels.length + 8 * part.values.length + (float64?.byteLength ?? 0);
    if (bytes < collectionBytes) return;
    bytes = 0;
    await collect?.();
  };
}

function partsOptions(options: ConvertOptions): Omit<PartsOptions, 'takePart'> {
  const { values, to: _to, names: _names, pack: _pack, collect: _collect, ...reading } = options;
  return {
    ...reading,
    ...(values === undefined && { float64: 'stored' }),
    ...((values === 'float64' || values === 'auto') && { float64: 'all' }),
  };
}

function summary(shape: DatasetShape): DataSummary {
  const { rows, columns, nonzeros, notices } = shape;
  return { rows, columns, nonzeros, notices, names: namesIn(shape) };
}

/** Each of several files has the same names. */
function namesIn({ sections, featureNames }: DatasetShape): number {
  if (featureNames) return featureNames.length;
  const ends = sections.map(({ kind, first, count }) => (kind === 'NAME' ? first + count : 0));
  return ends.reduce((most, end) => Math.max(most, end), 0);
}

/** The lines of a text file, plain, .gz or .zst, in pieces. */
async function* linesOf(path: string): AsyncGenerator<Uint8Array> {
  const { head, chunks } = await peek(createReadStream(path)).catch(throwExplained(path));
  const text = decompress(chunks, compressionOf(head, path), path);
  const pool = new BlockPool(namesPerSection);
  for await (const block of lineBlocks(text, pool)) {
    yield plainLines(block);
    pool.release(block);
  }
}

function throwExplained(path: string): (error: unknown) => never {
  return (error) => {
    throw explainAccess(error, path);
  };
}

export interface WriteOptions extends BinaryOptions {
  readonly to?: DataFormat;
  /** Of text: whether the first feature is written as 0 instead of 1. */
  readonly zeroBased?: boolean;
  /** Of the features, in order; only dsob stores them. */
  readonly names?: readonly string[];
}

export async function writeDataset(
  path: string,
  dataset: Dataset,
  options: WriteOptions = {},
): Promise<void> {
  const { to = formatOf(path), names = dataset.featureNames ?? [] } = options;
  if (dataset.labelNames) {
    throw new DataError(
      `${path}: labels such as ${JSON.stringify(dataset.labelNames[0])} are texts, which neither dsob nor LIBSVM text of numbers can hold`,
    );
  }
  await writeOutput(path, async (file) => {
    const writer = to === 'dsob' ? new BinaryWriter(file, options) : new TextWriter(file, options);
    for (const part of dataset.parts) await writer.add(part);
    if (writer instanceof BinaryWriter && names.length > 0) {
      for (const lines of nameLines(names)) await writer.addNames(lines);
    }
    if (writer instanceof TextWriter && writer.leavesWeights) {
      throw new DataError(`${path}: rows have weights, which LIBSVM text cannot hold: use dsob`);
    }
    await writer.finish(dataset.columns);
  });
}

/** Reads and checks all of the data. */
export async function describeData(
  source: DataSource,
  options: ReadingOptions & Pick<ConvertOptions, 'runner' | 'collect' | 'onProgress'> = {},
): Promise<DataDescription> {
  const shape = await readParts(source, {
    ...partsOptions(options),
    takePart: collecting(options, () => {}),
    takesTexts: true,
  });
  const { files, bytes, sections } = shape;
  const found = { ...summary(shape), files: files.text + files.dsob, bytes };
  if (files.dsob === 0) return { format: 'text', ...found };
  const blocks = sections.filter(({ kind }) => kind === 'ROWS');
  const having = (flag: number) => blocks.filter(({ flags }) => (flags & flag) !== 0).length;
  return {
    format: files.text === 0 ? 'dsob' : 'mixed',
    ...found,
    sections: sections.length,
    blocks: blocks.length,
    float64Blocks: having(float64Values),
    packedBlocks: having(packedIndices),
  };
}

/** The names of the features in binary data; none in text. */
export async function readFeatureNames(source: DataSource): Promise<string[]> {
  const pieces: Uint8Array[] = [];
  await readParts(source, { takePart() {}, takeNames: (lines) => void pieces.push(lines) });
  return namesOf(pieces, titleOfSource(source));
}

import { pipeline, Readable } from 'node:stream';
import { createGzip, createZstdCompress } from 'node:zlib';
import { UsageError } from '../errors.ts';
import { writeAtomically } from '../files.ts';
import type { Dataset, DatasetPart } from './dataset.ts';
import { Collector, datasetOf } from './read/collector.ts';
import { RowText } from './row-text.ts';
import { type ScaledShape, type ShapeName, scaleShape } from './shapes.ts';
import { type PartName, RowMaker } from './synthetic-rows.ts';
import { parseLibsvm } from './text/libsvm.ts';

export interface GenerateOptions {
  /** Whose shape: that of a data set of the paper. */
  readonly like: ShapeName;
  /** Multiplies the rows; columns grow with its square root. Default 1. */
  readonly scale?: number;
  /** Default 1. */
  readonly seed?: number;
}

export interface GeneratedPaths {
  readonly trainPath: string;
  readonly testPath: string;
}

export interface GeneratedPart {
  readonly rows: number;
  readonly nonzeros: number;
}

export interface GeneratedSummary {
  readonly columns: number;
  readonly train: GeneratedPart;
  readonly test: GeneratedPart;
}

export interface GenerateProgress {
  readonly rowsDone: number;
  /** Rows of both parts. */
  readonly rows: number;
}

interface TextBlock extends GeneratedPart {
  /** Valid until the next block is asked for. */
  readonly text: Uint8Array<ArrayBuffer>;
}

const blockSize = 1 << 20;

/** The training and test part in memory: the same numbers that `writeGenerated` writes. */
export function generateDataset(options: GenerateOptions): { train: Dataset; test: Dataset } {
  const shape = scaleShape(options.like, options.scale ?? 1);
  const part = (name: PartName) => {
    const collector = new Collector();
    const parts: DatasetPart[] = [];
    for (const { text } of textBlocks(shape, options.seed ?? 1, name)) {
      const chunk = parseLibsvm(text);
      collector.addText(chunk);
      const { rowOffsets, labels, indices, values } = chunk;
      parts.push({ rowOffsets, labels, indices, values });
    }
    return datasetOf(collector.shape(`${options.like} ${name}`, shape.columns), parts);
  };
  return { train: part('train'), test: part('test') };
}

/**
 * Writes the training and test part as LIBSVM text, compressed if a name ends in `.gz` or `.zst`,
 * in memory that grows with the columns only. The same options give the same bytes.
 */
export async function writeGenerated(
  options: GenerateOptions,
  paths: GeneratedPaths,
  onProgress: (progress: GenerateProgress) => void = () => {},
): Promise<GeneratedSummary> {
  const shape = scaleShape(options.like, options.scale ?? 1);
  const seed = options.seed ?? 1;
  const rows = shape.rows + shape.testRows;
  const write = async (path: string, name: PartName, before: number) => {
    const total = { rows: 0, nonzeros: 0 };
    const count = (block: TextBlock) => {
      total.rows += block.rows;
      total.nonzeros += block.nonzeros;
      onProgress({ rowsDone: before + total.rows, rows });
    };
    await writeText(path, counted(textBlocks(shape, seed, name), count));
    return total;
  };
  const train = await write(paths.trainPath, 'train', 0);
  const test = await write(paths.testPath, 'test', train.rows);
  return { columns: shape.columns, train, test };
}

function* counted(blocks: Iterable<TextBlock>, count: (block: TextBlock) => void) {
  for (const block of blocks) {
    yield block.text;
    count(block);
  }
}

async function writeText(path: string, blocks: Iterable<Uint8Array>): Promise<void> {
  const chunks = compress(path, blocks);
  await writeAtomically(path, async (file) => {
    for await (const chunk of chunks) await file.write(chunk);
  });
}

function compress(
  path: string,
  blocks: Iterable<Uint8Array>,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (path.endsWith('.gz')) return pipeline(Readable.from(copies(blocks)), createGzip(), () => {});
  if (!path.endsWith('.zst')) return blocks;
  if (createZstdCompress === undefined) {
    throw new UsageError(`${path}: zstd needs Node 22.15 or newer, this is ${process.version}`);
  }
  return pipeline(Readable.from(copies(blocks)), createZstdCompress(), () => {});
}

/** A stream asks for blocks ahead of using them. */
function* copies(blocks: Iterable<Uint8Array>) {
  for (const block of blocks) yield block.slice();
}

function* textBlocks(shape: ScaledShape, seed: number, part: PartName): Generator<TextBlock> {
  const maker = new RowMaker(shape, seed, part);
  const text = new RowText(blockSize);
  const total = part === 'train' ? shape.rows : shape.testRows;
  let rows = 0;
  let nonzeros = 0;
  for (let row = 0; row < total; row += 1) {
    maker.next();
    text.startRow(maker.label, maker.length);
    for (let entry = 0; entry < maker.length; entry += 1) {
      const column = maker.indices[entry];
      text.pair(column + 1, maker.value(column));
    }
    text.endRow();
    rows += 1;
    nonzeros += maker.length;
    if (text.length < blockSize && row + 1 < total) continue;
    yield { text: text.take(), rows, nonzeros };
    rows = 0;
    nonzeros = 0;
  }
}

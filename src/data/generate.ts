import { writeOutput } from './binary/writer.ts';
import type { Dataset, DatasetPart } from './dataset.ts';
import { Collector, datasetOf } from './read/collector.ts';
import { type ScaledShape, type ShapeName, scaleShape } from './shapes.ts';
import { type PartName, RowText, SyntheticRows } from './synthetic-rows.ts';
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

interface GeneratedPart {
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
  /** Valid until the next block. */
  readonly text: Uint8Array<ArrayBuffer>;
}

const blockSize = 1 << 20;

/** The training and test part in memory: the same numbers that `writeGenerated` writes. */
export function generateDataset(options: GenerateOptions): { train: Dataset; test: Dataset } {
  const shape = scaleShape(options.like, options.scale ?? 1);
  const part = (name: PartName) => {
    const collector = new Collector({ columns: shape.columns });
    const parts: DatasetPart[] = [];
    for (const { text } of textBlocks(shape, options.seed ?? 1, name)) {
      const chunk = parseLibsvm(text);
      collector.addText(chunk, name);
      const { rowOffsets, labels, indices, values } = chunk;
      parts.push({ rowOffsets, labels, indices, values });
    }
    return datasetOf(collector.shape(`${options.like} ${name}`), parts);
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
    await writeOutput(path, async (file) => {
      for (const block of textBlocks(shape, seed, name)) {
        await file.write(block.text);
        total.rows += block.rows;
        total.nonzeros += block.nonzeros;
        onProgress({ rowsDone: before + total.rows, rows });
      }
    });
    return total;
  };
  const train = await write(paths.trainPath, 'train', 0);
  const test = await write(paths.testPath, 'test', train.rows);
  return { columns: shape.columns, train, test };
}

function* textBlocks(shape: ScaledShape, seed: number, part: PartName): Generator<TextBlock> {
  const source = new SyntheticRows(shape, seed, part);
  const text = new RowText(blockSize);
  const total = part === 'train' ? shape.rows : shape.testRows;
  let rows = 0;
  let nonzeros = 0;
  for (let row = 0; row < total; row += 1) {
    source.next();
    text.startRow(source.label, source.length);
    for (let entry = 0; entry < source.length; entry += 1) {
      const column = source.indices[entry];
      text.pair(column + 1, source.value(column));
    }
    text.endRow();
    rows += 1;
    nonzeros += source.length;
    if (text.length < blockSize && row + 1 < total) continue;
    yield { text: text.take(), rows, nonzeros };
    rows = 0;
    nonzeros = 0;
  }
}

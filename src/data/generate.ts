import { UsageError } from '../errors.ts';
import { writeOutput } from './binary/writer.ts';
import type { Dataset, DatasetPart } from './dataset.ts';
import { Collector, datasetOf } from './read/collector.ts';
import { type PartName, RowText, SyntheticRows } from './synthetic-rows.ts';
import { parseLibsvm } from './text/libsvm.ts';

/** What generated data looks like, apart from its size. */
export interface Shape {
  /** m, d and |Ω|/m of the paper's data set. */
  readonly rows: number;
  readonly columns: number;
  readonly perRow: number;
  /** σ of the logarithm of a row's length; 0: all rows are equally long. */
  readonly spread: number;
  /** Whether all values of a row are equal, as for indicator features. */
  readonly binary: boolean;
  /** Share of the class +1. */
  readonly positive: number;
  /** Share of labels that are flipped. */
  readonly noise: number;
  /** How far apart the classes are, in standard deviations of the planted score. */
  readonly separation: number;
}

/**
 * The paper's table: real-sim and webspam-t; splice as its section on terascale learning describes
 * it. The share of the classes is that of the public data.
 */
const shapes = {
  'real-sim': {
    rows: 57_760,
    columns: 20_950,
    perRow: 2.97e6 / 57_760,
    spread: 0.6,
    binary: false,
    positive: 0.31,
    noise: 0.01,
    separation: 3.6,
  },
  webspam: {
    rows: 350_000,
    columns: 16_610_000,
    perRow: 1.28e9 / 350_000,
    spread: 0.8,
    binary: false,
    positive: 0.61,
    noise: 0.005,
    separation: 3.5,
  },
  splice: {
    rows: 50_000_000,
    columns: 11_700_000,
    perRow: 2000,
    spread: 0,
    binary: true,
    positive: 0.03,
    noise: 0.001,
    separation: 3,
  },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof shapes;
export const shapeNames = Object.keys(shapes) as readonly ShapeName[];

/** The shape, with the numbers of rows and columns scaled. */
export interface ScaledShape extends Shape {
  readonly testRows: number;
}

/**
 * Rows grow with the scale, columns with its square root (the way vocabularies grow with a text):
 * the length of a row stays the same and the density changes slowly. There are always enough columns
 * that rows do not share most of them. The table counts training rows; the test part has a quarter
 * as many in addition, which makes an 80/20 split.
 */
export function scaleShape(name: string, scale: number): ScaledShape {
  if (!Object.hasOwn(shapes, name)) {
    throw new UsageError(`unknown shape "${name}"; expected one of ${shapeNames.join(', ')}`);
  }
  if (!(scale > 0 && scale < Infinity)) {
    throw new UsageError(`scale ${scale}; expected a number above 0`);
  }
  const shape: Shape = shapes[name as ShapeName];
  const rows = Math.max(2, Math.round(shape.rows * scale));
  const columns = Math.round(Math.max(shape.columns * Math.sqrt(scale), 4 * shape.perRow));
  if (columns > 2 ** 30 || rows > 2 ** 31 - 1) {
    throw new UsageError(`scale ${scale} gives ${rows} rows and ${columns} columns: too many`);
  }
  return { ...shape, rows, columns, testRows: Math.max(2, Math.round(rows / 4)) };
}

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
      collector.addText(chunk);
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

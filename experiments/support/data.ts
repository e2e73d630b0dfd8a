import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../../src/data/dataset.ts';
import { generateDataset } from '../../src/data/generate.ts';
import { type ShapeName, scaleShape } from '../../src/data/shapes.ts';
import { splitDataset } from '../../src/data/split.ts';
import { readDataset } from '../../src/train/read.ts';
import type { Setting } from './experiment.ts';

/** A training and a test part, under the name they have in tables and figures. */
export interface Sample {
  readonly name: string;
  readonly train: Dataset;
  readonly test: Dataset;
}

/** Data with the shape of one of the paper's, `share` times its rows at scale 1. */
export function generated(like: ShapeName, share: number, { scale, seed }: Setting): Sample {
  return { name: `${like}-like`, ...generateDataset({ like, scale: share * scale, seed }) };
}

/** Rows of the paper's data set for each row of a generated one. */
export function reduction(like: ShapeName, { train }: Sample): number {
  return scaleShape(like, 1).rows / train.rows;
}

/** A random part of the rows, or all of them from scale 1 on. */
function shrink(dataset: Dataset, { scale, seed }: Setting): Dataset {
  return scale < 1 ? splitDataset(dataset, scale, seed).test : dataset;
}

/** Descriptions of Debian packages; a reason if they are missing. */
export async function debdesc(setting: Setting): Promise<Sample | string> {
  const path = join(setting.data, 'debdesc.svm.gz');
  const testPath = join(setting.data, 'debdesc.test.svm.gz');
  for (const file of [path, testPath]) {
    if (!existsSync(file)) return `debdesc: no ${file} (--data or DSO_DATA says where to look)`;
  }
  const train = await readDataset(path);
  const test = await readDataset(testPath, { columns: train.columns });
  return { name: 'debdesc', train: shrink(train, setting), test };
}

/** m × d and |Ω|, for a line of text. */
export function describeShape({ rows, columns, nonzeros }: Dataset): string {
  const count = (value: number) => value.toLocaleString('en-US');
  return `${count(rows)} × ${count(columns)}, ${count(nonzeros)} non-zeros`;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BinaryWriter, writeOutput } from '../src/data/binary/writer.ts';
import type { Dataset, DatasetPart } from '../src/data/dataset.ts';
import { separateArena } from '../src/engine/arena.ts';
import { type Random, stream } from '../src/math/random.ts';
import { cacheFolder } from './samples.ts';

export interface LargeShape {
  readonly rows: number;
  readonly columns: number;
  readonly perRow: number;
  readonly pack?: boolean;
}

const entriesPerPart = 2 ** 18;

/**
 * Rows of equal length and unit norm: one column in each of `perRow` stretches, more often one of
 * the first of a stretch than of the last; labels from planted weights and some noise.
 */
function makeRows(shape: LargeShape, rows: number, random: Random, planted: Float64Array) {
  const { columns, perRow } = shape;
  const part: DatasetPart = {
    labels: separateArena.float64(rows),
    rowOffsets: separateArena.int32(rows + 1),
    indices: separateArena.int32(rows * perRow),
    values: separateArena.float32(rows * perRow).fill(1 / Math.sqrt(perRow)),
  };
  const stretch = Math.floor(columns / perRow);
  for (let row = 0, at = 0; row < rows; row++) {
    let score = 0.3 * random.normal() * Math.sqrt(perRow);
    for (let k = 0; k < perRow; k++, at++) {
      const share = random.nextUint32() / 2 ** 32;
      const column = k * stretch + Math.floor(share * share * share * stretch);
      part.indices[at] = column;
      score += planted[column];
    }
    part.labels[row] = score > 0 ? 1 : -1;
    part.rowOffsets[row + 1] = at;
  }
  return part;
}

/** A data set of `copies` times the same rows, which are in memory once. */
export function repeatedRows(shape: LargeShape, copies: number): Dataset {
  const { rows, columns, perRow } = shape;
  const random = stream(1, 1);
  const planted = Float64Array.from({ length: columns }, () => random.normal());
  const part = makeRows(shape, rows, random, planted);
  return {
    name: 'generated',
    parts: Array.from({ length: copies }, () => part),
    rows: copies * rows,
    columns,
    nonzeros: copies * rows * perRow,
    notices: [],
  };
}

/** Writes a .dsob file in memory for a few of its rows, once; returns its path. */
export async function largeData(name: string, shape: LargeShape): Promise<string> {
  const path = join(cacheFolder, name);
  if (existsSync(path)) return path;
  const { rows, columns, perRow, pack = false } = shape;
  process.stderr.write(`  writing ${path} …\n`);
  const random = stream(1, 1);
  const planted = Float64Array.from({ length: columns }, () => random.normal());
  const step = Math.max(1, Math.floor(entriesPerPart / perRow));
  await writeOutput(path, async (file) => {
    const writer = new BinaryWriter(file, { values: 'float32', pack });
    for (let row = 0; row < rows; row += step) {
      await writer.add(makeRows(shape, Math.min(step, rows - row), random, planted));
    }
    await writer.finish(columns);
  });
  return path;
}

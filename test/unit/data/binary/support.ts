import { type BinaryOptions, BinaryWriter } from '../../../../src/data/binary/writer.ts';
import type { Dataset, DatasetPart } from '../../../../src/data/dataset.ts';
import { datasetFromRows } from '../../../../src/data/from-arrays.ts';
import { fc } from '../../../support/property.ts';

/** The bytes of a .dsob file. */
export async function binaryBytes(
  dataset: Pick<Dataset, 'parts' | 'columns'>,
  options: BinaryOptions & { readonly names?: string; readonly float64?: Float64Array[] } = {},
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  // The writer uses its buffer again.
  const write = async (data: string | Uint8Array) => void chunks.push(Buffer.from(data));
  const writer = new BinaryWriter({ write }, options);
  for (const [number, part] of dataset.parts.entries()) {
    await writer.add(part, options.float64?.[number]);
  }
  if (options.names !== undefined) await writer.addNames(Buffer.from(options.names));
  await writer.finish(dataset.columns);
  return Buffer.concat(chunks);
}

/** Every bit of the rows, however they are cut into parts. */
export function bitsOf(dataset: Pick<Dataset, 'parts' | 'rows' | 'columns' | 'nonzeros'>) {
  const join = (pick: (part: DatasetPart) => ArrayLike<number>) =>
    dataset.parts.flatMap((part) => Array.from(pick(part)));
  const { rows, columns, nonzeros } = dataset;
  return {
    rows,
    columns,
    nonzeros,
    labels: join(({ labels }) => new Uint32Array(labels.slice().buffer)),
    lengths: join(({ rowOffsets }) =>
      Array.from(rowOffsets.subarray(1), (offset, row) => offset - rowOffsets[row]),
    ),
    indices: join(({ indices }) => indices),
    values: join(({ values }) => new Uint32Array(values.slice().buffer)),
    weights: join(({ weights, labels }) => weights ?? new Array<number>(labels.length).fill(1)),
  };
}

const special = [1e-45, -1e-45, 3.4028234663852886e38, 1.1754943508222875e-38, -1, 0.1, 16777216];

/** Any float32 that data can have. */
export const anyValue = fc
  .oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(...special.map(Math.fround)),
    fc.integer({ min: 1, max: 999999 }).map((digits) => Math.fround(digits / 1e6)),
  )
  .filter((value) => value !== 0);

const anyIndex = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 31 - 2 }) },
);

const anyLabel = fc.oneof(
  fc.constantFrom(1, -1, 0, 0.1, 1e300, 5e-324, 1e21),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const anyRow = fc.uniqueArray(anyIndex, { maxLength: 12 }).chain((indices) =>
  fc.record({
    indices: fc.constant(indices),
    values: fc.array(anyValue, { minLength: indices.length, maxLength: indices.length }),
    label: anyLabel,
  }),
);

/** Rows of all kinds, empty ones among them. */
export const anyDataset: fc.Arbitrary<Dataset> = fc
  .record({ rows: fc.array(anyRow, { minLength: 1, maxLength: 20 }), spare: fc.nat(5) })
  .map(({ rows, spare }) => {
    const dataset = datasetFromRows({ rows, labels: rows.map(({ label }) => label) });
    const columns = Math.min(dataset.columns + spare, 2 ** 31 - 1);
    return { ...dataset, columns };
  });

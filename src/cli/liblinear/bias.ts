import type { Dataset, DatasetPart } from '../../data/dataset.ts';

/** The data with one more column, the last, that has the same value in every row. */
export function withBias(dataset: Dataset, bias: number): Dataset {
  const { columns, rows, nonzeros } = dataset;
  if (bias === 0) return { ...dataset, columns: columns + 1 };
  return {
    ...dataset,
    parts: dataset.parts.map((part) => partWithBias(part, columns, bias)),
    columns: columns + 1,
    nonzeros: nonzeros + rows,
  };
}

function partWithBias(part: DatasetPart, column: number, bias: number): DatasetPart {
  const rows = part.labels.length;
  const length = part.indices.length + rows;
  const rowOffsets = new Int32Array(new SharedArrayBuffer(4 * (rows + 1)));
  const indices = new Int32Array(new SharedArrayBuffer(4 * length));
  const values = new Float32Array(new SharedArrayBuffer(4 * length));
  for (let row = 0; row < rows; row += 1) {
    const [from, to] = [part.rowOffsets[row], part.rowOffsets[row + 1]];
    const start = rowOffsets[row];
    indices.set(part.indices.subarray(from, to), start);
    values.set(part.values.subarray(from, to), start);
    const end = start + to - from;
    indices[end] = column;
    values[end] = bias;
    rowOffsets[row + 1] = end + 1;
  }
  return { ...part, rowOffsets, indices, values };
}

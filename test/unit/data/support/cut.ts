import {
  type Dataset,
  type DatasetPart,
  sharedFloat32,
  sharedFloat64,
  sharedInt32,
} from '../../../../src/data/dataset.ts';

/** Rows from … to - 1 of a part. */
function slice(part: DatasetPart, from: number, to: number): DatasetPart {
  const { labels, rowOffsets, indices, values } = part;
  const [first, end] = [rowOffsets[from], rowOffsets[to]];
  return {
    labels: sharedFloat64(labels.subarray(from, to)),
    rowOffsets: sharedInt32(rowOffsets.subarray(from, to + 1).map((offset) => offset - first)),
    indices: sharedInt32(indices.subarray(first, end)),
    values: sharedFloat32(values.subarray(first, end)),
  };
}

/** A data set in shares: consecutive rows, cut in front of the given rows, some without any. */
export function cutAt(dataset: Dataset, positions: readonly number[]): Dataset[] {
  const inside = positions.map((position) => Math.min(position, dataset.rows));
  const cuts = [0, ...inside.toSorted((left, right) => left - right), dataset.rows];
  return cuts.slice(1).map((end, number) => {
    let first = 0;
    const parts: DatasetPart[] = [];
    for (const part of dataset.parts) {
      const from = Math.max(cuts[number] - first, 0);
      const to = Math.min(end - first, part.labels.length);
      if (from < to) parts.push(slice(part, from, to));
      first += part.labels.length;
    }
    const rows = end - cuts[number];
    const nonzeros = parts.reduce((sum, { values }) => sum + values.length, 0);
    return { ...dataset, parts, rows, nonzeros };
  });
}

import type { Dataset } from '../../../../src/data/dataset.ts';

/** All rows in one piece, however the dataset is cut into parts; values as bit patterns. */
export function flat(dataset: Dataset) {
  const { parts, rows, columns, nonzeros, notices } = dataset;
  const lengths = parts.map(({ rowOffsets }) =>
    Array.from(rowOffsets.subarray(1), (offset, row) => offset - rowOffsets[row]),
  );
  return {
    labels: parts.map(({ labels }) => labels.join(' ')).join(' '),
    lengths: lengths.map((part) => part.join(' ')).join(' '),
    // A part of empty rows only would leave a blank behind.
    indices: nonempty(parts.map(({ indices }) => indices.join(' '))),
    bits: nonempty(parts.map(({ values }) => new Int32Array(values.buffer).join(' '))),
    rows,
    columns,
    nonzeros,
    notices,
  };
}

function nonempty(texts: string[]): string {
  return texts.filter((text) => text !== '').join(' ');
}

/** Rows as [label, [index, value], …]. */
export function rowsOf(dataset: Dataset) {
  return dataset.parts.flatMap(({ labels, rowOffsets, indices, values }) =>
    Array.from(labels, (label, row) => {
      const entries = [];
      for (let entry = rowOffsets[row]; entry < rowOffsets[row + 1]; entry += 1) {
        entries.push([indices[entry], values[entry]]);
      }
      return [label, ...entries];
    }),
  );
}

/** The 0-based index that appears more than once in a row. */
export class RepeatedIndex extends Error {
  readonly index: number;

  constructor(index: number) {
    super(`index ${index} appears more than once`);
    this.index = index;
  }
}

/** Rows up to this length are sorted by insertion. */
const shortRow = 128;

/**
 * Sorts the entries from … to - 1 by index, in place, and drops the zeros; returns the new end.
 * Repeats are an error, or are added up in float64 in their order, whatever the way of sorting.
 */
export function orderRow(
  indices: Int32Array,
  values: Float32Array,
  from: number,
  to: number,
  sumDuplicates: boolean,
): number {
  if (!ascends(indices, from, to)) {
    if (to - from <= shortRow) insertEntries(indices, values, from, to);
    else sortEntries(indices, values, from, to);
  }
  let end = from;
  for (let entry = from; entry < to; ) {
    const index = indices[entry];
    let sum = values[entry];
    for (entry += 1; entry < to && indices[entry] === index; entry += 1) {
      if (!sumDuplicates) throw new RepeatedIndex(index);
      sum += values[entry];
    }
    values[end] = sum;
    indices[end] = index;
    // The stored float32 decides: a sum may vanish only when it is rounded.
    if (values[end] !== 0) end += 1;
  }
  return end;
}

function ascends(indices: Int32Array, from: number, to: number): boolean {
  for (let entry = from + 1; entry < to; entry += 1) {
    if (indices[entry] < indices[entry - 1]) return false;
  }
  return true;
}

function sortEntries(indices: Int32Array, values: Float32Array, from: number, to: number): void {
  const oldIndices = indices.slice(from, to);
  const oldValues = values.slice(from, to);
  const order = Int32Array.from(oldIndices, (_, entry) => entry);
  order.sort((left, right) => oldIndices[left] - oldIndices[right] || left - right);
  for (let entry = 0; entry < order.length; entry += 1) {
    indices[from + entry] = oldIndices[order[entry]];
    values[from + entry] = oldValues[order[entry]];
  }
}

function insertEntries(indices: Int32Array, values: Float32Array, from: number, to: number): void {
  for (let entry = from + 1; entry < to; entry += 1) {
    const index = indices[entry];
    const value = values[entry];
    let slot = entry;
    // Equal ones stay in their order.
    for (; slot > from && indices[slot - 1] > index; slot -= 1) {
      indices[slot] = indices[slot - 1];
      values[slot] = values[slot - 1];
    }
    indices[slot] = index;
    values[slot] = value;
  }
}

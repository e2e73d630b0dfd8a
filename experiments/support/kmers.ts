import type { Dataset, DatasetPart } from '../../src/data/dataset.ts';
import { UsageError } from '../../src/errors.ts';
import type { Sequences } from './sequences.ts';

/** Rows of a part: enough parts to share out among workers, few enough to be no burden. */
const rowsPerPart = 2048;

/** Codes 0 to 3 of A, C, G, T in either case; 4 for anything else. */
const codes = new Uint8Array(256).fill(4);
for (const [code, letter] of ['A', 'C', 'G', 'T'].entries()) {
  codes[letter.charCodeAt(0)] = code;
  codes[letter.toLowerCase().charCodeAt(0)] = code;
}

/**
 * Where the features of each length begin: the feature (k, position, word) is column
 * starts[k−1] + position · 4^k + code(word), code the number of the word to base 4. Position runs
 * from 0 to length − k. The last entry is the number of columns.
 */
export function kmerColumns(length: number, longest: number): number[] {
  if (!(Number.isInteger(longest) && longest >= 1 && longest <= Math.min(length, 12))) {
    throw new UsageError(
      `k-mers up to ${longest}; expected a whole number from 1 to ${Math.min(length, 12)}`,
    );
  }
  const starts = [0];
  for (let k = 1; k <= longest; k++) starts.push(starts[k - 1] + (length - k + 1) * 4 ** k);
  if (starts[longest] > 2 ** 30) {
    throw new UsageError(`k-mers up to ${longest} make ${starts[longest]} columns: too many`);
  }
  return starts;
}

/** Non-zeros of a sequence without letters other than A, C, G, T: Σ_k (length − k + 1). */
export function kmersPerRow(length: number, longest: number): number {
  return longest * length - (longest * (longest - 1)) / 2;
}

/**
 * One feature for every k-mer at every position, k = 1 … longest: the features of the weighted
 * degree kernel that COFFIN (Sonnenburg and Franc, 2010) uses on splice sites. All values of a row
 * are equal and make its length 1. A k-mer with a letter other than A, C, G, T has no feature.
 */
export function kmerDataset(sequences: Sequences, longest: number): Dataset {
  const { name, length, labels } = sequences;
  const starts = kmerColumns(length, longest);
  const parts: DatasetPart[] = [];
  for (let first = 0; first < labels.length; first += rowsPerPart) {
    parts.push(kmerPart(sequences, first, Math.min(first + rowsPerPart, labels.length), starts));
  }
  return {
    name,
    parts,
    rows: labels.length,
    columns: starts[longest],
    nonzeros: parts.reduce((sum, { values }) => sum + values.length, 0),
    notices: [],
  };
}

function sharedBytes(count: number, bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(count * bytes);
}

function kmerPart(
  { length, labels, letters }: Sequences,
  first: number,
  end: number,
  starts: readonly number[],
): DatasetPart {
  const longest = starts.length - 1;
  const rows = end - first;
  const most = rows * kmersPerRow(length, longest);
  const part = {
    rowOffsets: new Int32Array(sharedBytes(rows + 1, 4)),
    labels: new Float64Array(sharedBytes(rows, 8)),
    indices: new Int32Array(sharedBytes(most, 4)),
    values: new Float32Array(sharedBytes(most, 4)),
  };
  part.labels.set(labels.subarray(first, end));
  let filled = 0;
  for (let row = 0; row < rows; row++) {
    const from = (first + row) * length;
    const rowStart = filled;
    filled = addKmers(letters, from, length, starts, part.indices, filled);
    part.values.fill(1 / Math.sqrt(Math.max(1, filled - rowStart)), rowStart, filled);
    part.rowOffsets[row + 1] = filled;
  }
  if (filled === most) return part;
  return {
    ...part,
    indices: part.indices.subarray(0, filled),
    values: part.values.subarray(0, filled),
  };
}

/** Writes the columns of one sequence, ascending; returns where they end. */
function addKmers(
  letters: Uint8Array,
  from: number,
  length: number,
  starts: readonly number[],
  indices: Int32Array,
  start: number,
): number {
  let filled = start;
  for (let k = 1; k < starts.length; k++) {
    const words = 4 ** k;
    const mask = words - 1;
    let code = 0;
    /** Letters since the last one that is none of A, C, G, T. */
    let known = 0;
    let base = starts[k - 1] - (k - 1) * words;
    for (let at = 0; at < length; at++, base += words) {
      const letter = codes[letters[from + at]];
      known = letter < 4 ? known + 1 : 0;
      code = ((code << 2) | (letter & 3)) & mask;
      if (known >= k) indices[filled++] = base + code;
    }
  }
  return filled;
}

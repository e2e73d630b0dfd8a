/** Brings columns, or rows, to one scale. Zeros stay zeros, so that sparse data stays sparse. */
import { UsageError } from '../errors.ts';
import { hashedColumn } from '../math/murmur.ts';
import { type Dataset, type DatasetPart, sharedFloat32 } from './dataset.ts';

export const scalings = ['none', 'max', 'std', 'unit-rows'] as const;

/**
 * `max`: a column is divided by its largest |x_ij|. `std`: by its standard deviation over all rows,
 * absent entries being zeros and each row counting by its weight. Columns of categories and of
 * missing values are 0 or 1 and stay as they are: divided, a rare one would become very large, and
 * the penalty would no longer hold it back. `unit-rows`: a row is divided by its Euclidean length.
 */
export type Scaling = (typeof scalings)[number];

/** The largest number of a Float32Array. */
const largestFloat = (2 - 2 ** -23) * 2 ** 127;

export interface Scaled {
  readonly dataset: Dataset;
  /** What each column was divided by; absent where rows were scaled. */
  readonly factors?: Float64Array;
}

export function scaleDataset(dataset: Dataset, scaling: Scaling): Scaled {
  if (scaling === 'none') return { dataset };
  if (scaling === 'unit-rows') return { dataset: withUnitRows(dataset) };
  const factors = columnScales(dataset, scaling);
  return { dataset: divideColumns(dataset, factors), factors };
}

/** Divisors of the columns: 1 for categories, columns of zeros and, with `std`, constant columns. */
export function columnScales(dataset: Dataset, scaling: 'max' | 'std'): Float64Array {
  checkInMemory(dataset);
  const scales = scaling === 'max' ? largestSizes(dataset) : deviations(dataset);
  const isCategory = categoryColumns(dataset);
  return scales.map((scale, column) => (scale > 0 && !isCategory(column) ? scale : 1));
}

/** Which columns are categories, or say that a value is missing, by the rule that made their names. */
function categoryColumns({
  featureNames,
  recipe,
}: Pick<Dataset, 'featureNames' | 'recipe'>): (column: number) => boolean {
  const { fields, hashBits } = recipe ?? {};
  if (!fields) return () => false;
  const numbers = fields.filter(({ kind }) => kind === 'number').map(({ name }) => name);
  if (hashBits !== undefined) {
    // Of JSON lines fields of numbers are not listed, and hashes do not tell.
    const columns = new Set(numbers.map((name) => hashedColumn(name, hashBits)));
    return (column) => columns.size > 0 && !columns.has(column);
  }
  const known = new Set(numbers);
  return (column) => {
    const name = featureNames?.[column] ?? '';
    return name.indexOf('=', 1) > 0 && !known.has(name);
  };
}

/** The data with each column divided by its factor; columns beyond the factors stay as they are. */
export function divideColumns(dataset: Dataset, factors: Float64Array): Dataset {
  return withValues(dataset, ({ indices }, values) => {
    for (let k = 0; k < values.length; k += 1) {
      if (!(indices[k] < factors.length)) continue;
      // Rows that did not count for the factors may be far larger.
      const value = values[k] / factors[indices[k]];
      values[k] = Math.max(-largestFloat, Math.min(largestFloat, value));
    }
  });
}

/** The data with each row divided by its Euclidean length; rows of zeros stay as they are. */
export function withUnitRows(dataset: Dataset): Dataset {
  return withValues(dataset, ({ rowOffsets }, values) => {
    for (let row = 0; row + 1 < rowOffsets.length; row += 1) {
      let squares = 0;
      for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k += 1)
        squares += values[k] * values[k];
      if (!(squares > 0)) continue;
      const length = Math.sqrt(squares);
      for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k += 1) values[k] /= length;
    }
  });
}

/** Weights for the unscaled data, w_j / s_j; the vectors follow one another. */
export function foldWeights(weights: Float64Array, factors: Float64Array): Float64Array {
  return weights.map((weight, position) => weight / factors[position % factors.length]);
}

function withValues(
  dataset: Dataset,
  change: (part: DatasetPart, values: Float32Array) => void,
): Dataset {
  checkInMemory(dataset);
  const parts = dataset.parts.map((part) => {
    const values = sharedFloat32(part.values);
    change(part, values);
    return { ...part, values };
  });
  return { ...dataset, parts };
}

function checkInMemory({ name, stored }: Dataset): void {
  if (!stored) return;
  throw new UsageError(
    `${name}: scaling needs the data in memory, but its entries are left on disk (scale what it was made of)`,
  );
}

function largestSizes({ parts, columns }: Dataset): Float64Array {
  const largest = new Float64Array(columns);
  for (const { indices, values } of parts) {
    for (let k = 0; k < values.length; k += 1) {
      largest[indices[k]] = Math.max(largest[indices[k]], Math.abs(values[k]));
    }
  }
  return largest;
}

/**
 * √(Σ c_i (x_ij − x̄_j)² / Σ c_i) by column, x̄_j the mean over all rows. The stored
 * entries come first, one after the other (Welford 1962), which leaves exactly 0 in a constant
 * column; then all zeros at once: with n the total weight of the rows with an entry, μ the mean of
 * the entries and N the total weight of all rows, the zeros add μ² n (N − n) / N.
 */
function deviations({ parts, columns }: Dataset): Float64Array {
  const present = new Float64Array(columns);
  const means = new Float64Array(columns);
  const squares = new Float64Array(columns);
  let all = 0;
  for (const { rowOffsets, indices, values, weights, labels } of parts) {
    for (let row = 0; row < labels.length; row += 1) {
      const weight = weights ? weights[row] : 1;
      if (!(weight > 0)) continue;
      all += weight;
      for (let k = rowOffsets[row]; k < rowOffsets[row + 1]; k += 1) {
        const j = indices[k];
        const away = values[k] - means[j];
        present[j] += weight;
        means[j] += away * (weight / present[j]);
        squares[j] += weight * away * (values[k] - means[j]);
      }
    }
  }
  return squares.map((sum, j) => {
    const zeros = means[j] * means[j] * present[j] * ((all - present[j]) / all);
    return all > 0 ? Math.sqrt((sum + zeros) / all) : 0;
  });
}

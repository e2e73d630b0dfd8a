import { CompensatedSum } from '../../math/vectors.ts';
import { type Dataset, type DatasetPart, isWeighted } from '../dataset.ts';
import { rowLengths } from '../row-packing.ts';
import { ColumnStatistics, type EqualRows, equalColumns, RowHashTable } from './duplicates.ts';
import { SurveyedColumns } from './surveyed-columns.ts';

interface Range {
  readonly smallest: number;
  readonly largest: number;
}

export interface LabelShare {
  /** As the input wrote it. */
  readonly label: number | string;
  readonly count: number;
  readonly share: number;
}

export interface LabelQuality {
  /** Different labels; null if there are more than a thousand numbers. */
  readonly distinct: number | null;
  /** The most frequent ones, at most 20, of equally frequent ones the smaller first. */
  readonly top: readonly LabelShare[];
  /** Of labels that are numbers. */
  readonly range?: Range & { readonly mean: number };
}

export interface WeightQuality extends Range {
  readonly sum: number;
  /** Rows of weight 0, which count for nothing. */
  readonly zeros: number;
}

const mostNumbers = 1000;
const mostShown = 20;

/** The range and the sum of numbers. */
class NumberRange {
  readonly #sum = new CompensatedSum();
  smallest = Number.POSITIVE_INFINITY;
  largest = Number.NEGATIVE_INFINITY;

  add(number: number): void {
    this.#sum.add(number);
    if (number < this.smallest) this.smallest = number;
    if (number > this.largest) this.largest = number;
  }

  get sum(): number {
    return this.#sum.total;
  }
}

/** Counts the labels of rows. */
class LabelStatistics {
  readonly #names: readonly string[] | undefined;
  readonly #counts = new Map<number, number>();
  readonly #range = new NumberRange();
  #tooMany = false;
  #rows = 0;

  constructor(names?: readonly string[]) {
    this.#names = names;
  }

  add(labels: Float64Array): void {
    this.#rows += labels.length;
    for (const label of labels) {
      this.#range.add(label);
      if (!this.#tooMany) this.#count(label);
    }
  }

  #count(label: number): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
    // Names are in memory anyway; measured numbers may be as many as there are rows.
    this.#tooMany = this.#names === undefined && this.#counts.size > mostNumbers;
  }

  quality(): LabelQuality {
    const counted = this.#tooMany ? [] : [...this.#counts];
    counted.sort(([left, ours], [right, theirs]) => theirs - ours || left - right);
    const top = counted.slice(0, mostShown).map(([label, count]) => ({
      label: this.#names?.[label] ?? label,
      count,
      share: count / this.#rows,
    }));
    const distinct = this.#tooMany ? null : counted.length;
    if (this.#names || this.#rows === 0) return { distinct, top };
    const { smallest, largest, sum } = this.#range;
    return { distinct, top, range: { smallest, largest, mean: sum / this.#rows } };
  }
}

/** A column, from 0, with its name where the data has names. */
export interface NamedColumn {
  readonly column: number;
  readonly name?: string;
}

/** How many rows or columns have the property, and the first few of them. */
export interface Findings<Item> {
  readonly count: number;
  readonly first: readonly Item[];
}

/** What a person should check before training: sizes, labels, and likely faults. */
export interface Quality {
  readonly name: string;
  /** Fields that are left out because they differ in every row, and fields of dates. */
  readonly identifiers?: readonly string[];
  readonly dates?: readonly string[];
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** Non-zeros of all entries that there could be. */
  readonly density: number;
  /** Non-zeros per row; the median is the lower one of two. */
  readonly rowLengths: Range & { readonly median: number };
  readonly labels: LabelQuality;
  /** Absent if no row has a weight. */
  readonly weights?: WeightQuality;
  /** The values that are not 0: their range and whether all of them are whole numbers. */
  readonly values?: Range & { readonly whole: boolean };
  /** The columns of the smallest and of the largest scale (largest |value|), and their ratio. */
  readonly scales?: {
    readonly smallest: NamedColumn & { readonly size: number };
    readonly largest: NamedColumn & { readonly size: number };
    readonly ratio: number;
  };
  /** Rows without features, from 0. */
  readonly emptyRows: Findings<number>;
  readonly emptyColumns: Findings<NamedColumn>;
  /** Columns that have the same value, not 0, in all rows. */
  readonly constantColumns: Findings<NamedColumn & { readonly value: number }>;
  /** Columns that are equal to an earlier one entry by entry. */
  readonly equalColumns: Findings<NamedColumn & { readonly earlier: NamedColumn }>;
  /** Rows that have the features of an earlier one; by hash alone where data stays on disk. */
  readonly equalRows: EqualRows;
}

/** How many rows or columns are listed of each finding. */
const shown = 10;

/**
 * Needs one to three passes over the data, and about 30 bytes per row and per column, or per non-zero
 * where there are fewer of them.
 */
export function describeQuality(dataset: Dataset): Quality {
  const { name, rows, columns, nonzeros, parts, stored, labelNames } = dataset;
  const scan = (): Iterable<DatasetPart> => stored?.scan() ?? parts;
  const surveyed = new SurveyedColumns(columns, nonzeros, scan);
  const columnStatistics = new ColumnStatistics(surveyed.count);
  const rowHashes = new RowHashTable(rows);
  const labels = new LabelStatistics(labelNames);
  let row = 0;
  for (const part of surveyed.scan()) {
    columnStatistics.add(part, row);
    rowHashes.add(part, row);
    labels.add(part.labels);
    row += part.labels.length;
  }
  const weights = weightQuality(parts);
  const { fields = [] } = dataset.recipe ?? {};
  const identifiers = fields.filter((one) => one.identifier).map((one) => one.name);
  const dates = fields.filter((one) => one.date).map((one) => one.name);
  return {
    name,
    ...(identifiers.length > 0 && { identifiers }),
    ...(dates.length > 0 && { dates }),
    rows,
    columns,
    nonzeros,
    density: rows * columns === 0 ? 0 : nonzeros / rows / columns,
    labels: labels.quality(),
    ...(weights && { weights }),
    ...columnFindings(columnStatistics, dataset, surveyed),
    equalColumns: findEqualColumns(columnStatistics, dataset, surveyed),
    equalRows: rowHashes.equalRows(shown, stored ? undefined : parts),
    ...rowFindings(rowLengths(dataset)),
  };
}

/** Undefined if no row has a weight; otherwise rows without one have weight 1. */
function weightQuality(parts: readonly DatasetPart[]): WeightQuality | undefined {
  if (!isWeighted({ parts })) return undefined;
  const range = new NumberRange();
  let zeros = 0;
  for (const { weights, labels } of parts) {
    for (let row = 0; row < labels.length; row += 1) {
      const weight = weights ? weights[row] : 1;
      range.add(weight);
      if (weight === 0) zeros += 1;
    }
  }
  const { sum, smallest, largest } = range;
  return { sum, smallest, largest, zeros };
}

/** Takes the lengths of rows in their order, and sorts them. */
function rowFindings(lengths: Int32Array): Pick<Quality, 'rowLengths' | 'emptyRows'> {
  const empty = new Finder<number>();
  lengths.forEach((length, row) => {
    if (length === 0) empty.add(() => row);
  });
  lengths.sort();
  const at = (position: number): number => lengths[position] ?? 0;
  return {
    rowLengths: {
      smallest: at(0),
      median: at((lengths.length - 1) >>> 1),
      largest: at(lengths.length - 1),
    },
    emptyRows: empty.findings,
  };
}

function columnFindings(
  statistics: ColumnStatistics,
  { rows, featureNames }: Dataset,
  surveyed: SurveyedColumns,
): Pick<Quality, 'values' | 'scales' | 'emptyColumns' | 'constantColumns'> {
  const { counts, smallest, largest } = statistics;
  const named = (position: number) => namedColumn(surveyed.columnOf(position), featureNames);
  const empty = new Finder<NamedColumn>();
  const constant = new Finder<NamedColumn & { value: number }>();
  const extremes = { least: -1, most: -1 };
  const range = { smallest: Number.POSITIVE_INFINITY, largest: Number.NEGATIVE_INFINITY };
  for (let column = 0; column < counts.length; column += 1) {
    if (counts[column] === 0) {
      empty.add(() => named(column));
      continue;
    }
    const value = smallest[column];
    if (counts[column] === rows && value === largest[column]) {
      constant.add(() => ({ ...named(column), value }));
    }
    range.smallest = Math.min(range.smallest, value);
    range.largest = Math.max(range.largest, largest[column]);
    const { least, most } = extremes;
    if (least < 0 || statistics.size(column) < statistics.size(least)) extremes.least = column;
    if (most < 0 || statistics.size(column) > statistics.size(most)) extremes.most = column;
  }
  for (const column of surveyed.firstLeft(shown))
    empty.add(() => namedColumn(column, featureNames));
  const count = Math.max(empty.findings.count, surveyed.left);
  const emptyColumns = { ...empty.findings, count };
  const found = { emptyColumns, constantColumns: constant.findings };
  if (extremes.least < 0) return found;
  const scaleOf = (column: number) => ({
    ...named(column),
    size: statistics.size(column),
  });
  const scales = { smallest: scaleOf(extremes.least), largest: scaleOf(extremes.most) };
  return {
    values: { ...range, whole: statistics.allWhole },
    scales: { ...scales, ratio: scales.largest.size / scales.smallest.size },
    ...found,
  };
}

function findEqualColumns(
  statistics: ColumnStatistics,
  { featureNames }: Dataset,
  surveyed: SurveyedColumns,
): Quality['equalColumns'] {
  const named = (position: number) => namedColumn(surveyed.columnOf(position), featureNames);
  const finder = new Finder<NamedColumn & { earlier: NamedColumn }>();
  for (const [column, earlier] of equalColumns(statistics, surveyed.scan)) {
    finder.add(() => ({ ...named(column), earlier: named(earlier) }));
  }
  return finder.findings;
}

function namedColumn(column: number, names: readonly string[] | undefined): NamedColumn {
  const name = names?.[column];
  return name === undefined ? { column } : { column, name };
}

/** Counts all findings and stores the first few. */
class Finder<Item> {
  readonly #first: Item[] = [];
  #count = 0;

  add(item: () => Item): void {
    this.#count += 1;
    if (this.#first.length < shown) this.#first.push(item());
  }

  get findings(): Findings<Item> {
    return { count: this.#count, first: this.#first };
  }
}

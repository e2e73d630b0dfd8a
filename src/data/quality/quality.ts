import { CompensatedSum } from '../../math/vectors.ts';
import type { Dataset, DatasetPart } from '../dataset.ts';
import { ColumnStatistics, type EqualRows, equalColumns, RowSurvey } from './duplicates.ts';

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
  readonly range?: { readonly smallest: number; readonly largest: number; readonly mean: number };
}

export interface WeightQuality {
  readonly sum: number;
  readonly smallest: number;
  readonly largest: number;
  /** Rows of weight 0, which count for nothing. */
  readonly zeros: number;
}

const mostNumbers = 1000;
const mostShown = 20;

/** Counts the labels of rows. */
export class LabelStatistics {
  readonly #names: readonly string[] | undefined;
  readonly #counts = new Map<number, number>();
  readonly #sum = new CompensatedSum();
  #tooMany = false;
  #rows = 0;
  #smallest = Number.POSITIVE_INFINITY;
  #largest = Number.NEGATIVE_INFINITY;

  constructor(names?: readonly string[]) {
    this.#names = names;
  }

  add(labels: Float64Array): void {
    this.#rows += labels.length;
    for (const label of labels) {
      this.#sum.add(label);
      if (label < this.#smallest) this.#smallest = label;
      if (label > this.#largest) this.#largest = label;
      if (!this.#tooMany) this.#count(label);
    }
  }

  #count(label: number): void {
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
    // Names are kept anyway; measured numbers may be as many as there are rows.
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
    const mean = this.#sum.total / this.#rows;
    return { distinct, top, range: { smallest: this.#smallest, largest: this.#largest, mean } };
  }
}

/** Adds up the weights of rows; a row without one has weight 1. */
export class WeightStatistics {
  readonly #sum = new CompensatedSum();
  #given = false;
  #smallest = Number.POSITIVE_INFINITY;
  #largest = Number.NEGATIVE_INFINITY;
  #zeros = 0;

  add(weights: Float64Array | undefined, rows: number): void {
    if (weights) this.#given = true;
    for (let row = 0; row < rows; row += 1) {
      const weight = weights ? weights[row] : 1;
      this.#sum.add(weight);
      if (weight < this.#smallest) this.#smallest = weight;
      if (weight > this.#largest) this.#largest = weight;
      if (weight === 0) this.#zeros += 1;
    }
  }

  /** Undefined if no row has a weight. */
  quality(): WeightQuality | undefined {
    if (!this.#given) return undefined;
    const { total: sum } = this.#sum;
    return { sum, smallest: this.#smallest, largest: this.#largest, zeros: this.#zeros };
  }
}

/** A column, from 0, with its name where the data has names. */
export interface NamedColumn {
  readonly column: number;
  readonly name?: string;
}

/** How many rows or columns are so, and the first few of them. */
export interface Findings<Place> {
  readonly count: number;
  readonly first: readonly Place[];
}

/** What a person should look at before training: sizes, labels, and what may be wrong. */
export interface Quality {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** Non-zeros of all entries that there could be. */
  readonly density: number;
  /** Non-zeros per row; the median is the lower one of two. */
  readonly rowLengths: {
    readonly smallest: number;
    readonly median: number;
    readonly largest: number;
  };
  readonly labels: LabelQuality;
  /** Absent if all rows count the same. */
  readonly weights?: WeightQuality;
  /** The values that are not 0: their range and whether all of them are whole numbers. */
  readonly values?: {
    readonly smallest: number;
    readonly largest: number;
    readonly whole: boolean;
  };
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

/** How many places are listed of each finding. */
const shown = 10;

/**
 * Looks over data in one pass, and a second one if columns seem to be equal. Needs about 30 bytes a
 * row and 30 bytes a column.
 */
export function describeQuality(dataset: Dataset): Quality {
  const { name, rows, columns, nonzeros, parts, stored, labelNames } = dataset;
  const scan = (): Iterable<DatasetPart> => stored?.scan() ?? parts;
  const columnSurvey = new ColumnStatistics(columns);
  const rowSurvey = new RowSurvey(rows);
  const labels = new LabelStatistics(labelNames);
  const lengths = new Int32Array(rows);
  let row = 0;
  for (const part of scan()) {
    columnSurvey.add(part, row);
    rowSurvey.add(part, row);
    labels.add(part.labels);
    for (let place = 0; place < part.labels.length; place += 1, row += 1) {
      lengths[row] = part.rowOffsets[place + 1] - part.rowOffsets[place];
    }
  }
  const weights = weightQuality(parts);
  return {
    name,
    rows,
    columns,
    nonzeros,
    density: rows * columns === 0 ? 0 : nonzeros / rows / columns,
    labels: labels.quality(),
    ...(weights && { weights }),
    ...columnFindings(columnSurvey, dataset),
    equalColumns: findEqualColumns(columnSurvey, dataset, scan),
    equalRows: rowSurvey.equalRows(shown, stored ? undefined : parts),
    ...rowFindings(lengths),
  };
}

function weightQuality(parts: readonly DatasetPart[]): WeightQuality | undefined {
  const survey = new WeightStatistics();
  for (const { weights, labels } of parts) survey.add(weights, labels.length);
  return survey.quality();
}

/** Takes the lengths of rows in their order, and sorts them. */
function rowFindings(lengths: Int32Array): Pick<Quality, 'rowLengths' | 'emptyRows'> {
  const empty = new Finder<number>();
  lengths.forEach((length, row) => {
    if (length === 0) empty.add(() => row);
  });
  lengths.sort();
  const at = (place: number): number => lengths[place] ?? 0;
  return {
    rowLengths: {
      smallest: at(0),
      median: at((lengths.length - 1) >>> 1),
      largest: at(lengths.length - 1),
    },
    emptyRows: empty.findings,
  };
}

type ColumnFindings = Pick<Quality, 'values' | 'scales' | 'emptyColumns' | 'constantColumns'>;

function columnFindings(survey: ColumnStatistics, { rows, featureNames }: Dataset): ColumnFindings {
  const { counts, smallest, largest } = survey;
  const empty = new Finder<NamedColumn>();
  const constant = new Finder<NamedColumn & { value: number }>();
  const extremes = { least: -1, most: -1 };
  const range = { smallest: Number.POSITIVE_INFINITY, largest: Number.NEGATIVE_INFINITY };
  for (let column = 0; column < counts.length; column += 1) {
    if (counts[column] === 0) {
      empty.add(() => placeOf(column, featureNames));
      continue;
    }
    const value = smallest[column];
    if (counts[column] === rows && value === largest[column]) {
      constant.add(() => ({ ...placeOf(column, featureNames), value }));
    }
    range.smallest = Math.min(range.smallest, value);
    range.largest = Math.max(range.largest, largest[column]);
    const { least, most } = extremes;
    if (least < 0 || survey.size(column) < survey.size(least)) extremes.least = column;
    if (most < 0 || survey.size(column) > survey.size(most)) extremes.most = column;
  }
  const found = { emptyColumns: empty.findings, constantColumns: constant.findings };
  if (extremes.least < 0) return found;
  const scaleOf = (column: number) => ({
    ...placeOf(column, featureNames),
    size: survey.size(column),
  });
  const scales = { smallest: scaleOf(extremes.least), largest: scaleOf(extremes.most) };
  return {
    values: { ...range, whole: survey.allWhole },
    scales: { ...scales, ratio: scales.largest.size / scales.smallest.size },
    ...found,
  };
}

function findEqualColumns(
  survey: ColumnStatistics,
  { featureNames }: Dataset,
  scan: () => Iterable<DatasetPart>,
): Quality['equalColumns'] {
  const finder = new Finder<NamedColumn & { earlier: NamedColumn }>();
  for (const [column, earlier] of equalColumns(survey, scan)) {
    finder.add(() => ({
      ...placeOf(column, featureNames),
      earlier: placeOf(earlier, featureNames),
    }));
  }
  return finder.findings;
}

function placeOf(column: number, names: readonly string[] | undefined): NamedColumn {
  const name = names?.[column];
  return name === undefined ? { column } : { column, name };
}

/** Counts everything and keeps the first few. */
class Finder<Place> {
  readonly #first: Place[] = [];
  #count = 0;

  add(place: () => Place): void {
    this.#count += 1;
    if (this.#first.length < shown) this.#first.push(place());
  }

  get findings(): Findings<Place> {
    return { count: this.#count, first: this.#first };
  }
}

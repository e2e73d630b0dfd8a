import type { DatasetSchema, Recipe, RecipeField } from '../dataset.ts';

/** Columns have names in all formats but the first and the last. */
export const formatNames = ['libsvm', 'csv', 'tsv', 'jsonl', 'vw', 'parquet', 'dsob'] as const;
export type FormatName = (typeof formatNames)[number];

/** How named values become columns. */
export interface FieldOptions {
  /** Default: by the name of the file, and else by its first lines. */
  readonly format?: FormatName;
  /**
   * The field with the label: its name or, in tables, its number from 1. Default: a field called
   * label, target, class or y.
   */
  readonly label?: string | number;
  /** The field with the weight of the row. Default: a field called weight, if there is one. */
  readonly weight?: string | number;
  /** Fields that hold categories, though they look like numbers. */
  readonly categorical?: readonly string[];
  /** Fields to leave out. */
  readonly ignore?: readonly string[];
  /** Fields to keep, though they differ in every row. */
  readonly keep?: readonly string[];
  /** What becomes of a missing value. Default `indicator`: a feature `age=?`. */
  readonly missing?: Recipe['missing'];
  /** Texts that mean a missing value, besides those of `missingTexts`. */
  readonly missingValues?: readonly string[];
  /** Columns are hashes with this many bits. Default: every name has its own column. */
  readonly hashBits?: number;
  /** Whether the first line of CSV has the names of the columns. Default: true. */
  readonly header?: boolean;
  /** What separates the values of CSV: one character. Default: by name and first line. */
  readonly delimiter?: string;
  /** Labels are texts, even if all of them look like numbers. */
  readonly textLabels?: boolean;
  /** Columns and labels mean what they mean in this other data. */
  readonly like?: DatasetSchema;
  /** Whether every row must have a label. Default: unless there is `like`, or labels are texts. */
  readonly labelled?: boolean;
}

/** Texts declared to mean a missing value, here or for the other data. */
export function missingValuesOf({ like, missingValues = [] }: FieldOptions): readonly string[] {
  return [...new Set([...(like?.recipe?.missingValues ?? []), ...missingValues])];
}

/** How fields become columns, as a model saves it; the recipe of other data is used as it is. */
export function recipeOf(options: FieldOptions, fields?: readonly RecipeField[]): Recipe {
  const { like, hashBits, missing, missingValues = [] } = options;
  return (
    like?.recipe ?? {
      ...(hashBits !== undefined && { hashBits }),
      ...(fields && { fields }),
      ...(fields && missing !== undefined && { missing }),
      ...(fields && missingValues.length > 0 && { missingValues }),
    }
  );
}

/** Whether rows may lack a label. */
export function isLabelOptional({ like, textLabels = false, labelled }: FieldOptions): boolean {
  return textLabels || !(labelled ?? like === undefined);
}

const labelNames = ['label', 'target', 'class', 'y'];
export const labelNameList = 'label, target, class or y';

/** The position of the field that is a label by its name; -1 if there is none. */
export function defaultLabel(names: readonly string[], { ignore = [] }: FieldOptions): number {
  const lower = names.map((name) => name.toLowerCase());
  const positions = labelNames.map((name) => lower.indexOf(name));
  return positions.find((at) => at >= 0 && !ignore.includes(names[at])) ?? -1;
}

/** Texts that mean a missing value in tables of text; typed tables and JSON have null instead. */
export const missingTexts: readonly string[] = ['', 'NA', 'N/A', 'NaN', 'null', 'NULL', '?'];

const decimal = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

/** The number that a text is, or NaN. */
export function numberOf(text: string): number {
  return decimal.test(text) ? Number(text) : NaN;
}

const isoDate =
  /^\s*([1-9]\d{3})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?(Z|[+-]\d\d:?\d\d)?)?\s*$/;
const secondsPerDay = 86_400;
/** In seconds from UTC. */
const farthestZone = 14 * 3600;

/** The fields of other data whose numbers are dates. */
export function datesOf(like: DatasetSchema | undefined): ReadonlySet<string> {
  return new Set(like?.recipe?.fields?.flatMap(({ name, date }) => (date ? [name] : [])));
}

/** Days since 1970-01-01 UTC of a date as ISO 8601 writes it, or NaN. A time without a zone is UTC. */
export function daysOf(text: string): number {
  const found = isoDate.exec(text);
  if (!found) return NaN;
  const [year, month, day, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1, 7)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const start = new Date(Date.UTC(year!, month! - 1, day));
  const isDay = start.getUTCMonth() === month! - 1 && start.getUTCDate() === day;
  if (!isDay || minutes > 59 || seconds >= 61) return NaN;
  // 24:00 is the end of the day.
  if (hours > 23 && !(hours === 24 && minutes === 0 && seconds === 0)) return NaN;
  const [, sign = '+', zoneHours = 0, zoneMinutes = 0] =
    /^([+-])(\d\d):?(\d\d)$/.exec(found[7] ?? '') ?? [];
  const zone = 3600 * Number(zoneHours) + 60 * Number(zoneMinutes);
  if (Number(zoneMinutes) > 59 || zone > farthestZone) return NaN;
  const time = 3600 * hours + 60 * minutes + seconds - (sign === '-' ? -zone : zone);
  return start.getTime() / (1000 * secondsPerDay) + time / secondsPerDay;
}

/** The number that a text in a field of numbers, or of dates, is, or NaN. */
export function fieldNumber(text: string, { date }: Pick<RecipeField, 'date'>): number {
  return date ? daysOf(text) : numberOf(text);
}

/** Which values are missing. Plain data, which threads receive. */
export interface MissingRules {
  /** Texts that mean a missing value; those that are numbers mean these numbers too. */
  readonly missingTexts: readonly string[];
  /** Features `field=text` of the training data whose text would otherwise mean a missing value. */
  readonly knownCategories?: readonly string[];
}

/** The one rule for what counts as missing, for tables and for named rows. */
export class MissingValues {
  readonly #texts: ReadonlySet<string>;
  readonly #numbers: ReadonlySet<number>;
  readonly #known: ReadonlySet<string>;

  constructor({ missingTexts: texts, knownCategories: known = [] }: MissingRules) {
    this.#texts = new Set(texts);
    this.#numbers = new Set(texts.map(numberOf).filter(Number.isFinite));
    this.#known = new Set(known);
  }

  /** Whether some numbers are missing values, as -999 may be. */
  get hasNumbers(): boolean {
    return this.#numbers.size > 0;
  }

  hasNumber(value: number): boolean {
    return this.#numbers.has(value);
  }

  hasText(text: string, name: string, kind: RecipeField['kind'] | undefined): boolean {
    if (this.#texts.has(text)) {
      return kind === 'number' || this.#known.size === 0 || !this.#known.has(`${name}=${text}`);
    }
    return kind === 'number' && this.hasNumbers && this.#numbers.has(numberOf(text));
  }
}

/** The categories of other data that look like missing values, unless they are declared missing. */
export function knownCategories(
  { featureNames = [], recipe }: Pick<DatasetSchema, 'featureNames' | 'recipe'>,
  declared: readonly string[],
): readonly string[] {
  const texts = new Set(missingTexts.filter((text) => text !== '?' && !declared.includes(text)));
  // A column of numbers may be called `x=`, as the empty category of `x` is.
  const fields = new Set(recipe?.fields?.map(({ name }) => name));
  return featureNames.filter((name) => {
    const end = name.lastIndexOf('=');
    return end >= 0 && texts.has(name.slice(end + 1)) && !fields.has(name);
  });
}

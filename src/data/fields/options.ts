import type { Likeness, Recipe, RecipeField } from '../dataset.ts';

/** Formats of data whose columns have names … */
export const namedFormats = ['csv', 'tsv', 'jsonl', 'vw', 'parquet'] as const;
export type NamedFormat = (typeof namedFormats)[number];

/** … and those whose columns are numbers. */
export const formatNames = ['libsvm', ...namedFormats, 'dsob'] as const;
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
  /** The same for the weight of the row. Default: a field called weight, if there is one. */
  readonly weight?: string | number;
  /** Fields that hold categories, though they look like numbers. */
  readonly categorical?: readonly string[];
  /** Fields to leave out. */
  readonly ignore?: readonly string[];
  /** What becomes of a missing value. Default `indicator`: a feature `age=?`. */
  readonly missing?: Recipe['missing'];
  /** Texts that mean a missing value, besides those of `missingTexts`. */
  readonly missingValues?: readonly string[];
  /** Columns are hashes of so many bits. Default: every name has its own. */
  readonly hashBits?: number;
  /** Whether the first line of CSV has the names of the columns. Default: true. */
  readonly header?: boolean;
  /** What separates the values of CSV: one character. Default: by name and first line. */
  readonly delimiter?: string;
  /** Labels are texts, even if all of them look like numbers. */
  readonly textLabels?: boolean;
  /** Columns and labels shall mean what they mean there. */
  readonly like?: Likeness;
  /** Whether every row must have a label. Default: unless there is `like`, or labels are texts. */
  readonly labelled?: boolean;
}

/** Texts that mean a missing value because someone said so, here or for the other data. */
export function missingValuesOf({ like, missingValues = [] }: FieldOptions): readonly string[] {
  return [...new Set([...(like?.recipe?.missingValues ?? []), ...missingValues])];
}

/** How fields become columns, as a model keeps it; where there is other data, it is as there. */
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

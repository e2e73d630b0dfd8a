import type { DatasetSchema, Recipe, RecipeField } from '../dataset.ts';
import { knownCategories, type MissingRules, missingTexts } from './options.ts';

/** How the values of named rows become features. Plain data, which threads receive. */
export interface RowRules extends MissingRules {
  /** A table lists all of its fields, JSON lines only those that their values do not explain. */
  readonly fields: readonly RecipeField[];
  /** Whether the model is one of a table: values are read as its text would be, absent = missing. */
  readonly isTable: boolean;
  /** Whether fields that are not listed are left out: hashes have a column for every name. */
  readonly isClosed: boolean;
  /**
   * Whether a row may not have a feature under two names. Features of training data are compared in all
   * rows instead, and hashes may be shared anyway.
   */
  readonly checksRows: boolean;
  readonly missing: NonNullable<Recipe['missing']>;
}

/** What is known of the columns and fields of the training data. */
type RowSchema = Pick<DatasetSchema, 'featureNames' | 'recipe'>;

/** Rows must be read as the training data was; `declared` texts mean a missing value as well. */
export function rowRules(schema: RowSchema, declared: readonly string[] = []): RowRules {
  const { featureNames, recipe = {} } = schema;
  const missingValues = [...(recipe.missingValues ?? []), ...declared];
  const isTable = isTableSchema({ ...(featureNames && { featureNames }), recipe });
  return {
    fields: recipe.fields ?? [],
    isTable,
    isClosed: isTable && featureNames === undefined,
    checksRows: featureNames !== undefined && recipe.hashBits === undefined,
    missing: recipe.missing ?? 'indicator',
    missingTexts: isTable ? [...missingTexts, ...missingValues] : missingValues,
    ...(isTable && { knownCategories: knownCategories(schema, missingValues) }),
  };
}

/**
 * Whether the training data was a table. Its recipe lists every field: the numbers as well, which
 * JSON lines never list. Without a number, JSON lines have their label last, and features of fields
 * that are not listed.
 */
export function isTableSchema({ featureNames, recipe }: RowSchema): boolean {
  const fields = recipe?.fields ?? [];
  if (fields.some(({ kind }) => kind === 'number')) return true;
  const categories = fields.filter(({ kind }) => kind === 'category');
  if (categories.length === 0) return false;
  const label = fields.findIndex(({ kind }) => kind === 'label');
  if (label >= 0 && label < fields.length - 1) return true;
  // Data without a feature needs nothing of a table.
  if (!featureNames || featureNames.length === 0) return false;
  return featureNames.every((feature) =>
    categories.some(({ name }) => feature.startsWith(`${name}=`)),
  );
}

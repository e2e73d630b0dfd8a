/**
 * How named values became columns. It is kept with a model, so that other data is read the same
 * way: a field that held categories holds categories, though all of them may look like numbers.
 *
 * A number in field `age` is the feature `age`; a category `Paris` in field `city` is the feature
 * `city=Paris` with value 1; a missing value is the feature `age=?` with value 1.
 */
export interface Recipe {
  /** Columns are hashes of feature names in so many bits; otherwise places in `featureNames`. */
  readonly hashBits?: number;
  /** Fields of tables and JSON objects by name, in the order they were met. */
  readonly fields?: readonly RecipeField[];
  /** What became of missing values; default `indicator`. */
  readonly missing?: 'indicator' | 'zero' | 'error';
  /** Texts that meant a missing value, besides those that always do. */
  readonly missingValues?: readonly string[];
}

export interface RecipeField {
  readonly name: string;
  readonly kind: 'number' | 'category' | 'label' | 'weight' | 'ignored';
}

/** What data has to share with other data to mean the same by its columns and labels. */
export interface Likeness {
  readonly featureNames?: readonly string[];
  readonly labelNames?: readonly string[];
  readonly recipe?: Recipe;
}

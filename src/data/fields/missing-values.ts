import type { RecipeField } from '../dataset.ts';

/** Texts that mean a missing value in tables of text; typed tables and JSON have null instead. */
export const missingTexts: readonly string[] = ['', 'NA', 'N/A', 'NaN', 'null', 'NULL', '?'];

const decimal = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

/** The number that a text is, or NaN. */
export function numberOf(text: string): number {
  return decimal.test(text) ? Number(text) : NaN;
}

/** Which values are missing. Plain data: it goes to threads. */
export interface MissingRules {
  /** Texts that mean a missing value; those that are numbers stand for the numbers too. */
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
  featureNames: readonly string[] | undefined,
  declared: readonly string[],
): readonly string[] {
  const texts = new Set(missingTexts.filter((text) => text !== '?' && !declared.includes(text)));
  return (featureNames ?? []).filter((name) => {
    const end = name.lastIndexOf('=');
    return end >= 0 && texts.has(name.slice(end + 1));
  });
}

import { DataError } from '../../errors.ts';
import type { RecipeField } from '../dataset.ts';
import { quote } from '../read/line-error.ts';
import { categorySource, clashMessage, type FeatureSource, fieldSource } from './feature-source.ts';
import { fieldNumber, MissingValues } from './options.ts';
import type { RowRules } from './row-rules.ts';

/** A value of a named row; null is a missing one, undefined an absent one. */
export type NamedValue =
  | number
  | string
  | boolean
  | null
  | undefined
  | readonly NamedValue[]
  | { readonly [name: string]: NamedValue };

/** Values by field, as in the training data, or by the name of the feature. */
export type NamedRow = Readonly<Record<string, NamedValue>>;

type FieldPosition = Pick<Field, 'name' | 'inside'>;

/** Where the features of a row go. */
export interface FeatureSink {
  /** The column of a feature; -1 if it has none. */
  column(name: string, field: FieldPosition, isCategory: boolean): number;
  value(column: number, value: number): void;
  /** Values of fields that are no features. */
  label?(value: NamedValue, name: string): void;
  weight?(value: NamedValue, name: string): void;
  /** What training had of a field, where a model says so: wrong types are refused then. */
  featuresOf?(name: string): FieldFeatures;
  /** What the model cannot use of the row. */
  warn?(text: string): void;
}

/** Which features of the training data a field has: its number, its categories, parts such as `name[0]`. */
export interface FieldFeatures {
  readonly number: boolean;
  readonly categories: boolean;
  readonly parts: boolean;
}

/** A missing value where none may be. */
export class MissingValueError extends DataError {}

interface Field {
  readonly name: string;
  readonly date?: true;
  /** Undefined for a field that is not listed. */
  readonly kind: RecipeField['kind'] | undefined;
  /** Columns of the number and of the missing value; `unknown` until they are needed. */
  number: number;
  absence: number;
  readonly categories: Map<string, number>;
  /** Fields of a table that this feature belongs to by its name, as `city=Paris` to `city`. */
  readonly containers: readonly Field[];
  /** The last row that had a value of it. */
  row: number;
  /** Whether its name may also be that of a category in another field. */
  readonly splits: boolean;
  /** How many letters of its name are those of what holds it; −1 before its first value. */
  inside: number;
}

type Kind = RecipeField['kind'] | undefined;
type Scalar = number | string | boolean | null;

export const largestValue = 3.4028234663852886e38;
const unknown = -2;
const deepest = 32;
/** Names that are remembered at most, and how long they may be: rows must not fill the memory. */
const rememberedNames = 1 << 16;
const rememberedLength = 100;

/**
 * The only reader of named values: training on JSON lines, `predict`, `Predictor`, `serve` and
 * exported modules use it. A number in field `age` is the feature `age`, a category `Paris` in field
 * `city` the feature `city=Paris`, a missing value the feature `age=?`. In a model of a table an
 * absent field is a missing value; in a model of JSON lines it is 0, as in training.
 */
export class RowEncoder {
  readonly #rules: RowRules;
  readonly #sink: FeatureSink;
  readonly #missingValues: MissingValues;
  readonly #listed = new Map<string, Field>();
  readonly #expected: readonly Field[];
  /** Fields that are not listed. */
  readonly #unlisted = new Map<string, Field>();
  #remembered = 0;
  #row = 0;
  /** Whether the row may have a feature under two names; and while that is checked, its features. */
  #doubtful = false;
  #seen: Map<string, FeatureSource> | undefined;

  constructor(rules: RowRules, sink: FeatureSink) {
    this.#rules = rules;
    this.#sink = sink;
    this.#missingValues = new MissingValues(rules);
    for (const { name, kind, date } of rules.fields) {
      this.#listed.set(name, { ...newField(name, kind), ...(date && { date }) });
    }
    this.#expected = [...this.#listed.values()].filter(
      ({ kind }) => rules.isTable && (kind === 'number' || kind === 'category'),
    );
  }

  /** Throws a DataError that says what is wrong with the row. */
  encode(row: NamedRow): void {
    this.#row += 1;
    this.#doubtful = false;
    this.#object(row, '', 0, undefined);
    for (const field of this.#expected) if (field.row !== this.#row) this.#missing(field);
    if (!this.#doubtful) return;
    this.#seen = new Map();
    try {
      this.#object(row, '', 0, undefined);
    } finally {
      this.#seen = undefined;
    }
  }

  /** Whether the row is only checked. */
  #checked(name: string, field: Field, isCategory: boolean): boolean {
    if (!this.#seen) return false;
    const inside = Math.max(0, field.inside);
    const source = isCategory ? categorySource(field.name, inside) : fieldSource(inside);
    const first = this.#seen.get(name) ?? source;
    if (first !== source) throw new DataError(clashMessage({ name, sources: [first, source] }));
    this.#seen.set(name, source);
    return true;
  }

  /** Names inside of objects have a path, as `address.city`; those of `features` have none. */
  #object(object: NamedRow, prefix: string, depth: number, owner: Kind): void {
    if (depth > deepest) throw tooDeep();
    for (const key in object) {
      const value = object[key];
      if (value === undefined) continue;
      if (depth === 0 && key === 'features' && isObject(value)) {
        const listed = this.#listed.get(key);
        if (listed) listed.row = this.#row;
        this.#object(value, '', 1, listed?.kind);
      } else {
        const field = this.#field(prefix === '' ? key : `${prefix}.${key}`, prefix.length);
        this.#value(value, field, depth, owner);
      }
    }
  }

  /** `owner` is the kind of the field of a table that holds the value in a list or a map. */
  #value(value: NamedValue, field: Field, depth: number, owner: Kind): void {
    const { name } = field;
    field.row = this.#row;
    for (const container of field.containers) container.row = this.#row;
    const kind = field.kind ?? (this.#rules.isTable ? owner : undefined);
    if (kind === 'ignored') return;
    if (field.splits && this.#rules.checksRows) this.#doubtful = true;
    if (this.#seen && (kind === 'label' || kind === 'weight')) return;
    if (kind === 'label') this.#sink.label?.(value, name);
    else if (kind === 'weight') this.#sink.weight?.(value, name);
    else if (isArray(value)) {
      if (field.kind === 'number') this.#checkParts('a list', field);
      this.#array(value, field, kind, depth);
    } else if (isObject(value)) {
      if (field.kind) this.#checkParts('an object', field);
      this.#object(value, name, depth + 1, kind);
    } else this.#scalar(value as Scalar, field, kind);
  }

  #field(name: string, inside: number): Field {
    const field = this.#listed.get(name) ?? this.#unlisted.get(name) ?? this.#addField(name);
    const { checksRows } = this.#rules;
    if (field.inside < 0 || (checksRows && field.row !== this.#row)) field.inside = inside;
    if (field.inside === inside) return field;
    if (checksRows) {
      if (!isFeature(field)) return field;
      const sources = [fieldSource(field.inside), fieldSource(inside)] as const;
      throw new DataError(clashMessage({ name, sources }));
    }
    // A field of something else that has the same name: its features come from elsewhere.
    field.row = this.#row;
    return { ...newField(name, field.kind, field.containers), inside };
  }

  #array(values: readonly NamedValue[], field: Field, kind: Kind, depth: number): void {
    if (depth > deepest) throw tooDeep();
    for (const [index, value] of values.entries()) {
      const isOwn =
        typeof value === 'string'
          ? kind !== 'number'
          : kind === 'category' && this.#isCategoryItem(value);
      if (isOwn) this.#scalar((value ?? null) as Scalar, field, kind);
      else {
        const item = this.#field(`${field.name}[${index}]`, field.name.length);
        this.#value(value ?? null, item, depth + 1, kind);
      }
    }
  }

  #isCategoryItem(value: NamedValue): boolean {
    return typeof value === 'number' || (this.#rules.isTable && Object(value) !== value);
  }

  #scalar(value: Scalar, field: Field, kind: Kind): void {
    if (kind === undefined && this.#rules.isClosed) this.#sink.warn?.(unknownField(field));
    else if (this.#isMissing(value, field, kind)) this.#missing(field);
    else if (kind === 'category' || (kind === undefined && typeof value === 'string')) {
      this.#category(value as string | number | boolean, field);
    } else this.#number(value as string | number | boolean, field);
  }

  #isMissing(value: Scalar, { name }: Field, kind: Kind): boolean {
    const { isTable } = this.#rules;
    if (value === null) return true;
    if (typeof value === 'number') {
      return this.#missingValues.hasNumber(value) || (isTable && Number.isNaN(value));
    }
    if (typeof value === 'boolean') {
      return kind === 'category' && this.#missingValues.hasText(`${value}`, name, kind);
    }
    return this.#missingValues.hasText(isTable ? value.trim() : value, name, kind);
  }

  #number(value: string | number | boolean, field: Field): void {
    const number = typeof value === 'string' ? fieldNumber(value, field) : Number(value);
    if (!(Math.abs(number) <= largestValue)) {
      const found = `${quote(field.name)}: ${typeof value === 'string' ? quote(value) : number}`;
      const wanted = field.date
        ? 'a date; expected one like 2024-12-31'
        : 'a number; expected a number';
      throw new DataError(
        Number.isNaN(number)
          ? `${found} is not ${wanted}`
          : `${found} is too large; expected a number below 3.4e38`,
      );
    }
    if (this.#checked(field.name, field, false)) return;
    if (field.number === unknown) {
      field.number = this.#sink.column(field.name, field, false);
    }
    if (field.number >= 0) this.#sink.value(field.number, number);
    else this.#checkUse(field, `the ${typeof value} ${value}`, 'categories');
  }

  #category(value: string | number | boolean, field: Field): void {
    const text = `${value}`;
    if (this.#checked(`${field.name}=${text}`, field, true)) return;
    const column = field.categories.get(text) ?? this.#addCategory(value, text, field);
    if (column >= 0) this.#sink.value(column, 1);
    else if (field.kind === undefined) this.#checkUse(field, quote(text), 'number');
    else if (this.#rules.isTable) {
      this.#sink.warn?.(`${quote(field.name)}: ${quote(text)} is not in the training data`);
    }
  }

  #missing(field: Field): void {
    const { missing } = this.#rules;
    if (missing === 'error') {
      throw new MissingValueError(`${quote(field.name)} has no value; expected one`);
    }
    if (missing === 'zero' || this.#checked(`${field.name}=?`, field, true)) return;
    if (field.absence === unknown) {
      field.absence = this.#sink.column(`${field.name}=?`, field, true);
    }
    if (field.absence >= 0) this.#sink.value(field.absence, 1);
    else if (field.kind === undefined) this.#checkUse(field, 'null');
    else this.#warnNeverMissing(field);
  }

  #warnNeverMissing({ name, date }: Field): void {
    const taken = date ? ': taken for 1970-01-01' : '';
    this.#sink.warn?.(
      `${quote(name)} has no value, which never happened in the training data${taken}`,
    );
  }

  /** Refuses a value of the wrong type in a field that is not listed; warns of an unknown field. */
  #checkUse(field: Field, found: string, other?: 'number' | 'categories'): void {
    const features = this.#sink.featuresOf?.(field.name);
    if (!features) return;
    if (other && features[other]) {
      const wanted = other === 'number' ? 'a number' : 'a text';
      throw new DataError(`${quote(field.name)}: found ${found}; expected ${wanted}`);
    }
    if (!features.number && !features.categories) this.#sink.warn?.(unknownField(field));
    else if (other === undefined) this.#warnNeverMissing(field);
  }

  /** Refuses a list or an object where the training data had none. */
  #checkParts(found: string, { name, kind }: Field): void {
    if (this.#sink.featuresOf?.(name).parts !== false) return;
    const wanted = kind === 'number' ? 'a number' : 'a text';
    throw new DataError(`${quote(name)}: found ${found}; expected ${wanted}`);
  }

  #addField(name: string): Field {
    checkText(name);
    const containers = [...name.matchAll(/[=.[]/g)].flatMap(({ index }) => {
      return this.#listed.get(name.slice(0, index)) ?? [];
    });
    const field = newField(name, undefined, containers);
    if (this.#remember(name)) this.#unlisted.set(name, field);
    return field;
  }

  #addCategory(value: string | number | boolean, text: string, field: Field): number {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const found = `${quote(field.name)}: ${text}`;
      throw new DataError(`${found} has more than 53 bits; expected a text for a category`);
    }
    checkText(text);
    const column = this.#sink.column(`${field.name}=${text}`, field, true);
    if (this.#remember(text)) field.categories.set(text, column);
    return column;
  }

  #remember(text: string): boolean {
    if (text.length > rememberedLength) return false;
    this.#remembered += 1;
    if (this.#remembered > rememberedNames) {
      this.#unlisted.clear();
      for (const { categories } of this.#listed.values()) categories.clear();
      this.#remembered = 1;
    }
    return true;
  }
}

function newField(name: string, kind: Kind, containers: readonly Field[] = []): Field {
  const columns = { number: unknown, absence: unknown, categories: new Map<string, number>() };
  const splits = name.includes('=', 1);
  return { name, kind, ...columns, containers, row: 0, splits, inside: -1 };
}

function unknownField({ name }: Field): string {
  return `${quote(name)} is not in the training data`;
}

function isFeature({ kind }: Field): boolean {
  return kind === undefined || kind === 'number' || kind === 'category';
}

function tooDeep(): DataError {
  return new DataError(`nested deeper than ${deepest} levels`);
}

/** Half of a surrogate pair, which an escape can write, has no UTF-8: two names would become one. */
export function checkText(text: string): void {
  if (!/\p{Surrogate}/u.test(text)) return;
  throw new DataError(`${quote(text)} is half of a character of two \\u escapes; expected both`);
}

function isArray(value: NamedValue): value is readonly NamedValue[] {
  return Array.isArray(value);
}

function isObject(value: NamedValue): value is NamedRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { DataError, UsageError } from '../../errors.ts';
import type { RecipeField } from '../dataset.ts';
import { categorySource, fieldSource } from '../fields/feature-source.ts';
import {
  datesOf,
  defaultLabel,
  type FieldOptions,
  isLabelOptional,
  labelNameList,
  numberOf,
} from '../fields/options.ts';
import { RowBuilder } from '../fields/row-builder.ts';
import {
  checkText,
  type FeatureSink,
  MissingValueError,
  type NamedRow,
  type NamedValue,
  RowEncoder,
} from '../fields/row-encoder.ts';
import { type RowRules, rowRules } from '../fields/row-rules.ts';
import { LineError, listNames, quote } from '../read/line-error.ts';
import type { TextRows } from './csv.ts';
import { checkEncoding, textOf } from './records.ts';

const expected = 'expected an object like {"label": 1, "age": 30}';

/** Reads lines with an object each. Throws a LineError for the first that cannot be read. */
export function parseJsonLines(text: Uint8Array, plan: ObjectPlan): TextRows {
  checkEncoding(text);
  const rows = new ObjectRows(plan);
  const lines = textOf(text, 0, text.length);
  let line = 0;
  for (let start = 0; start < lines.length; ) {
    const found = lines.indexOf('\n', start);
    const end = found < 0 ? lines.length : found;
    line += 1;
    const record = lines.slice(start, end);
    if (record.trim() !== '') rows.add(objectOf(record, line), line);
    start = end + 1;
  }
  const found = { rows: rows.builder.take(), lines: line };
  rows.builder.end();
  return found;
}

export function objectOf(record: string, line: number): object {
  let value: unknown;
  try {
    value = JSON.parse(record);
  } catch {
    throw new LineError(line, `not JSON; ${expected}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const found = Array.isArray(value) ? 'a JSON array' : `the JSON value ${quote(record.trim())}`;
  throw new LineError(line, `${found}; ${expected}`);
}

/** Rows of objects: features by the row encoder, labels and weights by the rules of training data. */
class ObjectRows implements FeatureSink {
  readonly builder: RowBuilder;
  readonly #plan: ObjectPlan;
  readonly #encoder: RowEncoder;
  #labelled = false;
  #weighted = false;

  constructor(plan: ObjectPlan) {
    this.#plan = plan;
    this.builder = new RowBuilder([], plan.textLabels);
    this.#encoder = new RowEncoder(plan, this);
  }

  add(object: object, line: number): void {
    this.#labelled = false;
    this.#weighted = false;
    try {
      this.#encoder.encode(object as NamedRow);
      if (!this.#labelled && !this.#plan.labelOptional) {
        const name = quote(this.#plan.label ?? 'label');
        throw new DataError(`no label ${name}; expected one in every line`);
      }
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      const isMissing = error instanceof MissingValueError;
      const hint = isMissing ? ' (--missing indicator and --missing zero accept them)' : '';
      throw new LineError(line, `${error.message}${hint}`);
    }
    this.builder.endRow();
  }

  column(name: string, field: { name: string; inside: number }, isCategory: boolean): number {
    // Of other data a feature may come from different sources, though not in one row.
    if (this.#plan.checksRows) return this.builder.column(name);
    // A field that no row has had is inside of nothing.
    const inside = Math.max(0, field.inside);
    const source = isCategory ? categorySource(field.name, inside) : fieldSource(inside);
    return this.builder.column(name, source);
  }

  value(column: number, value: number): void {
    this.builder.value(column, value);
  }

  label(value: NamedValue, name: string): void {
    if (value === null || value === '') return;
    if (this.#labelled) throw new DataError(`two values of the label ${quote(name)}; expected one`);
    this.#labelled = true;
    // Several labels are one text with commas, as in the other formats.
    if (Array.isArray(value)) {
      const labels = value.map((one) => (one === null ? '' : `${oneLabel(one, name)}`));
      this.builder.labelText(labels.join(','));
      return;
    }
    const label = oneLabel(value, name);
    const number = typeof label === 'string' ? numberOf(label) : Number(label);
    if (Number.isFinite(number)) this.builder.label(number);
    else this.builder.labelText(`${label}`);
  }

  weight(value: NamedValue, name: string): void {
    const weight = typeof value === 'number' ? value : NaN;
    if (!(weight >= 0 && weight < Infinity)) {
      const found = `weight ${described(value)} of ${quote(name)}`;
      throw new DataError(`${found}; expected a number of at least 0`);
    }
    if (this.#weighted)
      throw new DataError(`two values of the weight ${quote(name)}; expected one`);
    this.#weighted = true;
    this.builder.weight(weight);
  }
}

function oneLabel(value: NamedValue, name: string): string | number | boolean {
  if (typeof value === 'object') {
    const found = Array.isArray(value) ? 'a list in a list' : 'an object';
    throw new DataError(`the label ${quote(name)} is ${found}; expected a number or a text`);
  }
  const label = value as string | number | boolean;
  if (Math.abs(typeof label === 'string' ? numberOf(label) : Number(label)) === Infinity) {
    const found = `the label ${quote(name)}, ${quote(`${label}`)}`;
    throw new DataError(`${found}, is too large; expected a number below 1.8e308`);
  }
  if (typeof label === 'string') checkText(label);
  return label;
}

/** Lists and objects may be too deep to be shown. */
function described(value: unknown): string {
  if (typeof value !== 'object' || value === null) return quote(JSON.stringify(value) ?? '');
  return Array.isArray(value) ? '[…]' : '{…}';
}

/** How objects are read. Plain data, which threads receive. */
export interface ObjectPlan extends RowRules {
  readonly label: string | undefined;
  readonly textLabels: boolean;
  readonly labelOptional: boolean;
}

/** Looks at the first lines of a file. */
export function planObjects(head: Uint8Array, name: string, options: FieldOptions): ObjectPlan {
  const { like, textLabels = false, missing, missingValues = [] } = options;
  const { keys, whole } = keysOf(head);
  const label = labelKey(keys, whole, name, options);
  const weight = weightKey(keys, name, options);
  const kinds = new Map<string, RecipeField['kind']>();
  const dates = datesOf(like);
  for (const { name: key, kind } of like?.recipe?.fields ?? []) {
    // What the labels and weights of the other data were is no feature of this data either.
    kinds.set(key, kind === 'number' || kind === 'category' ? kind : 'ignored');
  }
  for (const key of options.categorical ?? []) kinds.set(key, 'category');
  for (const key of options.ignore ?? []) kinds.set(key, 'ignored');
  if (weight !== undefined) kinds.set(weight, 'weight');
  // Last, also where another option named it: that tells these fields from those of a table.
  if (label !== undefined) {
    kinds.delete(label);
    kinds.set(label, 'label');
  }
  return {
    ...rowRules(like ?? {}, missingValues),
    missing: like?.recipe?.missing ?? missing ?? 'indicator',
    fields: [...kinds].map(([key, kind]) => ({
      name: key,
      kind,
      ...(kind === 'number' && dates.has(key) && { date: true as const }),
    })),
    label,
    textLabels: textLabels || like?.labelNames !== undefined,
    labelOptional: isLabelOptional(options),
  };
}

/** Which keys have the label and the weight. */
export function objectNotice({ fields, label }: ObjectPlan): string {
  const weight = fields.find(({ kind }) => kind === 'weight')?.name;
  const weighted = weight === undefined ? '' : `, weight ${JSON.stringify(weight)}`;
  return `${label === undefined ? 'no label' : `label ${JSON.stringify(label)}`}${weighted}`;
}

/** Keys of the outermost objects; `whole` says that every line is an object. */
function keysOf(head: Uint8Array): { keys: string[]; whole: boolean } {
  const keys = new Set<string>();
  for (const line of textOf(head, 0, head.length).split('\n')) {
    if (line.trim() === '') continue;
    try {
      for (const key of Object.keys(objectOf(line, 0))) keys.add(key);
    } catch (error) {
      // The reader of the rows reports the line.
      if (error instanceof LineError) return { keys: [...keys], whole: false };
      throw error;
    }
  }
  return { keys: [...keys], whole: true };
}

function labelKey(
  keys: readonly string[],
  whole: boolean,
  name: string,
  options: FieldOptions,
): string | undefined {
  const { label, like } = options;
  if (typeof label === 'number') {
    throw new UsageError(`${name}: label ${label}: keys of JSON have no numbers; expected a name`);
  }
  if (label !== undefined) return label;
  const learned = like?.recipe?.fields?.find(({ kind }) => kind === 'label');
  if (learned) return learned.name;
  const found = defaultLabel(keys, options);
  if (found >= 0) return keys[found];
  if (like || !whole || keys.length === 0) return undefined;
  throw new DataError(
    `${name}: no key called ${labelNameList} (name it with --label KEY); the keys are ${listNames(keys)}`,
  );
}

function weightKey(
  keys: readonly string[],
  name: string,
  options: FieldOptions,
): string | undefined {
  const { weight, like, ignore = [], categorical = [], label } = options;
  if (typeof weight === 'number') {
    throw new UsageError(
      `${name}: weight ${weight}: keys of JSON have no numbers; expected a name`,
    );
  }
  if (weight !== undefined) return weight;
  const fields = like?.recipe?.fields;
  if (fields) return fields.find(({ kind }) => kind === 'weight')?.name;
  const isTaken = [...ignore, ...categorical, label].includes('weight');
  return keys.includes('weight') && !isTaken ? 'weight' : undefined;
}

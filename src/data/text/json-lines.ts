import { RowBuilder } from '../fields/row-builder.ts';
import { largestValue, numberOf, numbersAmong } from '../fields/table-rows.ts';
import { LineError, quote } from '../read/line-error.ts';
import type { TextRows } from './csv.ts';
import { checkEncoding, textOf } from './decode.ts';
import type { ObjectPlan } from './json-plan.ts';

const deepest = 32;
const expected = 'expected one like {"label": 1, "age": 30}';

/** What is known of a key by the path that leads to it. */
interface Field {
  readonly name: string;
  readonly role: 'value' | 'category' | 'ignored' | 'label' | 'weight';
  /** Local columns of the number and of the missing value; -1 before they are met. */
  number: number;
  absence: number;
  /** Local columns of the categories. */
  readonly categories: Map<string, number>;
}

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
    throw new LineError(line, `not a JSON object; ${expected}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const found = Array.isArray(value) ? 'a JSON array' : `the JSON value ${quote(record.trim())}`;
  throw new LineError(line, `${found}; ${expected}`);
}

class ObjectRows {
  readonly builder: RowBuilder;
  readonly #plan: ObjectPlan;
  readonly #fields = new Map<string, Field>();
  readonly #roles: ReadonlyMap<string, Field['role']>;
  readonly #missingTexts: ReadonlySet<string>;
  readonly #missingNumbers: ReadonlySet<number>;
  readonly #keys: ReadonlySet<string> | undefined;
  #line = 0;
  #labelled = false;
  #weighted = false;

  constructor(plan: ObjectPlan) {
    this.#plan = plan;
    this.builder = new RowBuilder([], plan.textLabels);
    this.#roles = new Map(plan.roles);
    this.#missingTexts = new Set(plan.missingTexts);
    this.#missingNumbers = numbersAmong(plan.missingTexts);
    this.#keys = plan.keys && new Set(plan.keys);
  }

  add(object: object, line: number): void {
    this.#line = line;
    this.#labelled = false;
    this.#weighted = false;
    this.#object(object as Record<string, unknown>, '', 0);
    if (!this.#labelled) this.#absentLabel();
    this.builder.endRow();
  }

  #object(object: Record<string, unknown>, prefix: string, depth: number): void {
    if (depth > deepest) this.#fail(`nested deeper than ${deepest} levels`);
    for (const key in object) {
      const value = object[key];
      // A row may keep its values apart from the label; their names are the inner ones.
      const inner = depth === 0 && key === 'features' && isObject(value);
      if (inner) this.#object(value, '', depth + 1);
      else if (depth === 0 && this.#keys && !this.#keys.has(key)) continue;
      else this.#value(value, prefix === '' ? key : `${prefix}.${key}`, depth);
    }
  }

  #value(value: unknown, path: string, depth: number): void {
    const field = this.#fields.get(path) ?? this.#meet(path);
    const { role } = field;
    if (role === 'ignored') return;
    if (role === 'label') this.#label(value, path);
    else if (role === 'weight') this.#weight(value, path);
    else if (value === null) this.#missing(field);
    else if (Array.isArray(value)) this.#array(value, field, depth);
    else if (typeof value === 'object') {
      this.#object(value as Record<string, unknown>, path, depth + 1);
    } else if (typeof value === 'string' || role === 'category') {
      this.#category(this.#categoryText(value as string | number | boolean, field), field);
    } else if (this.#missingNumbers.has(value as number)) this.#missing(field);
    else this.#number(Number(value), field);
  }

  #array(values: readonly unknown[], field: Field, depth: number): void {
    if (depth > deepest) this.#fail(`nested deeper than ${deepest} levels`);
    for (const [place, value] of values.entries()) {
      if (typeof value === 'string' || (field.role === 'category' && typeof value === 'number')) {
        this.#category(this.#categoryText(value, field), field);
      } else this.#value(value, `${field.name}[${place}]`, depth + 1);
    }
  }

  #number(number: number, field: Field): void {
    if (!(Math.abs(number) <= largestValue)) {
      const value = `${quote(field.name)}: ${number}`;
      this.#fail(`${value} is too large; expected a number below 3.4e38`);
    }
    if (field.number < 0) field.number = this.builder.column(field.name);
    this.builder.value(field.number, number);
  }

  #categoryText(value: string | number | boolean, field: Field): string {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      const found = `${quote(field.name)}: ${value}`;
      this.#fail(`${found} cannot be told from its neighbours; expected a text for a category`);
    }
    return `${value}`;
  }

  #category(text: string, field: Field): void {
    if (this.#missingTexts.has(text)) {
      this.#missing(field);
      return;
    }
    let column = field.categories.get(text);
    if (column === undefined) {
      this.#checkText(text);
      column = this.builder.column(`${field.name}=${text}`);
      field.categories.set(text, column);
    }
    this.builder.value(column, 1);
  }

  #missing(field: Field): void {
    const { missing } = this.#plan;
    if (missing === 'zero') return;
    if (missing === 'error') {
      const found = `${quote(field.name)} has no value`;
      throw new LineError(
        this.#line,
        `${found}; expected one (--missing indicator or zero accept that)`,
      );
    }
    if (field.absence < 0) field.absence = this.builder.column(`${field.name}=?`);
    this.builder.value(field.absence, 1);
  }

  #label(value: unknown, path: string): void {
    if (value === null || value === '') return;
    if (this.#labelled) this.#fail(`two values of the label ${quote(path)}; expected one`);
    this.#labelled = true;
    // Several labels are one text with commas, as in the other formats.
    if (Array.isArray(value)) {
      const labels = value.map((one) => (one === null ? '' : `${this.#oneLabel(one, path)}`));
      this.builder.labelText(labels.join(','));
      return;
    }
    const label = this.#oneLabel(value, path);
    const number = typeof label === 'string' ? numberOf(label) : Number(label);
    if (Number.isFinite(number)) this.builder.label(number);
    else this.builder.labelText(`${label}`);
  }

  #oneLabel(value: unknown, path: string): string | number | boolean {
    if (typeof value === 'object') {
      const found = Array.isArray(value) ? 'a list in a list' : 'an object';
      this.#fail(`the label ${quote(path)} is ${found}; expected a number or a text`);
    }
    const label = value as string | number | boolean;
    if (Math.abs(typeof label === 'string' ? numberOf(label) : Number(label)) === Infinity) {
      const found = `the label ${quote(path)}, ${quote(`${label}`)}`;
      this.#fail(`${found}, is too large; expected a number below 1.8e308`);
    }
    if (typeof label === 'string') this.#checkText(label);
    return label;
  }

  #absentLabel(): void {
    const { labelOptional, label } = this.#plan;
    if (labelOptional) return;
    throw new LineError(
      this.#line,
      `no label ${quote(label ?? 'label')}; expected one in every line`,
    );
  }

  #weight(value: unknown, path: string): void {
    const weight = typeof value === 'number' ? value : NaN;
    if (!(weight >= 0 && weight < Infinity)) {
      this.#fail(`weight ${described(value)} of ${quote(path)}; expected a number of at least 0`);
    }
    if (this.#weighted) this.#fail(`two values of the weight ${quote(path)}; expected one`);
    this.#weighted = true;
    this.builder.weight(weight);
  }

  #meet(name: string): Field {
    this.#checkText(name);
    const role = this.#roles.get(name) ?? 'value';
    const field: Field = { name, role, number: -1, absence: -1, categories: new Map() };
    this.#fields.set(name, field);
    return field;
  }

  /** Halves of characters, which an escape can write, have no UTF-8: two names would become one. */
  #checkText(text: string): void {
    if (text.isWellFormed()) return;
    this.#fail(`${quote(text)} is half of a character of two \\u escapes; expected both`);
  }

  #fail(message: string): never {
    throw new LineError(this.#line, message);
  }
}

/** Lists and objects may be too deep to be shown. */
function described(value: unknown): string {
  if (typeof value !== 'object' || value === null) return quote(JSON.stringify(value) ?? '');
  return Array.isArray(value) ? '[…]' : '{…}';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { LineError, quote } from '../complaint.ts';
import { RowBuilder } from '../fields/row-builder.ts';
import { largestValue, numberOf } from '../fields/table-rows.ts';
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
  readonly #keys: ReadonlySet<string> | undefined;
  #line = 0;
  #labelled = false;

  constructor(plan: ObjectPlan) {
    this.#plan = plan;
    this.builder = new RowBuilder([], plan.textLabels);
    this.#roles = new Map(plan.roles);
    this.#missingTexts = new Set(plan.missingTexts);
    this.#keys = plan.keys && new Set(plan.keys);
  }

  add(object: object, line: number): void {
    this.#line = line;
    this.#labelled = false;
    this.#object(object as Record<string, unknown>, '', 0);
    if (!this.#labelled) this.#absentLabel();
    this.builder.endRow();
  }

  #object(object: Record<string, unknown>, prefix: string, depth: number): void {
    if (depth > deepest) throw new LineError(this.#line, `nested deeper than ${deepest} levels`);
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
      this.#category(`${value as string | number | boolean}`, field);
    } else this.#number(Number(value), field);
  }

  #array(values: readonly unknown[], field: Field, depth: number): void {
    if (depth > deepest) throw new LineError(this.#line, `nested deeper than ${deepest} levels`);
    for (const [place, value] of values.entries()) {
      if (typeof value === 'string' || (field.role === 'category' && typeof value === 'number')) {
        this.#category(`${value}`, field);
      } else this.#value(value, `${field.name}[${place}]`, depth + 1);
    }
  }

  #number(number: number, field: Field): void {
    if (!(Math.abs(number) <= largestValue)) {
      const value = `${quote(field.name)}: ${number}`;
      throw new LineError(this.#line, `${value} is too large; expected a number below 3.4e38`);
    }
    if (field.number < 0) field.number = this.builder.column(field.name);
    this.builder.value(field.number, number);
  }

  #category(text: string, field: Field): void {
    if (this.#missingTexts.has(text)) {
      this.#missing(field);
      return;
    }
    let column = field.categories.get(text);
    if (column === undefined) {
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
    // Several labels are one text with commas, as in the other formats.
    const text = Array.isArray(value) ? value.join(',') : value;
    if (text === null) return;
    if (typeof text === 'object') {
      throw new LineError(
        this.#line,
        `the label ${quote(path)} is an object; expected a number or a text`,
      );
    }
    this.#labelled = true;
    const number = typeof text === 'string' ? numberOf(text) : Number(text);
    if (Number.isFinite(number) && !Array.isArray(value)) this.builder.label(number);
    else this.builder.labelText(typeof text === 'string' ? text : `${number}`);
  }

  #absentLabel(): void {
    const { textLabels, labelOptional, label } = this.#plan;
    if (textLabels || labelOptional) return;
    throw new LineError(
      this.#line,
      `no label ${quote(label ?? 'label')}; expected one in every line`,
    );
  }

  #weight(value: unknown, path: string): void {
    const weight = typeof value === 'number' ? value : NaN;
    if (!(weight >= 0 && weight < Infinity)) {
      const found = `weight ${quote(JSON.stringify(value) ?? '')} of ${quote(path)}`;
      throw new LineError(this.#line, `${found}; expected a number of at least 0`);
    }
    this.builder.weight(weight);
  }

  #meet(name: string): Field {
    const role = this.#roles.get(name) ?? 'value';
    const field: Field = { name, role, number: -1, absence: -1, categories: new Map() };
    this.#fields.set(name, field);
    return field;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

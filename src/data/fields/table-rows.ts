import { LineError, quote } from '../read/line-error.ts';
import type { NamedRows } from './named-rows.ts';
import { RowBuilder } from './row-builder.ts';
import { seedNames, type TablePlan } from './table-plan.ts';

/** A value of a record; what is no such value becomes one of these first. */
export type FieldValue = number | bigint | boolean | string | null | undefined;

export const largestValue = 3.4028234663852886e38;
const decimal = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i;

/** The number that a text is, or NaN. */
export function numberOf(text: string): number {
  return decimal.test(text) ? Number(text) : NaN;
}

/** The numbers among texts: -999 may mean a missing value, as a text and as a number. */
export function numbersAmong(texts: readonly string[]): ReadonlySet<number> {
  return new Set(texts.map(numberOf).filter(Number.isFinite));
}

/** Writes records of a table as rows, the way a plan says. Faults are LineErrors with the record. */
export class TableRows {
  readonly #plan: TablePlan;
  readonly #builder: RowBuilder;
  readonly #missingTexts: ReadonlySet<string>;
  readonly #missingNumbers: ReadonlySet<number>;
  /** By field: the local columns of its number and of its missing value. */
  #numbers = new Int32Array(0);
  #absences = new Int32Array(0);
  #record = 0;

  constructor(plan: TablePlan) {
    this.#plan = plan;
    this.#builder = new RowBuilder(seedNames(plan), plan.textLabels);
    this.#missingTexts = new Set(plan.missingTexts);
    this.#missingNumbers = numbersAmong(plan.missingTexts);
    this.#restart();
  }

  get builder(): RowBuilder {
    return this.#builder;
  }

  /** Adds a record with a value for each field; `record` is its number, or line, from 1. */
  add(values: ArrayLike<FieldValue>, record: number): void {
    this.#record = record;
    const { fields } = this.#plan;
    for (let field = 0; field < fields.length; field += 1) this.put(field, values[field], record);
    this.#builder.endRow();
  }

  /** One value of the row; `endRow` of the builder ends the row. */
  put(field: number, value: FieldValue, record: number): void {
    this.#record = record;
    const { kind } = this.#plan.fields[field];
    if (kind === 'ignored') return;
    const absent = this.isMissing(value);
    if (kind === 'label') this.#label(field, absent ? null : value!);
    else if (kind === 'weight') this.#weight(field, value);
    else if (absent) this.missing(field, record);
    else if (kind === 'category') this.#builder.value(this.categoryColumn(field, `${value!}`), 1);
    else this.#number(field, value!);
  }

  isMissing(value: FieldValue): boolean {
    if (value === null || value === undefined) return true;
    if (typeof value === 'string') return this.#missingTexts.has(value.trim());
    if (typeof value === 'number' && Number.isNaN(value)) return true;
    return this.#missingNumbers.size > 0 && this.#missingNumbers.has(Number(value));
  }

  /** The local column of a field of numbers. */
  numberColumn(field: number): number {
    return this.#numbers[field];
  }

  /** The local column of a category. */
  categoryColumn(field: number, text: string): number {
    return this.#builder.column(`${this.#plan.fields[field].name}=${text}`);
  }

  missing(field: number, record: number): void {
    const { missing, fields } = this.#plan;
    if (missing === 'zero') return;
    if (missing === 'error') {
      const column = quote(fields[field].name);
      throw new LineError(
        record,
        `column ${column} has no value; expected one (--missing indicator or zero accept that)`,
      );
    }
    if (this.#absences[field] < 0) {
      this.#absences[field] = this.#builder.column(`${fields[field].name}=?`);
    }
    this.#builder.value(this.#absences[field], 1);
  }

  take(): NamedRows {
    const rows = this.#builder.take();
    this.#restart();
    return rows;
  }

  #restart(): void {
    const { fields } = this.#plan;
    const isNumber = ({ kind }: { kind: string }) => kind === 'number';
    this.#numbers = Int32Array.from(fields, (field) =>
      isNumber(field) ? this.#builder.column(field.name) : -1,
    );
    this.#absences = new Int32Array(fields.length).fill(-1);
  }

  #number(field: number, value: NonNullable<FieldValue>): void {
    const number = typeof value === 'string' ? numberOf(value) : Number(value);
    if (!(Math.abs(number) <= largestValue)) this.#refuse(field, value, number);
    this.#builder.value(this.#numbers[field], number);
  }

  #refuse(field: number, value: NonNullable<FieldValue>, number: number): never {
    const { name } = this.#plan.fields[field];
    const found = quote(`${value}`);
    const column = `column ${quote(name)}: ${found}`;
    if (!Number.isNaN(number)) {
      throw new LineError(this.#record, `${column} is too large; expected a number below 3.4e38`);
    }
    const ways = `--categorical ${name} makes categories of all, --missing-values ${value} calls it missing`;
    throw new LineError(
      this.#record,
      `${column} is not a number, as the values before are (${clipWays(ways)})`,
    );
  }

  #label(field: number, value: NonNullable<FieldValue> | null): void {
    const { labelOptional, fields } = this.#plan;
    if (value === null) {
      // A row without one has the empty text for a label, or none.
      if (labelOptional) return;
      const column = quote(fields[field].name);
      throw new LineError(this.#record, `no label in column ${column}; expected one`);
    }
    const number = typeof value === 'string' ? numberOf(value) : Number(value);
    if (Math.abs(number) === Infinity) {
      const found = `label ${quote(`${value}`)} in column ${quote(fields[field].name)}`;
      throw new LineError(this.#record, `${found} is too large; expected a number below 1.8e308`);
    }
    if (Number.isNaN(number)) this.#builder.labelText(`${value}`);
    else this.#builder.label(number);
  }

  #weight(field: number, value: FieldValue): void {
    const number = typeof value === 'string' ? numberOf(value) : Number(value ?? NaN);
    if (!(number >= 0 && number < Infinity)) {
      const column = quote(this.#plan.fields[field].name);
      throw new LineError(
        this.#record,
        `weight ${quote(`${value ?? ''}`)} in column ${column}; expected a number of at least 0`,
      );
    }
    this.#builder.weight(number);
  }
}

function clipWays(ways: string): string {
  return ways.length > 200 ? `${ways.slice(0, 200)}…` : ways;
}

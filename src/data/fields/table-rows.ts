import { LineError, quote } from '../read/line-error.ts';
import { categorySource } from './feature-source.ts';
import { fieldNumber, MissingValues, numberOf } from './options.ts';
import { type NamedRows, RowBuilder } from './row-builder.ts';
import { largestValue } from './row-encoder.ts';
import { seedNames, type TablePlan } from './table-plan.ts';

/** A value of a record; other types are converted first. */
export type FieldValue = number | bigint | boolean | string | null | undefined;

/** Writes records of a table as rows, the way a plan says. Faults are LineErrors with the record. */
export class TableRows {
  readonly #plan: TablePlan;
  readonly builder: RowBuilder;
  readonly #missingValues: MissingValues;
  /** By field: the local columns of its number and of its missing value. */
  #numbers = new Int32Array(0);
  #absences = new Int32Array(0);
  #record = 0;

  constructor(plan: TablePlan) {
    this.#plan = plan;
    this.builder = new RowBuilder(seedNames(plan), plan.textLabels);
    this.#missingValues = new MissingValues(plan);
    this.#restart();
  }

  /** Ends the row; columns that the data lacks but the training data has are missing values. */
  endRow(record: number): void {
    const { lacking = [], missing } = this.#plan;
    for (const name of missing === 'zero' ? [] : lacking) {
      if (missing === 'error') this.#failMissing(name, record);
      this.builder.value(this.builder.column(`${name}=?`, categorySource(name)), 1);
    }
    this.builder.endRow();
  }

  /** One value of the row. */
  put(field: number, value: FieldValue, record: number): void {
    this.#record = record;
    const { kind } = this.#plan.fields[field];
    if (kind === 'ignored') return;
    const absent = this.isMissing(field, value);
    if (kind === 'label') this.#label(field, absent ? null : value!);
    else if (kind === 'weight') this.#weight(field, value);
    else if (absent) this.missing(field, record);
    else if (kind === 'category') this.builder.value(this.categoryColumn(field, `${value!}`), 1);
    else this.#number(field, value!);
  }

  isMissing(field: number, value: FieldValue): boolean {
    if (value === null || value === undefined) return true;
    if (typeof value === 'string') {
      const { name, kind } = this.#plan.fields[field];
      return this.#missingValues.hasText(value.trim(), name, kind);
    }
    if (typeof value === 'number' && Number.isNaN(value)) return true;
    return this.#missingValues.hasNumbers && this.#missingValues.hasNumber(Number(value));
  }

  /** The local column of a field of numbers. */
  numberColumn(field: number): number {
    return this.#numbers[field];
  }

  /** The local column of a category. */
  categoryColumn(field: number, text: string): number {
    const { name } = this.#plan.fields[field];
    return this.builder.column(`${name}=${text}`, categorySource(name));
  }

  missing(field: number, record: number): void {
    const { missing, fields } = this.#plan;
    if (missing === 'zero') return;
    if (missing === 'error') this.#failMissing(fields[field].name, record);
    if (this.#absences[field] < 0) {
      const { name } = fields[field];
      this.#absences[field] = this.builder.column(`${name}=?`, categorySource(name));
    }
    this.builder.value(this.#absences[field], 1);
  }

  #failMissing(name: string, record: number): never {
    throw new LineError(
      record,
      `column ${quote(name)} has no value; expected one (--missing indicator and --missing zero accept them)`,
    );
  }

  take(): NamedRows {
    const rows = this.builder.take();
    this.#restart();
    return rows;
  }

  #restart(): void {
    const { fields } = this.#plan;
    const isNumber = ({ kind }: { kind: string }) => kind === 'number';
    this.#numbers = Int32Array.from(fields, (field) =>
      isNumber(field) ? this.builder.column(field.name) : -1,
    );
    this.#absences = new Int32Array(fields.length).fill(-1);
  }

  #number(field: number, value: NonNullable<FieldValue>): void {
    const number =
      typeof value === 'string' ? fieldNumber(value, this.#plan.fields[field]) : Number(value);
    if (!(Math.abs(number) <= largestValue)) this.#failNumber(field, value, number);
    this.builder.value(this.#numbers[field], number);
  }

  #failNumber(field: number, value: NonNullable<FieldValue>, number: number): never {
    const { name } = this.#plan.fields[field];
    const found = quote(`${value}`);
    const column = `column ${quote(name)}: ${found}`;
    if (!Number.isNaN(number)) {
      throw new LineError(this.#record, `${column} is too large; expected a number below 3.4e38`);
    }
    if (this.#plan.fields[field].date) {
      throw new LineError(
        this.#record,
        `${column} is not a date, as the values before are; expected one like 2024-12-31`,
      );
    }
    const hint = `--categorical ${name} makes categories of all, --missing-values ${value} calls it missing`;
    throw new LineError(
      this.#record,
      `${column} is not a number, as the values before are (${clipHint(hint)})`,
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
    if (Number.isNaN(number)) this.builder.labelText(`${value}`);
    else this.builder.label(number);
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
    this.builder.weight(number);
  }
}

function clipHint(hint: string): string {
  return hint.length > 200 ? `${hint.slice(0, 200)}…` : hint;
}

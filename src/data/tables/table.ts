import { DataError } from '../../errors.ts';
import type { RecipeField } from '../dataset.ts';
import { categorySource, fieldSource } from '../fields/feature-source.ts';
import { type FieldOptions, missingValuesOf, recipeOf } from '../fields/options.ts';
import { largestValue } from '../fields/row-encoder.ts';
import { planNotices, planTable, type TablePlan } from '../fields/table-plan.ts';
import { type FieldValue, TableRows } from '../fields/table-rows.ts';
import type { Collector } from '../read/collector.ts';
import { LineError, quote } from '../read/line-error.ts';
import { checkNamedFormat } from '../read/named-plans.ts';
import type { PartsOptions } from '../read/pieces.ts';

/** A list is several categories or a vector; a map is named numbers. */
export type TableValue = FieldValue | readonly FieldValue[] | ReadonlyMap<string, FieldValue>;

/** What a column of a table holds; dates and times are numbers. */
export type ColumnKind = 'number' | 'text' | 'texts' | 'numbers' | 'map';

export interface TableColumn {
  readonly name: string;
  /** Undefined if no feature can be made of it. */
  readonly kind?: ColumnKind;
  /** As the source calls it, for messages. */
  readonly type: string;
  /** Converts a value that is not null; absent where values need no conversion. */
  readonly convert?: (value: unknown) => TableValue;
}

/** Converts a value of a list or map, which may be null. */
export function convertItem(
  value: unknown,
  convert: ((value: unknown) => FieldValue) | undefined,
): FieldValue {
  return convert && value !== null && value !== undefined ? convert(value) : (value as FieldValue);
}

/** The next rows, by requested column. */
export interface TableBatch {
  readonly rows: number;
  readonly columns: readonly ArrayLike<TableValue>[];
}

/** A table that knows the types of its columns and is read from its first row to its last. */
export interface Table {
  /** What messages call it. */
  readonly title: string;
  readonly columns: readonly TableColumn[];
  /** All rows of the columns with these positions, in memory for some of the rows. */
  batches(positions: readonly number[]): AsyncIterable<TableBatch>;
}

/** Dates and times become days since 1970-01-01 UTC, which float32 holds better than seconds. */
export const secondsPerDay = 86_400;

/** Rows per block: enough that names are seldom numbered, few enough for any memory. */
const rowsPerBlock = 1 << 16;

/** The plan for a table whose types are known. */
function planColumns({ title, columns }: Table, options: FieldOptions): TablePlan {
  const head = {
    title,
    names: columns.map(({ name }) => name),
    isNumeric: (field: number) => !['text', 'texts'].includes(columns[field].kind ?? ''),
  };
  // In a table a missing value is null: the text NA may be a category like any other.
  const plan = { ...planTable(head, options), missingTexts: missingValuesOf(options) };
  for (const [field, { kind }] of plan.fields.entries()) checkRole(title, columns[field], kind);
  return plan;
}

/** The kinds of columns that each role accepts. */
const acceptedKinds: Readonly<Record<RecipeField['kind'], readonly ColumnKind[]>> = {
  ignored: [],
  number: ['number', 'text', 'numbers', 'map'],
  category: ['number', 'text', 'numbers', 'texts'],
  label: ['number', 'text', 'numbers', 'texts'],
  weight: ['number', 'text'],
};

function checkRole(title: string, column: TableColumn, role: RecipeField['kind']): void {
  const { name, kind, type } = column;
  if (role === 'ignored' || (kind && acceptedKinds[role].includes(kind))) return;
  const found = `${title}: column ${quote(name)} is of type ${type}`;
  const use = role === 'label' || role === 'weight' ? role : 'feature';
  throw new DataError(`${found}, which cannot be a ${use} (--ignore ${name} leaves it out)`);
}

/** A list or map of numbers has no feature of its own name. */
function withoutVectors(plan: TablePlan, columns: readonly TableColumn[]): TablePlan {
  const fields = plan.fields.map((field, position): RecipeField => {
    const { kind } = columns[position];
    const isVector = field.kind === 'number' && (kind === 'numbers' || kind === 'map');
    return isVector ? { ...field, kind: 'category' } : field;
  });
  return { ...plan, fields };
}

/** Passes on the rows of tables with the same columns, one table after the other. */
export class TableReader {
  readonly #options: PartsOptions;
  readonly #collector: Collector;
  readonly #first: Table;
  readonly #plan: TablePlan;
  readonly #rows: TableRows;

  /** The first table decides what becomes of the columns; `format` is for messages. */
  constructor(first: Table, format: string, collector: Collector, options: PartsOptions) {
    checkNamedFormat(options, first.title, format);
    this.#options = options;
    this.#collector = collector;
    this.#first = first;
    this.#plan = planColumns(first, options);
    this.#rows = new TableRows(withoutVectors(this.#plan, first.columns));
    collector.isNamed = true;
    collector.recipe = recipeOf(options, this.#plan.fields);
    collector.notices.push(...planNotices(this.#plan, format, options));
  }

  async read(table: Table): Promise<void> {
    const all = this.#plan.fields;
    const fields = [...all.keys()].filter((field) => all[field].kind !== 'ignored');
    const positions = fields.map((field) => this.#positionIn(table, field));
    let record = 0;
    for await (const batch of table.batches(positions)) {
      for (let row = 0; row < batch.rows; row += 1) {
        record += 1;
        this.#add(table, fields, batch, row, record);
        if (this.#rows.builder.rows === rowsPerBlock) await this.#passRows(table);
      }
    }
    if (this.#rows.builder.rows > 0) await this.#passRows(table);
  }

  async #passRows({ title }: Table): Promise<void> {
    await this.#options.takePart(this.#collector.addNamed(this.#rows.take(), title));
  }

  #positionIn(table: Table, field: number): number {
    const { name } = this.#plan.fields[field];
    const { columns, title } = table;
    const position = columns.findIndex((column) => column.name === name);
    if (position < 0) {
      throw new DataError(
        `${title}: no column ${quote(name)}; expected those of ${this.#first.title}`,
      );
    }
    const first = this.#first.columns[field];
    if (columns[position].kind === first.kind) return position;
    const found = `column ${quote(name)} is of type ${columns[position].type}`;
    throw new DataError(`${title}: ${found}; expected ${first.type}, as in ${this.#first.title}`);
  }

  #add(
    table: Table,
    fields: readonly number[],
    { columns }: TableBatch,
    row: number,
    record: number,
  ): void {
    try {
      for (let k = 0; k < fields.length; k += 1) this.#put(fields[k], columns[k][row], record);
      this.#rows.endRow(record);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      throw new DataError(`${table.title}: row ${error.line}: ${error.message}`, { cause: error });
    }
  }

  #put(field: number, value: TableValue, record: number): void {
    if (typeof value !== 'object' || value === null) this.#rows.put(field, value, record);
    else if (value instanceof Map) this.#putNamed(field, value, record);
    else this.#putList(field, value as ArrayLike<FieldValue>, record);
  }

  /** Categories, or labels of the row, or numbers that are features by their positions. */
  #putList(field: number, items: ArrayLike<FieldValue>, record: number): void {
    const { name, kind } = this.#plan.fields[field];
    if (kind === 'label') {
      const labels = Array.from(items, (item) => `${item ?? ''}`);
      this.#rows.builder.labelText(labels.join(','));
      return;
    }
    for (let position = 0; position < items.length; position += 1) {
      if (kind === 'number')
        this.#putNumber(`${name}[${position}]`, items[position], record, name.length);
      else this.#rows.put(field, items[position], record);
    }
  }

  /** The features of a map have its name in front, unless that is `features`. */
  #putNamed(field: number, numbers: ReadonlyMap<string, FieldValue>, record: number): void {
    const { name } = this.#plan.fields[field];
    const prefix = name === 'features' ? '' : `${name}.`;
    const inside = prefix === '' ? 0 : name.length;
    for (const [key, number] of numbers) this.#putNumber(`${prefix}${key}`, number, record, inside);
  }

  /** `inside`: letters of the feature that are the name of the column. */
  #putNumber(feature: string, value: FieldValue, record: number, inside: number): void {
    const { builder } = this.#rows;
    const number = Number(value ?? Number.NaN);
    if (Math.abs(number) <= largestValue) {
      builder.value(builder.column(feature, fieldSource(inside)), number);
      return;
    }
    const { missing } = this.#plan;
    if (missing === 'error' || !Number.isNaN(number)) {
      const found = Number.isNaN(number) ? 'has no value' : `is ${number}`;
      throw new LineError(record, `feature ${quote(feature)} ${found}; expected a finite number`);
    }
    if (missing !== 'indicator') return;
    builder.value(builder.column(`${feature}=?`, categorySource(feature, inside)), 1);
  }
}

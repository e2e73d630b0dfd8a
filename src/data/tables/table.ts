import { DataError } from '../../errors.ts';
import type { DatasetPart, RecipeField } from '../dataset.ts';
import { type FieldOptions, missingValuesOf, recipeOf } from '../fields/options.ts';
import type { NamedRows } from '../fields/row-builder.ts';
import { largestValue } from '../fields/row-encoder.ts';
import { planNotices, planTable, type TablePlan } from '../fields/table-plan.ts';
import { type FieldValue, TableRows } from '../fields/table-rows.ts';
import type { Collector } from '../read/collector.ts';
import { LineError, quote } from '../read/line-error.ts';
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
}

/** Rows that follow those before, by column of those that were asked for. */
export interface TableBatch {
  readonly rows: number;
  readonly columns: readonly ArrayLike<TableValue>[];
}

/** A table that knows the types of its columns and is read from its first row to its last. */
export interface Table {
  /** What messages call it. */
  readonly title: string;
  readonly columns: readonly TableColumn[];
  /** All rows of the columns with these places, in memory for some of the rows. */
  batches(places: readonly number[]): AsyncIterable<TableBatch>;
}

/** Dates and times become days since 1970-01-01 UTC, which float32 holds better than seconds. */
export const secondsPerDay = 86_400;

/** Rows per block: enough that names are numbered seldom, few enough to be short of memory never. */
const rowsPerBlock = 1 << 16;

/** What becomes of the columns of a table whose types are known. */
export function planColumns({ title, columns }: Table, options: FieldOptions): TablePlan {
  const head = {
    title,
    names: columns.map(({ name }) => name),
    isNumeric: (place: number) => !categoricalKinds.includes(columns[place].kind),
  };
  // In a table a missing value is null: the text NA may be a category like any other.
  const plan = { ...planTable(head, options), missingTexts: missingValuesOf(options) };
  for (const [place, { kind }] of plan.fields.entries()) checkRole(title, columns[place], kind);
  return plan;
}

const categoricalKinds: readonly (ColumnKind | undefined)[] = ['text', 'texts'];

/** The kinds of columns that can play a role. */
const ableKinds: Readonly<Record<RecipeField['kind'], readonly ColumnKind[]>> = {
  ignored: [],
  number: ['number', 'text', 'numbers', 'map'],
  category: ['number', 'text', 'numbers', 'texts'],
  label: ['number', 'text', 'numbers', 'texts'],
  weight: ['number', 'text'],
};

function checkRole(title: string, column: TableColumn, role: RecipeField['kind']): void {
  const { name, kind, type } = column;
  if (role === 'ignored' || (kind && ableKinds[role].includes(kind))) return;
  const found = `${title}: column ${quote(name)} is of type ${type}`;
  const use = role === 'label' || role === 'weight' ? role : 'feature';
  throw new DataError(`${found}, which cannot be a ${use} (--ignore ${name} leaves it out)`);
}

/** A list or map of numbers has no single feature that could be there from the start. */
function withoutVectors(plan: TablePlan, columns: readonly TableColumn[]): TablePlan {
  const fields = plan.fields.map((field, place): RecipeField => {
    const { kind } = columns[place];
    const isVector = field.kind === 'number' && (kind === 'numbers' || kind === 'map');
    return isVector ? { ...field, kind: 'category' } : field;
  });
  return { ...plan, fields };
}

/** Makes rows of tables with the same columns, one after the other. */
export class TableBlocks {
  readonly #plan: TablePlan;
  readonly #rows: TableRows;
  readonly #first: Table;

  /** `plan` is that of the first table. */
  constructor(first: Table, plan: TablePlan) {
    this.#first = first;
    this.#plan = plan;
    this.#rows = new TableRows(withoutVectors(plan, first.columns));
  }

  /** The rows of a table, block by block. */
  async *of(table: Table): AsyncGenerator<NamedRows> {
    const fields = this.#usedFields();
    const places = fields.map((field) => this.#placeIn(table, field));
    let record = 0;
    for await (const batch of table.batches(places)) {
      for (let row = 0; row < batch.rows; row += 1) {
        record += 1;
        this.#add(table, fields, batch, row, record);
        if (this.#rows.builder.rows === rowsPerBlock) yield this.#rows.take();
      }
    }
    if (this.#rows.builder.rows > 0) yield this.#rows.take();
  }

  #usedFields(): number[] {
    return [...this.#plan.fields.keys()].filter(
      (field) => this.#plan.fields[field].kind !== 'ignored',
    );
  }

  #placeIn(table: Table, field: number): number {
    const { name } = this.#plan.fields[field];
    const place = table.columns.findIndex((column) => column.name === name);
    if (place < 0) {
      throw new DataError(
        `${table.title}: no column ${quote(name)}; expected those of ${this.#first.title}`,
      );
    }
    const wanted = this.#first.columns[field];
    if (table.columns[place].kind !== wanted.kind) {
      const found = `column ${quote(name)} is of type ${table.columns[place].type}`;
      throw new DataError(
        `${table.title}: ${found}; expected ${wanted.type}, as in ${this.#first.title}`,
      );
    }
    return place;
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

  /** Categories, or labels of the row, or features by their places. */
  #putList(field: number, items: ArrayLike<FieldValue>, record: number): void {
    const { name, kind } = this.#plan.fields[field];
    if (kind === 'label') {
      const labels = Array.from(items, (item) => `${item ?? ''}`);
      this.#rows.builder.labelText(labels.join(','));
      return;
    }
    for (let place = 0; place < items.length; place += 1) {
      if (kind === 'number') this.#putNumber(`${name}[${place}]`, items[place], record);
      else this.#rows.put(field, items[place], record);
    }
  }

  /** The names of a map are those of features, behind its own name unless that says nothing. */
  #putNamed(field: number, numbers: ReadonlyMap<string, FieldValue>, record: number): void {
    const { name } = this.#plan.fields[field];
    const prefix = name === 'features' ? '' : `${name}.`;
    for (const [key, number] of numbers) this.#putNumber(`${prefix}${key}`, number, record);
  }

  #putNumber(feature: string, value: FieldValue, record: number): void {
    const { builder } = this.#rows;
    const number = Number(value ?? Number.NaN);
    if (Math.abs(number) <= largestValue) {
      builder.value(builder.column(feature), number);
      return;
    }
    const { missing } = this.#plan;
    if (missing === 'error' || !Number.isNaN(number)) {
      const found = Number.isNaN(number) ? 'has no value' : `is ${number}`;
      throw new LineError(record, `feature ${quote(feature)} ${found}; expected a finite number`);
    }
    if (missing === 'indicator') builder.value(builder.column(`${feature}=?`), 1);
  }
}

/** Hands the rows of tables on, one table after the other; all of them have the same columns. */
export class TableReader {
  readonly #collector: Collector;
  readonly #options: PartsOptions;
  #blocks: TableBlocks | undefined;

  constructor(collector: Collector, options: PartsOptions) {
    this.#collector = collector;
    this.#options = options;
  }

  /** `format` is for messages: the kind of table. */
  async read(table: Table, format: string): Promise<void> {
    this.#blocks ??= this.#begin(table, format);
    for await (const block of this.#blocks.of(table)) {
      await this.#options.takePart(this.#settled(table, block));
    }
  }

  #begin(table: Table, format: string): TableBlocks {
    this.#check(table, format);
    const plan = planColumns(table, this.#options);
    this.#collector.isNamed = true;
    this.#collector.recipe = recipeOf(this.#options, plan.fields);
    this.#collector.notices.push(...planNotices(plan, format, this.#options));
    return new TableBlocks(table, plan);
  }

  #check({ title }: Table, format: string): void {
    const { like, wide } = this.#options;
    if (wide === 'all') {
      throw new DataError(
        `${title}: float64 values are kept of LIBSVM text alone; this is ${format}`,
      );
    }
    if (like && !like.featureNames && like.recipe?.hashBits === undefined) {
      throw new DataError(
        `${title}: ${format} has names for columns, but the training data had numbers; expected LIBSVM text or .dsob`,
      );
    }
  }

  /** Gives the rows their final columns; what is wrong with that does not know of the table. */
  #settled({ title }: Table, rows: NamedRows): DatasetPart {
    try {
      return this.#collector.addNamed(rows);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      throw new DataError(`${title}: ${error.message}`, { cause: error });
    }
  }
}

import type {
  DuckDBArrayType,
  DuckDBConnection,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBResult,
  DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import { DataError, UsageError } from '../../errors.ts';
import type { Dataset, DatasetPart } from '../dataset.ts';
import type { FieldValue } from '../fields/table-rows.ts';
import { Collector, datasetOf } from '../read/collector.ts';
import type { ReadOptions } from '../read/pieces.ts';
import {
  convertItem,
  secondsPerDay,
  type Table,
  type TableBatch,
  type TableColumn,
  TableReader,
  type TableValue,
} from './table.ts';

type DuckDB = typeof import('@duckdb/node-api');

/** What messages call a query. */
const title = 'query';

/** Statements that may precede the query: they prepare it and write no file. */
const preparations = ['SELECT', 'SET', 'VARIABLE_SET', 'PRAGMA', 'LOAD', 'ATTACH', 'CREATE'];

/** Faults of the query rather than of the data. */
const faultsOfUsage = /^(Parser|Binder|Catalog|Syntax) Error/;

/** One thread: rows and sums come in the same order every time, also with `group by`. */
const configuration = { threads: '1', preserve_insertion_order: 'true' };

/** The rows that DuckDB finds for a query, in a database of its own in memory, as a data set. */
export async function readQuery(sql: string, options: ReadOptions = {}): Promise<Dataset> {
  const parts: DatasetPart[] = [];
  const takePart = (part: DatasetPart) => void parts.push(part);
  const sink = { ...options, takePart, takesTexts: true };
  const collector = new Collector(sink);
  const query = await startQuery(sql);
  try {
    await new TableReader(query, 'SQL', collector, sink).read(query);
  } finally {
    query.close();
  }
  return datasetOf(collector.checkedShape(title), parts);
}

/** A query that runs while its rows are read. */
async function startQuery(sql: string): Promise<Table & { close(): void }> {
  if (sql.trim() === '') throw new UsageError(`${title}: empty; expected a select`);
  const duckdb = await loadDuckDB();
  const instance = await duckdb.DuckDBInstance.create(':memory:', configuration);
  const connection = await instance.connect();
  const close = () => {
    connection.closeSync();
    instance.closeSync();
  };
  try {
    const result = await explained(() => run(duckdb, connection, sql));
    const types = result.columnTypes();
    const columns = result
      .columnNames()
      .map((name, column) => queryColumn(name, types[column], duckdb.DuckDBTypeId));
    return { title, columns, batches: (positions) => batches(result, columns, positions), close };
  } catch (error) {
    close();
    throw error;
  }
}

async function* batches(
  result: DuckDBResult,
  columns: readonly TableColumn[],
  positions: readonly number[],
): AsyncGenerator<TableBatch> {
  for (;;) {
    const chunk = await explained(() => result.fetchChunk());
    if (!chunk || chunk.rowCount === 0) return;
    const found = positions.map((position): readonly TableValue[] => {
      const values: readonly unknown[] = chunk.getColumnValues(position);
      const { convert } = columns[position];
      if (!convert) return values as readonly TableValue[];
      return values.map((value) => (value === null ? null : convert(value)));
    });
    yield { rows: chunk.rowCount, columns: found };
  }
}

async function loadDuckDB(): Promise<DuckDB> {
  try {
    return await import('@duckdb/node-api');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new UsageError(
      'SQL is answered by DuckDB, which is not installed here (npm install @duckdb/node-api)',
      { cause },
    );
  }
}

/** Runs all statements but the last one, and starts that one. */
async function run(
  { StatementType }: DuckDB,
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(sql);
  for (let number = 0; ; number += 1) {
    const statement = await statements.prepare(number);
    const type = StatementType[statement.statementType];
    const isLast = number === statements.count - 1;
    if (isLast && type !== 'SELECT') {
      throw new UsageError(`${title}: ends with a statement of type ${type}; expected a select`);
    }
    if (isLast) return statement.stream();
    if (!preparations.includes(type)) {
      throw new UsageError(
        `${title}: a statement of type ${type}; expected a select, and in front of it at most ${preparations.slice(1).join(', ')}`,
      );
    }
    await statement.run();
  }
}

/** The first line of a message of DuckDB says what is wrong, the others where. */
async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof UsageError || !(cause instanceof Error)) throw cause;
    const [line] = cause.message.replace(/^Failed to extract statements: /, '').split('\n', 1);
    const message = `${title}: ${line}`;
    if (faultsOfUsage.test(line)) throw new UsageError(message, { cause });
    throw new DataError(message, { cause });
  }
}

/** How one value of a type is read: as a number or a text. */
interface Reading {
  readonly kind: 'number' | 'text';
  readonly convert?: (value: unknown) => FieldValue;
}

type TypeName = keyof typeof DuckDBTypeId;

/** `unit` is the property with the count, of which `perDay` make a day. */
function time(unit: string, perDay: number): Reading {
  return {
    kind: 'number',
    convert: (value) => {
      const { isFinite: finite = true, [unit]: count } = value as Record<string, unknown>;
      return finite ? Number(count) / perDay : Number.POSITIVE_INFINITY;
    },
  };
}

const integers = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT'];
const unsigned = integers.map((type) => `U${type}`);
const numberTypes = ['BOOLEAN', 'BIGNUM', 'FLOAT', 'DOUBLE', ...integers, ...unsigned];

const readings: Partial<Record<TypeName, Reading>> = {
  ...Object.fromEntries(numberTypes.map((type) => [type, { kind: 'number' }])),
  DECIMAL: { kind: 'number', convert: (value) => Number(String(value)) },
  DATE: time('days', 1),
  TIME: time('micros', 1e6 * secondsPerDay),
  TIMESTAMP: time('micros', 1e6 * secondsPerDay),
  TIMESTAMP_TZ: time('micros', 1e6 * secondsPerDay),
  TIMESTAMP_S: time('seconds', secondsPerDay),
  TIMESTAMP_MS: time('millis', 1e3 * secondsPerDay),
  TIMESTAMP_NS: time('nanos', 1e9 * secondsPerDay),
  VARCHAR: { kind: 'text' },
  ENUM: { kind: 'text' },
  UUID: { kind: 'text', convert: String },
};

/** `names` are the names of the types by their numbers. */
function queryColumn(
  name: string,
  type: DuckDBType,
  names: Readonly<Record<number, string>>,
): TableColumn {
  const typed = { name, type: String(type) };
  const readingOf = (inner: DuckDBType) => readings[names[inner.typeId] as TypeName];
  const reading = readingOf(type);
  if (reading) return { ...typed, ...reading };
  const typeName = names[type.typeId];
  if (typeName === 'LIST' || typeName === 'ARRAY') {
    const { valueType } = type as DuckDBListType | DuckDBArrayType;
    return { ...typed, ...listReading(readingOf(valueType)) };
  }
  if (typeName !== 'MAP') return typed;
  const { keyType, valueType } = type as DuckDBMapType;
  const value = readingOf(valueType);
  const named = readingOf(keyType)?.kind === 'text' && value?.kind === 'number';
  return named ? { ...typed, ...mapReading(value) } : typed;
}

type ColumnReading = Pick<TableColumn, 'kind' | 'convert'>;

function listReading(reading: Reading | undefined): ColumnReading {
  if (!reading) return {};
  return {
    kind: reading.kind === 'text' ? 'texts' : 'numbers',
    convert: (value) =>
      (value as DuckDBListValue).items.map((item) => convertItem(item, reading.convert)),
  };
}

function mapReading({ convert }: Reading): ColumnReading {
  const entry = ({ key, value }: DuckDBMapValue['entries'][number]) =>
    [String(key), convertItem(value, convert)] as const;
  return {
    kind: 'map',
    convert: (value) => new Map((value as DuckDBMapValue).entries.map(entry)),
  };
}

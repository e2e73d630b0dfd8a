import type {
  DuckDBConnection,
  DuckDBInstance,
  DuckDBPreparedStatement,
  DuckDBResult,
} from '@duckdb/node-api';
import { DataError, UsageError } from '../../errors.ts';
import type { Dataset, DatasetPart } from '../dataset.ts';
import { Collector, datasetOf } from '../read/collector.ts';
import type { ReadOptions } from '../read/pieces.ts';
import { type QueryColumn, queryColumn } from './query-types.ts';
import { type Table, type TableBatch, TableReader, type TableValue } from './table.ts';

type DuckDB = typeof import('@duckdb/node-api');

/** What messages call a query. */
const title = 'query';

/** Statements that may stand in front of the query: they prepare it and write no file. */
const preparations = ['SELECT', 'SET', 'VARIABLE_SET', 'PRAGMA', 'LOAD', 'ATTACH', 'CREATE'];

/** Faults of whoever wrote the query rather than of the data. */
const faultsOfUsage = /^(Parser|Binder|Catalog|Syntax) Error/;

/**
 * One thread: the rows come in the same order every time, also behind a `group by`, and sums are
 * added up in the same order.
 */
const configuration = { threads: '1', preserve_insertion_order: 'true' };

/** The rows that DuckDB finds for a query, in a database of its own in memory, as a data set. */
export async function readQuery(sql: string, options: ReadOptions = {}): Promise<Dataset> {
  const parts: DatasetPart[] = [];
  const takePart = (part: DatasetPart) => void parts.push(part);
  const sink = { ...options, takePart, takesTexts: true };
  const collector = new Collector(sink);
  const query = await Query.start(sql);
  try {
    await new TableReader(collector, sink).read(query, 'SQL');
  } finally {
    query.close();
  }
  collector.check(title);
  return datasetOf(collector.shape(title, options.columns ?? 0), parts);
}

/** A query that runs while its rows are read. */
class Query implements Table {
  readonly title = title;
  readonly columns: readonly QueryColumn[];
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #result: DuckDBResult;

  private constructor(
    duckdb: DuckDB,
    instance: DuckDBInstance,
    connection: DuckDBConnection,
    result: DuckDBResult,
  ) {
    this.#instance = instance;
    this.#connection = connection;
    this.#result = result;
    const types = result.columnTypes();
    const names = duckdb.DuckDBTypeId;
    this.columns = result
      .columnNames()
      .map((name, place) => queryColumn(name, types[place], names));
  }

  static async start(sql: string): Promise<Query> {
    if (sql.trim() === '') throw new UsageError(`${title}: empty; expected a select`);
    const duckdb = await loadDuckDB();
    const instance = await duckdb.DuckDBInstance.create(':memory:', configuration);
    const connection = await instance.connect();
    try {
      const result = await explained(() => run(duckdb, connection, sql));
      return new Query(duckdb, instance, connection, result);
    } catch (error) {
      connection.closeSync();
      instance.closeSync();
      throw error;
    }
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }

  async *batches(places: readonly number[]): AsyncGenerator<TableBatch> {
    for (;;) {
      const chunk = await explained(() => this.#result.fetchChunk());
      if (!chunk || chunk.rowCount === 0) return;
      const columns = places.map((place): readonly TableValue[] => {
        const values: readonly unknown[] = chunk.getColumnValues(place);
        const { convert } = this.columns[place];
        if (!convert) return values as readonly TableValue[];
        return values.map((value) => (value === null ? null : convert(value)));
      });
      yield { rows: chunk.rowCount, columns };
    }
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

/** Runs all statements but the last one to their end, and starts that. */
async function run(
  { StatementType }: DuckDB,
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBResult> {
  const statements = await connection.extractStatements(sql);
  const typeOf = ({ statementType }: DuckDBPreparedStatement) => StatementType[statementType];
  for (let place = 0; ; place += 1) {
    const statement = await statements.prepare(place);
    const type = typeOf(statement);
    const isLast = place === statements.count - 1;
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

/** DuckDB tells where the fault is in several lines, of which the first says what it is. */
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

import type {
  DuckDBArrayType,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import type { FieldValue } from '../fields/table-rows.ts';
import { type ColumnKind, secondsPerDay, type TableColumn, type TableValue } from './table.ts';

/** A column of a result, and what becomes of its values if they do not stay as they are. */
export interface QueryColumn extends TableColumn {
  readonly convert?: (value: unknown) => TableValue;
}

/** How one value of a type is read: as a number or a text. */
interface Reading {
  readonly kind: 'number' | 'text';
  readonly convert?: (value: unknown) => FieldValue;
}

type TypeName = keyof typeof DuckDBTypeId;

const number: Reading = { kind: 'number' };
const text: Reading = { kind: 'text' };

/** `unit` is the property of the value that counts; so many of it make a day. */
function time(unit: string, perDay: number): Reading {
  return {
    kind: 'number',
    convert: (value) => {
      const { isFinite: finite = true, [unit]: count } = value as Record<string, unknown>;
      return finite ? Number(count) / perDay : Number.POSITIVE_INFINITY;
    },
  };
}

const readings: Partial<Record<TypeName, Reading>> = {
  BOOLEAN: number,
  TINYINT: number,
  SMALLINT: number,
  INTEGER: number,
  BIGINT: number,
  HUGEINT: number,
  UTINYINT: number,
  USMALLINT: number,
  UINTEGER: number,
  UBIGINT: number,
  UHUGEINT: number,
  BIGNUM: number,
  FLOAT: number,
  DOUBLE: number,
  DECIMAL: { kind: 'number', convert: (value) => Number(String(value)) },
  DATE: time('days', 1),
  TIME: time('micros', 1e6 * secondsPerDay),
  TIMESTAMP: time('micros', 1e6 * secondsPerDay),
  TIMESTAMP_TZ: time('micros', 1e6 * secondsPerDay),
  TIMESTAMP_S: time('seconds', secondsPerDay),
  TIMESTAMP_MS: time('millis', 1e3 * secondsPerDay),
  TIMESTAMP_NS: time('nanos', 1e9 * secondsPerDay),
  VARCHAR: text,
  ENUM: text,
  UUID: { kind: 'text', convert: String },
};

/** What becomes of a column; `names` are the names of the types by their numbers. */
export function queryColumn(
  name: string,
  type: DuckDBType,
  names: Readonly<Record<number, string>>,
): QueryColumn {
  const typed = { name, type: String(type) };
  const readingOf = (inner: DuckDBType) => readings[names[inner.typeId] as TypeName];
  const reading = readingOf(type);
  if (reading) return { ...typed, ...reading };
  switch (names[type.typeId]) {
    case 'LIST':
    case 'ARRAY':
      return {
        ...typed,
        ...listReading(readingOf((type as DuckDBListType | DuckDBArrayType).valueType)),
      };
    case 'MAP': {
      const { keyType, valueType } = type as DuckDBMapType;
      const value = readingOf(valueType);
      const named = readingOf(keyType)?.kind === 'text' && value?.kind === 'number';
      return named ? { ...typed, ...mapReading(value) } : typed;
    }
    default:
      return typed;
  }
}

function one(value: unknown, convert: Reading['convert']): FieldValue {
  return convert && value !== null ? convert(value) : (value as FieldValue);
}

function listReading(reading: Reading | undefined) {
  if (!reading) return {};
  const kind: ColumnKind = reading.kind === 'text' ? 'texts' : 'numbers';
  const convert = (value: unknown) =>
    (value as DuckDBListValue).items.map((item) => one(item, reading.convert));
  return { kind, convert };
}

function mapReading({ convert: convertOne }: Reading) {
  const kind: ColumnKind = 'map';
  const convert = (value: unknown) =>
    new Map(
      (value as DuckDBMapValue).entries.map((entry) => [
        String(entry.key),
        one(entry.value, convertOne),
      ]),
    );
  return { kind, convert };
}

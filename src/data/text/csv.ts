import { DataError, UsageError } from '../../errors.ts';
import { ByteColumns } from '../fields/byte-columns.ts';
import {
  daysOf,
  type FieldOptions,
  MissingValues,
  missingTexts,
  missingValuesOf,
  numberOf,
} from '../fields/options.ts';
import type { NamedRows } from '../fields/row-builder.ts';
import { planTable, type TablePlan } from '../fields/table-plan.ts';
import { TableRows } from '../fields/table-rows.ts';
import { LineError } from '../read/line-error.ts';
import { scanFloat32, scanFloat64 } from './decimal.ts';
import { checkEncoding, endWithNewline, isBlankLine, RecordSplitter } from './records.ts';

/** How separated values are read. Plain data, which threads receive. */
export interface CsvPlan extends TablePlan {
  /** The byte between values. */
  readonly delimiter: number;
  /** What messages call the file, with the line of its names. */
  readonly title: string;
}

/** Looks at the beginning of a file: whole records. */
export function planCsv(head: Uint8Array, file: string, options: FieldOptions): CsvPlan {
  const { title, delimiter, ...found } = readCsvHead(head, file, options);
  return { ...planTable({ title, ...found }, options), delimiter, title };
}

/** The columns of a further file must be those of the first one. */
export function planNextCsv(
  head: Uint8Array,
  file: string,
  options: FieldOptions,
  first: CsvPlan,
): CsvPlan {
  const { names, title, delimiter } = readCsvHead(head, file, options);
  const { fields } = first;
  if (names.length !== fields.length || names.some((name, at) => name !== fields[at].name)) {
    throw new DataError(
      `${title}: its columns are not those of ${first.title}; expected the same in all files`,
    );
  }
  return { ...first, delimiter };
}

/** Rows of a block of text, and its lines. */
export interface TextRows {
  readonly rows: NamedRows;
  readonly lines: number;
}

const newline = 10;
/** The column of a category that means a missing value. */
const absentField = -2;

const float32 = new Float32Array(1);
const float64 = new Float64Array(1);
const categories = new ByteColumns();

/**
 * Reads whole records; the first `skipped` of them are no rows. Throws a LineError for the first
 * record that cannot be read.
 */
export function parseCsv(text: Uint8Array, plan: CsvPlan, skipped: number): TextRows {
  checkEncoding(text);
  const bytes = endWithNewline(text);
  const rows = new TableRows(plan);
  const splitter = new RecordSplitter(plan.delimiter);
  // Numbers that mean a missing value have to be looked at as texts.
  const plain = !new MissingValues(plan).hasNumbers;
  categories.clear();
  let line = 1;
  let record = 0;
  for (let position = 0; position < bytes.length; ) {
    if (isBlankLine(bytes, position)) {
      position = bytes.indexOf(newline, position) + 1;
      line += 1;
      continue;
    }
    position = splitter.split(bytes, position, line);
    if (record >= skipped) readRecord(bytes, splitter, plan, rows, line, plain);
    record += 1;
    line += splitter.lines;
  }
  const found = { rows: rows.take(), lines: line - 1 };
  rows.builder.end();
  return found;
}

function readRecord(
  bytes: Uint8Array,
  splitter: RecordSplitter,
  { fields }: CsvPlan,
  rows: TableRows,
  line: number,
  plain: boolean,
): void {
  const { starts, ends, count } = splitter;
  if (count !== fields.length) throw new LineError(line, raggedness(count, fields.length));
  for (let field = 0; field < count; field += 1) {
    const start = starts[field];
    const end = ends[field];
    const { kind, date } = fields[field];
    if (kind === 'ignored') continue;
    if (kind === 'category') {
      readCategory(bytes, splitter, rows, field, line);
      continue;
    }
    // The scanners of numbers need a line end behind a number, whatever the delimiter is.
    const behind = bytes[end];
    if (behind !== newline) bytes[end] = newline;
    const isPlain = kind === 'number' && plain && !date;
    if (isPlain && scanFloat32(bytes, start, float32, 0, true) === end) {
      rows.builder.value(rows.numberColumn(field), float32[0]);
    } else if (kind === 'label' && scanFloat64(bytes, start, float64, 0) === end) {
      rows.builder.label(float64[0]);
    } else rows.put(field, splitter.text(bytes, field), line);
    // A task may read its text once more.
    if (behind !== newline) bytes[end] = behind;
  }
  rows.endRow(line);
}

function readCategory(
  bytes: Uint8Array,
  splitter: RecordSplitter,
  rows: TableRows,
  field: number,
  line: number,
): void {
  const start = splitter.starts[field];
  const end = splitter.ends[field];
  let column = categories.find(bytes, start, end, field);
  if (column === -1) {
    const text = splitter.text(bytes, field);
    column = rows.isMissing(field, text) ? absentField : rows.categoryColumn(field, text);
    categories.add(bytes, start, end, field, column);
  }
  if (column === absentField) rows.missing(field, line);
  else rows.builder.value(column, 1);
}

function raggedness(found: number, expected: number): string {
  return `${found} ${found === 1 ? 'field' : 'fields'}; the header has ${expected}`;
}

/** This many records decide which columns hold numbers. */
export const sampledRecords = 1000;
const quoteMark = 34;
const delimiters = [',', '\t', ';'];

/** The names of the columns, and what the first records hold. */
export interface CsvHead {
  readonly title: string;
  readonly delimiter: number;
  readonly names: readonly string[];
  readonly isNumeric: (field: number) => boolean;
  readonly isDate: (field: number) => boolean;
  readonly isIdentifier: (field: number) => boolean;
}

/** Looks at the beginning of a file: whole records, `name` is for messages. */
export function readCsvHead(text: Uint8Array, name: string, options: FieldOptions): CsvHead {
  try {
    checkEncoding(text);
    return readHead(endWithNewline(text), name, options);
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    throw new DataError(`${name}:${error.line}: ${error.message}`, { cause: error });
  }
}

function readHead(bytes: Uint8Array, name: string, options: FieldOptions): CsvHead {
  const { header = true } = options;
  let [position, line] = [0, 1];
  const skipBlankLines = () => {
    for (; position < bytes.length && isBlankLine(bytes, position); line += 1) {
      position = bytes.indexOf(newline, position) + 1;
    }
    return position < bytes.length;
  };
  if (!skipBlankLines())
    throw new DataError(`${name}: no data; expected a line with the names of the columns`);
  const delimiter = delimiterOf(bytes, position, name, options);
  const splitter = new RecordSplitter(delimiter);
  const firstLine = line;
  const start = position;
  position = splitter.split(bytes, position, line);
  const names = Array.from({ length: splitter.count }, (_, field) =>
    header ? nameOf(splitter.text(bytes, field), field) : `c${field + 1}`,
  );
  if (header) line += splitter.lines;
  else position = start;
  const absent = new Set([...missingTexts, ...missingValuesOf(options)]);
  const samples = names.map(() => new ColumnSample());
  for (let record = 0; record < sampledRecords && skipBlankLines(); record += 1) {
    position = splitter.split(bytes, position, line);
    line += splitter.lines;
    for (let field = 0; field < Math.min(splitter.count, names.length); field += 1) {
      const value = splitter.text(bytes, field).trim();
      samples[field].add(value, absent.has(value));
    }
  }
  const title = header ? `${name}:${firstLine}` : name;
  return {
    title,
    delimiter,
    names,
    isNumeric: (field) => samples[field].isNumeric,
    isDate: (field) => samples[field].isDate,
    isIdentifier: (field) => samples[field].isIdentifier,
  };
}

/** Records that differ in a column may do so by chance if there are fewer of them. */
const leastRecords = 20;

/** What the first records have in a column. */
class ColumnSample {
  isNumeric = true;
  #records = 0;
  #present = 0;
  #areDates = true;
  #counts = true;
  #last = NaN;
  /** Until a value repeats. */
  #distinct: Set<string> | undefined = new Set();

  /** Whether there are dates, and nothing else. */
  get isDate(): boolean {
    return this.#areDates && this.#present > 0;
  }

  /** Whether the column can only tell records apart: texts, or numbers that count them. */
  get isIdentifier(): boolean {
    if (this.#records < leastRecords || this.#present < this.#records) return false;
    return this.isNumeric ? this.#counts : this.#distinct !== undefined;
  }

  add(value: string, isAbsent: boolean): void {
    this.#records += 1;
    if (isAbsent) return;
    this.#present += 1;
    const number = this.isNumeric ? numberOf(value) : NaN;
    this.#counts &&= Number.isInteger(number) && (this.#present === 1 || number === this.#last + 1);
    this.#last = number;
    this.isNumeric &&= !Number.isNaN(number);
    this.#areDates &&= !Number.isNaN(daysOf(value));
    if (this.#distinct?.has(value)) this.#distinct = undefined;
    this.#distinct?.add(value);
  }
}

/** A column without a name, as some programs write for the numbers of the rows. */
function nameOf(text: string, field: number): string {
  const name = text.trim();
  return name === '' ? `c${field + 1}` : name;
}

function delimiterOf(
  bytes: Uint8Array,
  start: number,
  name: string,
  { delimiter, format }: FieldOptions,
): number {
  if (delimiter !== undefined) {
    const code = delimiter.charCodeAt(0);
    if (delimiter.length === 1 && code < 128 && code !== quoteMark && !/[\r\n]/.test(delimiter)) {
      return code;
    }
    throw new UsageError(
      `delimiter ${JSON.stringify(delimiter)}; expected one character, no quote`,
    );
  }
  if (format === 'tsv' || (format === undefined && /\.tsv(\.gz|\.zst)?$/i.test(name))) return 9;
  const counts = delimiters.map(() => 0);
  let inside = false;
  for (let position = start; position < bytes.length; position += 1) {
    if (bytes[position] === quoteMark) inside = !inside;
    if (inside) continue;
    if (bytes[position] === newline) break;
    const found = delimiters.indexOf(String.fromCharCode(bytes[position]));
    if (found >= 0) counts[found] += 1;
  }
  const most = Math.max(...counts);
  return delimiters[counts.indexOf(most)].charCodeAt(0);
}

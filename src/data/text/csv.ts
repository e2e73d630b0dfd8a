import { ByteColumns } from '../fields/byte-columns.ts';
import type { NamedRows } from '../fields/named-rows.ts';
import type { TablePlan } from '../fields/table-plan.ts';
import { numberOf, TableRows } from '../fields/table-rows.ts';
import { LineError } from '../read/line-error.ts';
import { scanFloat32, scanFloat64 } from './decimal.ts';
import { checkEncoding, endWithNewline } from './decode.ts';
import { isBlankLine, RecordSplitter } from './records.ts';

/** How separated values are read. Plain data: it goes to threads. */
export interface CsvPlan extends TablePlan {
  /** The byte between values. */
  readonly delimiter: number;
}

/** Rows of a block of text, and its lines. */
export interface TextRows {
  readonly rows: NamedRows;
  readonly lines: number;
}

const newline = 10;
/** What stands for the column of a category that means a missing value. */
const absent = -2;

const float32 = new Float32Array(1);
const float64 = new Float64Array(1);
const categories = new ByteColumns();

/**
 * Reads whole records; the first `skipped` of them are no rows. Overwrites the delimiters, and
 * throws a LineError for the first record that cannot be read.
 */
export function parseCsv(text: Uint8Array, plan: CsvPlan, skipped: number): TextRows {
  checkEncoding(text);
  const bytes = endWithNewline(text);
  const rows = new TableRows(plan);
  const splitter = new RecordSplitter(plan.delimiter);
  // Numbers that mean a missing value have to be looked at as texts.
  const plain = !plan.missingTexts.some((absence) => !Number.isNaN(numberOf(absence)));
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
    const { kind } = fields[field];
    if (kind === 'ignored') continue;
    if (kind === 'category') {
      readCategory(bytes, splitter, rows, field, line);
      continue;
    }
    // The scanners of numbers want a line end behind a number, whatever the delimiter was.
    if (bytes[end] !== newline) bytes[end] = newline;
    if (kind === 'number' && plain && scanFloat32(bytes, start, float32, 0, true) === end) {
      rows.builder.value(rows.numberColumn(field), float32[0]);
    } else if (kind === 'label' && scanFloat64(bytes, start, float64, 0) === end) {
      rows.builder.label(float64[0]);
    } else rows.put(field, splitter.text(bytes, field), line);
  }
  rows.builder.endRow();
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
    column = rows.isMissing(text) ? absent : rows.categoryColumn(field, text);
    categories.add(bytes, start, end, field, column);
  }
  if (column === absent) rows.missing(field, line);
  else rows.builder.value(column, 1);
}

function raggedness(found: number, wanted: number): string {
  return `${found} ${found === 1 ? 'field' : 'fields'}; the header has ${wanted}`;
}

import { DataError, UsageError } from '../../errors.ts';
import { type FieldOptions, missingTexts, missingValuesOf } from '../fields/options.ts';
import { numberOf } from '../fields/table-rows.ts';
import { LineError } from '../read/line-error.ts';
import { checkEncoding, endWithNewline } from './decode.ts';
import { isBlankLine, RecordSplitter } from './records.ts';

/** So many records decide which columns hold numbers. */
export const sampledRecords = 1000;

const newline = 10;
const quoteMark = 34;
const delimiters = [',', '\t', ';'];

/** The names of the columns, and what the first records hold. */
export interface CsvHead {
  readonly title: string;
  readonly delimiter: number;
  readonly names: readonly string[];
  readonly isNumeric: (field: number) => boolean;
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
  const numeric = names.map(() => true);
  for (let record = 0; record < sampledRecords && skipBlankLines(); record += 1) {
    position = splitter.split(bytes, position, line);
    line += splitter.lines;
    for (let field = 0; field < Math.min(splitter.count, names.length); field += 1) {
      if (!numeric[field]) continue;
      const value = splitter.text(bytes, field);
      numeric[field] = absent.has(value.trim()) || !Number.isNaN(numberOf(value));
    }
  }
  const title = header ? `${name}:${firstLine}` : name;
  return { title, delimiter, names, isNumeric: (field) => numeric[field] };
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
  for (let place = start; place < bytes.length; place += 1) {
    if (bytes[place] === quoteMark) inside = !inside;
    if (inside) continue;
    if (bytes[place] === newline) break;
    const found = delimiters.indexOf(String.fromCharCode(bytes[place]));
    if (found >= 0) counts[found] += 1;
  }
  const most = Math.max(...counts);
  return delimiters[counts.indexOf(most)].charCodeAt(0);
}

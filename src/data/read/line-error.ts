import { DataError, escapeUnseen } from '../../errors.ts';

/** Feature indices are 32-bit and leave room for the number of columns. */
export const largestIndex = 2 ** 31 - 2;

/** A line that cannot be read: its number (from 1) and what is wrong with it. */
export class LineError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** The error with the name of the file in front, if it is of a type that knows no file. */
export function withName(
  name: string,
  error: unknown,
  type: abstract new (...given: never[]) => Error = DataError,
): unknown {
  if (!(error instanceof type)) return error;
  return new DataError(`${name}: ${error.message}`, { cause: error });
}

const shownLength = 40;
const tokenEnd = /[ \t\r\n#]/;
const notFinite = /^[+-]?(nan|inf|infinity)$/i;
const looksNumeric = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Why the label that starts at `start` was rejected. */
export function labelError(bytes: Uint8Array, start: number): string {
  const label = tokenAt(bytes, start);
  if (notFinite.test(label)) return `label ${quote(label)}; expected a finite number`;
  if (looksNumeric.test(label)) {
    return `label ${quote(label)} is too large; expected a number below 1.8e308`;
  }
  return `label ${quote(label)} is not a number; expected a line like "+1 3:0.5 7:1.2"`;
}

/** Why the index:value pair that starts at `start` was rejected. */
export function pairError(bytes: Uint8Array, start: number): string {
  const pair = tokenAt(bytes, start);
  const colon = pair.indexOf(':');
  if (colon < 0) return `${quote(pair)} is not a pair; expected index:value, as in 3:0.5`;
  const index = pair.slice(0, colon);
  const value = pair.slice(colon + 1);
  if (index === '') return `${quote(pair)} has no index; expected index:value, as in 3:0.5`;
  if (!/^\d+$/.test(index)) {
    return `feature index ${quote(index)} is not a whole number; expected a pair like 3:0.5`;
  }
  if (Number(index) > largestIndex) {
    return `feature index ${clip(index)}; the largest index allowed is ${largestIndex}`;
  }
  return valueError(index, value);
}

function valueError(index: string, value: string): string {
  const feature = `feature ${clip(index)}`;
  if (value === '') return `${feature} has no value; expected a pair like ${clip(index)}:0.5`;
  if (notFinite.test(value)) {
    return `value ${quote(value)} of ${feature}; expected a finite number`;
  }
  if (looksNumeric.test(value)) {
    return `value ${quote(value)} of ${feature} is too large; expected a number below 3.4e38`;
  }
  return `value ${quote(value)} of ${feature} is not a number; expected a pair like 3:0.5`;
}

function tokenAt(bytes: Uint8Array, start: number): string {
  const lineEnd = bytes.indexOf(10, start);
  // Long enough for any decimal a person writes, short enough for a line of a gigabyte.
  const end = Math.min(lineEnd < 0 ? bytes.length : lineEnd, start + 4096);
  const text = new TextDecoder().decode(bytes.slice(start, end));
  return text.slice(0, text.search(tokenEnd) < 0 ? text.length : text.search(tokenEnd));
}

export function clip(text: string): string {
  return text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
}

/** The first names of a list. */
export function listNames(names: readonly string[], most = 20): string {
  const shown = names.slice(0, most).map((name) => escapeUnseen(clip(name)));
  return `${shown.join(', ')}${names.length > most ? ', …' : ''}`;
}

/** Quoted, with control characters escaped: the file may not be text. */
export function quote(text: string): string {
  return escapeUnseen(JSON.stringify(clip(text)));
}

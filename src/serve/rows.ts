import { DataError } from '../errors.ts';
import type { Row } from '../predict/row.ts';

/** What a body of JSON asks for. */
export type Question =
  | { readonly kind: 'row'; readonly row: unknown }
  /** `wrapped`: in an object, and so is the answer. */
  | { readonly kind: 'batch'; readonly rows: readonly unknown[]; readonly wrapped: boolean };

/**
 * Tells a row from a batch: `{"rows": […]}` is a batch, and so is a list unless it begins with a
 * number, which makes it one dense row.
 */
export function questionOf(body: unknown): Question {
  if (Array.isArray(body)) {
    return typeof body[0] === 'number'
      ? { kind: 'row', row: body }
      : { kind: 'batch', rows: body, wrapped: false };
  }
  if (typeof body === 'object' && body !== null && 'rows' in body && Array.isArray(body.rows)) {
    const alone = Object.keys(body).length === 1;
    if (alone) return { kind: 'batch', rows: body.rows, wrapped: true };
  }
  return { kind: 'row', row: body };
}

/** A value of JSON as a row; throws a DataError where it cannot be one. */
export function rowOf(value: unknown): Row {
  if (Array.isArray(value)) return numbersOf(value);
  if (typeof value !== 'object' || value === null) {
    throw new DataError(`found ${kindOf(value)}; wanted an object, or a list of numbers`);
  }
  const row = value as Exclude<Row, ArrayLike<number>>;
  if (Array.isArray(row.indices) && Array.isArray(row.values)) numbersOf(row.values);
  return row;
}

/** Without this a text such as "5" would count as a number. */
function numbersOf(values: readonly unknown[]): readonly number[] {
  for (let place = 0; place < values.length; place++) {
    if (typeof values[place] === 'number') continue;
    throw new DataError(`value ${place + 1} is ${kindOf(values[place])}; wanted a number`);
  }
  return values as readonly number[];
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

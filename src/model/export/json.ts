import { DataError } from '../../errors.ts';
import { jsonFormat, jsonVersion, noPayload } from '../../export/json.ts';
import { Fields } from '../fields.ts';
import { parseHeader } from '../header.ts';
import type { Model } from '../model.ts';
import { vectorCount } from '../model.ts';
import { roomForWeights } from '../weights.ts';

/** Version of the model file whose header the text holds. */
const headerVersion = 2;

/** The model in a text that `--to json` wrote; `name` is the file, for messages. */
export function parseJsonModel(text: string, name: string): Model {
  const json = parseText(text, name);
  const fields = new Fields(json, '', name);
  checkVersion(fields, name);
  const { weights, featureNames, ...header } = json as Record<string, unknown>;
  const { description, intercepts } = parseHeader(
    JSON.stringify({ ...header, weights: noPayload }),
    headerVersion,
    name,
  );
  const count = vectorCount(description);
  if (!Array.isArray(weights) || weights.length !== count) {
    throw new DataError(`${name}: weights: wanted a list with ${count} vectors of weights`);
  }
  const { columns } = description;
  const joined = roomForWeights({ columns, vectors: count }, name);
  for (const [vector, item] of weights.entries()) {
    fill(joined.subarray(vector * columns, (vector + 1) * columns), item, vector, name);
  }
  const names = featureNames === undefined ? undefined : checkNames(featureNames, columns, name);
  return { ...description, weights: joined, intercepts, ...(names && { featureNames: names }) };
}

function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as Error;
    throw new DataError(`${name}${placeOf(message, text)}: not JSON: ${message}`, { cause });
  }
}

/** Engines tell the position of the fault; people look for lines. */
function placeOf(message: string, text: string): string {
  const [, position] = /position ([0-9]+)/.exec(message) ?? [];
  if (position === undefined) return '';
  return `: line ${text.slice(0, Number(position)).split('\n').length}`;
}

function checkVersion(fields: Fields, name: string): void {
  if (!fields.has('format') || fields.string('format') !== jsonFormat) {
    fields.refuse('format', JSON.stringify(jsonFormat));
  }
  const version = fields.count('version');
  if (version === jsonVersion) return;
  throw new DataError(`${name}: version ${version} of ${jsonFormat}; wanted ${jsonVersion}`);
}

function fill(target: Float64Array, item: unknown, vector: number, name: string): void {
  const place = `${name}: weights[${vector}]`;
  if (Array.isArray(item)) {
    if (item.length !== target.length) {
      throw new DataError(`${place}: ${item.length} weights; wanted ${target.length}`);
    }
    for (const [column, value] of item.entries()) target[column] = weight(value, place);
    return;
  }
  const { columns, values } = (item ?? {}) as { columns?: unknown; values?: unknown };
  if (!Array.isArray(columns) || !Array.isArray(values) || columns.length !== values.length) {
    throw new DataError(`${place}: wanted a list, or columns and values of the same length`);
  }
  let previous = -1;
  for (const [position, column] of columns.entries()) {
    if (!Number.isInteger(column) || column <= previous || column >= target.length) {
      throw new DataError(
        `${place}: column ${JSON.stringify(column)} after column ${previous}; ` +
          `wanted ascending columns below ${target.length}`,
      );
    }
    target[column] = weight(values[position], place);
    previous = column;
  }
}

function weight(value: unknown, place: string): number {
  if (value === '-0') return -0;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new DataError(`${place}: the weight ${JSON.stringify(value)}; wanted a finite number`);
}

function checkNames(value: unknown, columns: number, name: string): string[] {
  if (Array.isArray(value) && value.length === columns) {
    if (value.every((item) => typeof item === 'string')) return value;
  }
  throw new DataError(`${name}: featureNames: wanted a list of ${columns} strings`);
}

import { DataError } from '../../errors.ts';
import { numberFromJson, numberToJson } from '../../math/json-numbers.ts';
import { count, headerText, JsonValue, noPayload, parseJson, readHeader } from '../header.ts';
import { type Model, vectorCount, weightsOf } from '../model.ts';
import { modelVersion } from '../predict/decode.ts';
import { allocateWeights } from '../weights.ts';

/** First keys of the text, which identify the format. */
const jsonFormat = 'dso-model-json';
const jsonVersion = 1;

/**
 * Everything about a model as JSON: the header of the model file, then the weights, vector by
 * vector, either all of them in a list or, where fewer than half are other than 0, as
 * `{ "columns": […], "values": […] }`, and the names. Numbers have the fewest digits that read back
 * as the same double; −0, which JSON readers may lose, is the string "-0".
 */
export function* jsonModel(model: Model): Generator<string> {
  const { weights: _, ...description } = JSON.parse(headerText(model));
  const header = { format: jsonFormat, version: jsonVersion, ...description };
  yield `${JSON.stringify(header, undefined, 2).slice(0, -2)},\n`;
  yield '  "weights": [\n';
  const vectors = vectorCount(model);
  for (let vector = 0; vector < vectors; vector++) {
    yield '    ';
    yield* vectorText(weightsOf(model, vector));
    yield vector + 1 < vectors ? ',\n' : '\n';
  }
  yield '  ]';
  if (model.featureNames !== undefined) {
    yield ',\n  "featureNames": [\n';
    yield* separated(model.featureNames, (name) => `    ${JSON.stringify(name)}`, ',\n');
    yield '\n  ]';
  }
  yield '\n}\n';
}

function* vectorText(weights: Float64Array): Generator<string> {
  const stored: number[] = [];
  for (let column = 0; column < weights.length; column++) {
    if (!Object.is(weights[column], 0)) stored.push(column);
  }
  if (2 * stored.length >= weights.length) {
    yield '[';
    yield* separated(weights, numberText, ', ');
    yield ']';
    return;
  }
  yield '{ "columns": [';
  yield* separated(stored, String, ', ');
  yield '], "values": [';
  yield* separated(stored, (column) => numberText(weights[column]), ', ');
  yield '] }';
}

function* separated<Item>(
  items: Iterable<Item>,
  text: (item: Item) => string,
  separator: string,
): Generator<string> {
  let first = true;
  for (const item of items) {
    yield first ? text(item) : separator + text(item);
    first = false;
  }
}

function numberText(value: number): string {
  return JSON.stringify(numberToJson(value));
}

/** The model in a text that `--to json` wrote; `name` is the file, for messages. */
export function parseJsonModel(text: string, name: string): Model {
  const json = parseJson(text, name);
  checkVersion(new JsonValue(json, '', name), name);
  const { weights, featureNames, ...header } = json as Record<string, unknown>;
  const headerJson = { ...header, weights: noPayload };
  const { featureNames: _, ...description } = readHeader(headerJson, modelVersion, name);
  const vectors = vectorCount(description);
  if (!Array.isArray(weights) || weights.length !== vectors) {
    throw new DataError(`${name}: weights: expected a list with ${vectors} vectors of weights`);
  }
  const { columns } = description;
  const joined = { columns, weights: allocateWeights({ columns, vectors }, name) };
  for (const [vector, item] of weights.entries()) {
    fill(weightsOf(joined, vector), item, `${name}: weights[${vector}]`);
  }
  const names = featureNames === undefined ? undefined : checkNames(featureNames, columns, name);
  return { ...description, ...joined, ...(names && { featureNames: names }) };
}

function checkVersion(value: JsonValue, name: string): void {
  const format = value.get('format');
  if (format.json !== jsonFormat) format.reject(JSON.stringify(jsonFormat));
  const version = count().read(value.get('version'));
  if (version === jsonVersion) return;
  throw new DataError(`${name}: version ${version} of ${jsonFormat}; expected ${jsonVersion}`);
}

function fill(target: Float64Array, item: unknown, location: string): void {
  if (Array.isArray(item)) {
    if (item.length !== target.length) {
      throw new DataError(`${location}: ${item.length} weights; expected ${target.length}`);
    }
    for (const [column, value] of item.entries()) target[column] = weight(value, location);
    return;
  }
  const { columns, values } = (item ?? {}) as { columns?: unknown; values?: unknown };
  if (!Array.isArray(columns) || !Array.isArray(values) || columns.length !== values.length) {
    throw new DataError(`${location}: expected a list, or columns and values of the same length`);
  }
  let previous = -1;
  for (const [position, column] of columns.entries()) {
    if (!Number.isInteger(column) || column <= previous || column >= target.length) {
      throw new DataError(
        `${location}: column ${JSON.stringify(column)} after column ${previous}; ` +
          `expected ascending columns below ${target.length}`,
      );
    }
    target[column] = weight(values[position], location);
    previous = column;
  }
}

function weight(value: unknown, location: string): number {
  const number = numberFromJson(value);
  if (number !== undefined && Number.isFinite(number)) return number;
  throw new DataError(`${location}: the weight ${JSON.stringify(value)}; expected a finite number`);
}

function checkNames(value: unknown, columns: number, name: string): string[] {
  if (Array.isArray(value) && value.length === columns) {
    if (value.every((item) => typeof item === 'string')) return value;
  }
  throw new DataError(`${name}: featureNames: expected a list of ${columns} strings`);
}

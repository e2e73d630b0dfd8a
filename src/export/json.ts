import { headerText } from '../model/header.ts';
import type { Model } from '../model/model.ts';
import { vectorCount, weightsOf } from '../model/model.ts';

/** First keys of the text, by which it is known again. */
export const jsonFormat = 'dso-model-json';
export const jsonVersion = 1;

/** What the header of a model file says about bytes, of which there are none here. */
export const noPayload = { encoding: 'dense', stored: 0, bytes: 0, sha256: '' } as const;

/**
 * Everything about a model as JSON: the header of the model file, then the weights, vector by
 * vector, either all of them in a list or, where fewer than half are other than 0, as
 * `{ "columns": […], "values": […] }`, and the names. Numbers have the fewest digits that read back
 * as the same double; −0, which JSON readers may lose, is the string "-0".
 */
export function* jsonModel(model: Model): Generator<string> {
  const { weights: _, ...description } = JSON.parse(headerText(model, noPayload, undefined));
  const header = { format: jsonFormat, version: jsonVersion, ...description };
  yield `${JSON.stringify(header, undefined, 2).slice(0, -2)},\n`;
  yield '  "weights": [\n';
  const count = vectorCount(model);
  for (let vector = 0; vector < count; vector++) {
    yield '    ';
    yield* vectorText(weightsOf(model, vector));
    yield vector + 1 < count ? ',\n' : '\n';
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
  return Object.is(value, -0) ? '"-0"' : String(value);
}

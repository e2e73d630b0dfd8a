/** What every format asks of a model: names of columns and classes, what a score stands for. */
import { type Label, type Model, vectorCount, weightsOf } from '../model.ts';

/** The name of a column; where it has none its number as in LIBSVM data, from 1. */
export function nameOf(model: Pick<Model, 'featureNames'>, column: number): string {
  return model.featureNames?.[column] ?? String(column + 1);
}

/** The class whose score a vector gives; undefined in regression. */
export function classOf(model: Model, vector: number): Label | undefined {
  const { classes } = model;
  return classes === undefined || vectorCount(model) > 1 ? classes?.[vector] : classes[1];
}

export interface Entry {
  readonly column: number;
  readonly weight: number;
}

/** The weights of a vector that are not 0, columns ascending. */
export function* nonzeroEntries(model: Model, vector: number): Generator<Entry> {
  const weights = weightsOf(model, vector);
  for (let column = 0; column < weights.length; column++) {
    if (weights[column] !== 0) yield { column, weight: weights[column] };
  }
}

/** The fewest digits that read back as the same double, the sign of −0 included. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** Joins short texts to longer ones: a write for every weight would be slow. */
export function* inBlocks(lines: Iterable<string>, size = 1 << 16): Generator<string> {
  let block = '';
  for (const line of lines) {
    block += line;
    if (block.length >= size) {
      yield block;
      block = '';
    }
  }
  if (block !== '') yield block;
}

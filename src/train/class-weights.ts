import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { type Classes, targetsOf } from '../data/labels.ts';
import { sharedFloat64 } from '../data/shared.ts';
import { UsageError } from '../errors.ts';
import { closest } from '../math/closest.ts';
import { type Company, gatherValues } from './company.ts';

/**
 * What rows of a class count, beside their own weights: `balanced` gives every class the same sum,
 * or a number for each label that is named and 1 for all others.
 */
export type ClassWeights = 'balanced' | Readonly<Record<string, number>>;

/** The data with the weights of its classes multiplied into those of its rows. */
export async function withClassWeights(
  dataset: Dataset,
  classes: Classes | undefined,
  spec: ClassWeights,
  company: Company | undefined,
): Promise<Dataset> {
  if (!classes) throw new UsageError('class weights are for classification; the loss is not');
  if (classes.multiLabel) {
    throw new UsageError('class weights are for rows with one label each: give weights of rows');
  }
  const { codes } = targetsOf(dataset, classes);
  if (!codes) return dataset;
  const factors =
    spec === 'balanced'
      ? await balanced(dataset, codes, classes.classes.length, company)
      : named(spec, classes);
  let row = 0;
  const parts = dataset.parts.map((part): DatasetPart => {
    const own = codes.subarray(row, row + part.labels.length);
    row += part.labels.length;
    const weights = Float64Array.from(own, (code, k) => (part.weights?.[k] ?? 1) * factors[code]);
    return { ...part, weights: sharedFloat64(weights) };
  });
  return { ...dataset, parts };
}

/** n / (k n_c): n what all rows count, n_c those of a class, k the number of classes. */
async function balanced(
  { parts }: Dataset,
  codes: Int32Array,
  count: number,
  company: Company | undefined,
): Promise<Float64Array> {
  const sums = new Float64Array(count);
  let row = 0;
  for (const { labels, weights } of parts) {
    for (let k = 0; k < labels.length; k += 1) sums[codes[row++]] += weights?.[k] ?? 1;
  }
  const everywhere = await gatherValues(company, [...sums]);
  const all = sums.map((_, code) => everywhere.reduce((sum, one) => sum + one[code], 0));
  const total = all.reduce((sum, one) => sum + one, 0);
  return all.map((sum) => (sum > 0 ? total / (count * sum) : 1));
}

function named(spec: Readonly<Record<string, number>>, { classes }: Classes): Float64Array {
  const texts = classes.map(String);
  for (const [label, weight] of Object.entries(spec)) {
    if (!(weight >= 0 && weight < Infinity)) {
      throw new UsageError(`class weight of ${label} is ${weight}; it must be 0 or more`);
    }
    if (texts.includes(label) || texts.includes(String(Number(label)))) continue;
    const meant = closest(label, texts) ?? texts[0];
    throw new UsageError(
      `class weight for ${label}, which no row has; did you mean ${meant}? (${texts.length} classes)`,
    );
  }
  const find = (text: string) =>
    Object.entries(spec).find(([label]) => label === text || String(Number(label)) === text);
  return Float64Array.from(texts, (text) => find(text)?.[1] ?? 1);
}

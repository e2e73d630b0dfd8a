import { type Dataset, type DatasetPart, rowWeights, sharedFloat64 } from '../data/dataset.ts';
import { type Classes, targetsOf } from '../data/labels.ts';
import {
  gatherFloats,
  gatherNumbers,
  type ProcessGroup,
} from '../engine/processes/process-group.ts';
import { closest, UsageError } from '../errors.ts';
import { CompensatedSum, sum } from '../math/vectors.ts';

/**
 * Factors of the weights of rows by class: `balanced` gives every class the same total weight; or a
 * number for each label that is named, and 1 for all others.
 */
export type ClassWeights = 'balanced' | Readonly<Record<string, number>>;

/** The data with the weights of its classes multiplied into those of its rows. */
export async function withClassWeights(
  dataset: Dataset,
  classes: Classes | undefined,
  spec: ClassWeights,
  group: ProcessGroup,
): Promise<Dataset> {
  if (!classes) throw new UsageError('class weights are for classification; the loss is not');
  if (classes.multiLabel) {
    throw new UsageError('class weights are for rows with one label each: give weights of rows');
  }
  const { codes } = targetsOf(dataset, classes);
  if (!codes) return dataset;
  const factors =
    spec === 'balanced'
      ? await balanced(dataset, codes, classes.classes.length, group)
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

/** n / (k n_c): n the total weight, n_c that of a class, k the number of classes. */
async function balanced(
  dataset: Dataset,
  codes: Int32Array,
  count: number,
  group: ProcessGroup,
): Promise<Float64Array> {
  const here = rowWeights(dataset) ?? new Float64Array(dataset.rows).fill(1);
  // In the order of all rows: the same bits however many processes there are.
  const weights = await gatherFloats(group, here);
  const classes = await gatherNumbers(group, codes);
  const sums = Array.from({ length: count }, () => new CompensatedSum());
  let row = 0;
  for (const some of weights) {
    for (let k = 0; k < some.length; k += 1) sums[classes[row++]].add(some[k]);
  }
  const totals = Float64Array.from(sums, ({ total }) => total);
  const whole = sum(totals);
  return totals.map((total) => (total > 0 ? whole / (count * total) : 1));
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

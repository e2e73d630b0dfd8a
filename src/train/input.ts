import type { Dataset } from '../data/dataset.ts';
import { checkNumbers, targetsOf } from '../data/labels.ts';
import { columnScales, divideColumns, scaleDataset, withUnitRows } from '../data/scale.ts';
import { UsageError } from '../errors.ts';
import { checkLabels } from '../losses/index.ts';
import { withClassWeights } from './class-weights.ts';
import type { Input, Settings } from './lay-out.ts';
import type { TrainOptions } from './options/options.ts';
import { classesOfShare, type Share, share, splitShare } from './shard.ts';

/** Sets test rows aside, finds the classes, and weighs and scales as the options say. */
export async function prepareInput(
  all: Share,
  options: TrainOptions,
  { loss, seed }: Omit<Settings, 'lambda'>,
): Promise<Input> {
  const { company } = all;
  const sides =
    options.holdout === undefined
      ? { train: all, test: options.test && (await share(options.test, company)) }
      : await splitShare(all, options.holdout, seed);
  const { test } = sides;
  const classes =
    loss.task === 'classification'
      ? await classesOfShare(all, options.multiLabel ?? false)
      : undefined;
  // All rows of a rare class may be held out, but not those of all classes but one.
  if (classes && options.holdout !== undefined) {
    await classesOfShare(sides.train, classes.multiLabel);
  }
  // Labels that cannot be are found out now, where the number of their row is known.
  for (const side of [all, test]) {
    if (side && !classes) checkNumbers(side.dataset, loss.name);
    if (side) checkLabels(loss, side.dataset, side.firstRow);
  }
  if (test && classes) targetsOf(test.dataset, classes, test.firstRow);
  const { classWeights } = options;
  if (!classWeights) return scaled({ ...sides, classes }, options);
  const { dataset, columns } = sides.train;
  const weighed = await withClassWeights(dataset, classes, classWeights, company);
  const train = { ...(await share(weighed, company)), columns };
  return scaled({ train, test, classes }, options);
}

/** Divides columns or rows for training; rows to test on while training are divided alike. */
async function scaled(input: Input, { scale, onNotice }: TrainOptions): Promise<Input> {
  const { train, test } = input;
  if (scale === undefined) {
    const advice = adviseOnScale(train.dataset);
    if (advice) onNotice?.(advice);
    return input;
  }
  if (train.company || train.dataset.stored) {
    throw new UsageError(
      'scale wants all rows in the memory of one process: scale them beforehand',
    );
  }
  // A share may have fewer columns than all the data.
  const whole = { ...train.dataset, columns: train.columns };
  const { dataset, factors } = scaleDataset(whole, scale);
  const alike = (other: Dataset) => (factors ? divideColumns(other, factors) : withUnitRows(other));
  return {
    ...input,
    train: { ...train, dataset },
    test: test && { ...test, dataset: alike(test.dataset) },
    ...(test && { plainTest: test }),
    ...(factors && { factors }),
  };
}

/** From this ratio of the sizes of columns on, scaling saves more time than it takes to read about it. */
const uneven = 1000;

/** Fields of a table come in whatever unit somebody chose. */
function adviseOnScale(dataset: Dataset): string | undefined {
  const { recipe, featureNames, stored } = dataset;
  if (stored || !featureNames || !recipe?.fields?.some(({ kind }) => kind === 'number')) {
    return undefined;
  }
  const sizes = columnScales(dataset, 'max');
  let [least, most] = [0, 0];
  for (let column = 1; column < sizes.length; column += 1) {
    if (sizes[column] > sizes[most]) most = column;
    if (sizes[column] < sizes[least]) least = column;
  }
  if (!(sizes[most] > uneven * sizes[least])) return undefined;
  const told = (column: number) => `${featureNames[column]} (up to ${sizes[column]})`;
  return `${told(most)} is far larger than ${told(least)}: scaling by std would make training faster, and one lambda fair to both`;
}

import type { Dataset } from '../data/dataset.ts';
import { targetsOf } from '../data/labels.ts';
import { divideColumns, scaleDataset, withUnitRows } from '../data/scale.ts';
import { UsageError } from '../errors.ts';
import { checkLabels } from '../losses/index.ts';
import { withClassWeights } from './class-weights.ts';
import type { Input, Settings } from './lay-out.ts';
import type { TrainOptions } from './options.ts';
import { classesOfShare, type Share, share, splitShare } from './shares.ts';

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
      ? await classesOfShare(sides.train, options.multiLabel ?? false)
      : undefined;
  // Labels that cannot be are found out now, where the number of their row is known.
  for (const side of [all, test]) if (side) checkLabels(loss, side.dataset, side.firstRow);
  if (test && classes) targetsOf(test.dataset, classes, test.firstRow);
  const { classWeights } = options;
  if (!classWeights) return scaled({ ...sides, classes }, options);
  const { dataset, columns } = sides.train;
  const weighed = await withClassWeights(dataset, classes, classWeights, company);
  const train = { ...(await share(weighed, company)), columns };
  return scaled({ train, test, classes }, options);
}

/** Divides columns or rows for training; rows to test on while training are divided alike. */
async function scaled(input: Input, { scale }: TrainOptions): Promise<Input> {
  if (scale === undefined) return input;
  const { train, test } = input;
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

import type { Dataset } from '../data/dataset.ts';
import type { Classes } from '../data/labels.ts';
import { UsageError } from '../errors.ts';
import { stream } from '../math/random.ts';
import { fitIsotonic, fitPlatt } from '../model/metrics/fit-calibration.ts';
import { chooseThreshold, decidingValues } from '../model/metrics/threshold.ts';
import type { Calibration, Model } from '../model/model.ts';
import { givesProbabilities } from '../model/predict/predict.ts';
import { noCheckpoints } from './checkpoints.ts';
import { fitSubproblem, inLanes } from './fit.ts';
import type { LaidOutTraining, Layout } from './layout.ts';
import { heldOutFolds } from './options/index.ts';
import { omit } from './options/option.ts';
import type { TrainOptions } from './options/options.ts';
import { preparationOptions } from './options/problem.ts';
import { checkValue } from './options/types.ts';
import type { ResolvedOptions } from './prepare.ts';
import type { DataShard } from './shard.ts';
import type { TimeBudget } from './train.ts';

const foldsType = preparationOptions.calibrateFolds.type;

/** Distinguishes this use of a seed from every other. */
const foldStream = 0xf01d;

/**
 * Which fold holds each row out. The rows of a class go to the folds in turn and the next class
 * begins where the last one ended, so folds differ by one row at most, and by one row of any class.
 * The result depends on the classes, the number of folds and the seed alone.
 */
export function assignFolds(
  rows: number,
  /** Of each row its class; without classes all rows are of one. */
  codes: Int32Array | undefined,
  folds: number,
  seed: number,
): Int32Array {
  checkFolds(folds, rows);
  const random = stream(seed, foldStream);
  const order = Int32Array.from({ length: rows }, (_, row) => row);
  random.shuffle(order, rows);
  // Sorting is stable: inside a class the order stays that of the shuffle.
  if (codes) order.sort((left, right) => codes[left] - codes[right]);
  const fold = new Int32Array(rows);
  for (let k = 0; k < rows; k += 1) fold[order[k]] = k % folds;
  return fold;
}

/** Every fold gets a row, and leaves some. */
export function checkFolds(folds: number, rows: number): void {
  checkValue('folds', folds, foldsType);
  if (rows < folds) {
    throw new UsageError(`${folds} folds need at least ${folds} rows; this data has ${rows}`);
  }
}

/** A model for each fold and vector, in this order. */
export function listFoldTasks(folds: number, vectors: number) {
  return Array.from({ length: folds * vectors }, (_, task) => {
    return { fold: Math.floor(task / vectors), vector: task % vectors };
  });
}

/** The weights of the rows, 0 for those of a fold. */
export function weightsWithout(
  { rowWeights }: Pick<Layout, 'rowWeights'>,
  folds: Int32Array,
  fold: number,
): Float64Array {
  return Float64Array.from(folds, (one, row) => (one === fold ? 0 : (rowWeights?.[row] ?? 1)));
}

/** Scores of the rows of a fold, in their order; `weights` by column, an intercept last. */
export function scoresOfFold(
  { parts, columns }: Dataset,
  weights: Float64Array = new Float64Array(0),
  fold: Int32Array,
  which: number,
): Float64Array {
  const intercept = weights.length > columns ? weights[columns] : 0;
  const scores: number[] = [];
  let row = 0;
  for (const { rowOffsets, labels, indices, values } of parts) {
    for (let local = 0; local < labels.length; local += 1) {
      if (fold[row++] !== which) continue;
      let sum = 0;
      for (let k = rowOffsets[local]; k < rowOffsets[local + 1]; k += 1) {
        sum += weights[indices[k]] * values[k];
      }
      scores.push(sum + intercept);
    }
  }
  return Float64Array.from(scores);
}

/** Refuses what cannot be calibrated before anything is trained. */
export function checkCalibration(
  { rows, group, dataset }: DataShard,
  options: TrainOptions,
  { loss }: Pick<ResolvedOptions, 'loss'>,
  classes: Classes | undefined,
): void {
  const { calibrate: spec, threshold, thresholdFor } = options;
  if (threshold !== undefined || thresholdFor !== undefined) {
    if (threshold !== undefined && thresholdFor !== undefined) {
      throw new UsageError('give threshold or thresholdFor, not both');
    }
    if (!classes || classes.multiLabel || classes.classes.length > 2) {
      throw new UsageError('a threshold is for two classes; this data or loss has others');
    }
  }
  const folds = heldOutFolds(options);
  if (folds === 0) return;
  if (spec) checkValue('calibrate.method', spec.method ?? null, preparationOptions.calibrate.type);
  checkValue('calibrate.folds', folds, foldsType);
  checkFolds(folds, rows);
  if (loss.task !== 'classification') {
    throw new UsageError(
      `calibration is for classification; the ${loss.name} loss is for ${loss.task}`,
    );
  }
  if (group.size > 1 || dataset.stored) {
    throw new UsageError(
      'calibration and the choice of a threshold train on folds of data that one process has in memory: use a sample, or do without',
    );
  }
}

/**
 * The calibration and the threshold that the options ask for, made of held-out scores: every row is
 * scored by a model that was trained, with the options of the model itself, on the folds it is not
 * in. Nothing where an interruption or the time limit leaves rows without a score.
 */
export async function fitToHeldOut(
  training: LaidOutTraining,
  budget: TimeBudget,
): Promise<Pick<Model, 'calibration' | 'threshold'>> {
  const { options, classes, settings, layout } = training;
  const { calibrate: spec, threshold: given, thresholdFor: goal } = options;
  if (heldOutFolds(options) === 0) return given === undefined ? {} : { threshold: given };
  const scores = await scoreHeldOut(training, budget);
  const plain = { loss: settings.loss, ...(classes && { classes: classes.classes }) };
  if (!scores) {
    if (given === undefined) return {};
    if (!spec || givesProbabilities(plain)) return { threshold: given };
    options.onNotice?.(
      `no threshold: ${given} is one of a calibrated probability, and there is none`,
      true,
    );
    return {};
  }
  const calibration = spec && calibrationOf(training, spec, scores);
  const parts = { ...(calibration && { calibration }) };
  if (goal === undefined) return given === undefined ? parts : { ...parts, threshold: given };
  const targets = layout.targets.of(0);
  const values = decidingValues({ ...plain, ...parts }, scores[0]);
  // Weights of classes are for training.
  const weights = training.plainWeights ?? layout.rowWeights;
  const threshold = chooseThreshold(goal, values, (row) => targets[row] > 0, weights);
  if (threshold !== undefined) return { ...parts, threshold };
  options.onNotice?.(`no threshold reaches ${goal} on the rows held out: the default stays`, true);
  return parts;
}

/** The scores of all rows by vector, each by a model that has not seen the row. */
async function scoreHeldOut(
  training: LaidOutTraining,
  budget: TimeBudget,
): Promise<Float64Array[] | undefined> {
  const { layout, settings, vectors, options, shard } = training;
  const { lambda, seed } = settings;
  const { dataset } = shard;
  const quiet = omit(options, 'onEpoch', 'onSample', 'earlyStop');
  const trial = { ...training, options: quiet, checkpoints: noCheckpoints };
  const count = heldOutFolds(options);
  const folds = assignFolds(dataset.rows, layout.targets.codes, count, seed);
  const scores = Array.from({ length: vectors }, () => new Float64Array(dataset.rows));
  let isWhole = true;
  await inLanes(trial, listFoldTasks(count, vectors), async ({ fold, vector }, lane) => {
    const time = budget();
    isWhole &&= !options.signal?.aborted && time > 0;
    if (!isWhole) return;
    const rowWeights = weightsWithout(layout, folds, fold);
    const { weights } = await fitSubproblem(trial, { vector, lambda, rowWeights }, lane, time);
    const found = scoresOfFold(dataset, weights, folds, fold).values();
    for (let row = 0; row < folds.length; row += 1) {
      if (folds[row] === fold) scores[vector][row] = found.next().value as number;
    }
  });
  if (!isWhole || options.signal?.aborted) {
    const lacking = options.calibrate ? 'not calibrated' : 'no threshold chosen';
    options.onNotice?.(`${lacking}: training ended before all folds had been scored`);
    return undefined;
  }
  return scores;
}

function calibrationOf(
  { layout, plainWeights }: LaidOutTraining,
  spec: NonNullable<TrainOptions['calibrate']>,
  scores: readonly Float64Array[],
): Calibration[] {
  const fitted = spec.method === 'platt' ? fitPlatt : fitIsotonic;
  return scores.map((own, vector) => {
    const positives = Uint8Array.from(layout.targets.of(vector), (target) => (target > 0 ? 1 : 0));
    // Weights of classes are for training: probabilities are those of the data as it is.
    return fitted(own, positives, plainWeights ?? layout.rowWeights);
  });
}

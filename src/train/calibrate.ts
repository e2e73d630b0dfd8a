import type { Dataset } from '../data/dataset.ts';
import { UsageError } from '../errors.ts';
import { stream } from '../math/random.ts';
import { fitIsotonic, fitPlatt } from '../model/metrics/fit-calibration.ts';
import type { Calibration } from '../model/model.ts';
import { noCheckpoints } from './checkpoints.ts';
import { fitSubproblem, inLanes } from './fit.ts';
import type { LaidOutTraining, Layout } from './layout.ts';
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

export function foldsOf({ folds = 5 }: NonNullable<TrainOptions['calibrate']>): number {
  return folds;
}

/** Refuses what cannot be calibrated before anything is trained. */
export function checkCalibration(
  { rows, group, dataset }: DataShard,
  { calibrate: spec }: TrainOptions,
  { loss }: Pick<ResolvedOptions, 'loss'>,
): void {
  if (!spec) return;
  checkValue('calibrate.method', spec.method ?? null, preparationOptions.calibrate.type);
  checkValue('calibrate.folds', spec.folds, foldsType);
  checkFolds(foldsOf(spec), rows);
  if (loss.task !== 'classification') {
    throw new UsageError(
      `calibration is for classification; the ${loss.name} loss is for ${loss.task}`,
    );
  }
  if (group.size > 1 || dataset.stored) {
    throw new UsageError(
      'calibration trains on folds of data that one process has in memory: calibrate a model of a sample, or do without',
    );
  }
}

/**
 * How the scores of each vector become probabilities, fitted to held-out scores: every row is scored
 * by a model that was trained, with the options of the model itself, on the folds it is not in.
 * Undefined where an interruption or the time limit leaves rows without a score.
 */
export async function calibrate(
  training: LaidOutTraining,
  spec: NonNullable<TrainOptions['calibrate']>,
  budget: TimeBudget,
): Promise<Calibration[] | undefined> {
  const { layout, settings, vectors, options, shard } = training;
  const { lambda, seed } = settings;
  const { dataset } = shard;
  const quiet = omit(options, 'onEpoch', 'onSample', 'earlyStop');
  const trial = { ...training, options: quiet, checkpoints: noCheckpoints };
  const count = foldsOf(spec);
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
    options.onNotice?.('not calibrated: training ended before all folds had been scored');
    return undefined;
  }
  const fitted = spec.method === 'platt' ? fitPlatt : fitIsotonic;
  return scores.map((own, vector) => {
    const positives = Uint8Array.from(layout.targets.of(vector), (target) => (target > 0 ? 1 : 0));
    return fitted(own, positives, layout.rowWeights);
  });
}

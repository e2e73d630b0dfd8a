import type { Dataset } from '../data/dataset.ts';
import { DataError, UsageError } from '../errors.ts';
import { stream } from '../math/random.ts';
import { fitIsotonic, fitPlatt } from '../model/metrics/fit-calibration.ts';
import type { Calibration } from '../model/model.ts';
import { RunCheckpoints } from './checkpoints.ts';
import { fitSubproblem, inLanes } from './fit.ts';
import type { LaidOutTraining } from './layout.ts';
import type { TrainOptions } from './options/options.ts';
import type { ResolvedOptions } from './prepare.ts';
import type { DataShard } from './shard.ts';
import type { TimeBudget } from './train.ts';

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
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new UsageError(`folds is ${folds}; it must be a whole number of at least 2`);
  }
  if (rows < folds) {
    throw new DataError(`${folds} folds need at least ${folds} rows; this data has ${rows}`);
  }
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

const defaultFolds = 5;

export function foldsOf({ folds = defaultFolds }: NonNullable<TrainOptions['calibrate']>): number {
  return folds;
}

/** Refuses what cannot be calibrated before anything is trained. */
export function checkCalibration(
  { rows, group, dataset }: DataShard,
  { calibrate: wanted }: TrainOptions,
  { loss }: Pick<ResolvedOptions, 'loss'>,
): void {
  if (!wanted) return;
  const { method, folds = defaultFolds } = wanted;
  if (method !== 'platt' && method !== 'isotonic') {
    throw new UsageError(`calibrate.method is ${String(method)}; it must be 'platt' or 'isotonic'`);
  }
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new UsageError(`calibrate.folds is ${folds}; it must be a whole number of at least 2`);
  }
  checkFolds(folds, rows);
  if (loss.task !== 'classification') {
    throw new UsageError(
      `probabilities are for classes; the ${loss.name} loss is for ${loss.task}: leave calibrate out`,
    );
  }
  if (group.size > 1 || dataset.stored) {
    throw new UsageError(
      'calibrate trains on folds of data that one process has in memory: calibrate a model of a sample, or leave it out',
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
  wanted: NonNullable<TrainOptions['calibrate']>,
  budget: TimeBudget,
): Promise<Calibration[] | undefined> {
  const folds = foldsOf(wanted);
  const { layout, settings, vectors, options } = training;
  const { dataset } = training.shard;
  const { onEpoch: _, onSample: ___, earlyStop: __, ...quiet } = options;
  const trial = { ...training, options: quiet, checkpoints: RunCheckpoints.none };
  const all = layout.rowWeights ?? new Float64Array(dataset.rows).fill(1);
  const fold = assignFolds(dataset.rows, layout.targets.codes, folds, settings.seed);
  const scores = Array.from({ length: vectors }, () => new Float64Array(dataset.rows));
  const tasks = Array.from({ length: folds * vectors }, (_task, task) => task);
  let isWhole = true;
  await inLanes(trial, tasks, async (task, lane) => {
    const time = budget.next();
    isWhole &&= !options.signal?.aborted && time > 0;
    if (!isWhole) return;
    const [which, vector] = [Math.floor(task / vectors), task % vectors];
    const weights = all.map((weight, row) => (fold[row] === which ? 0 : weight));
    const subproblem = { vector, lambda: settings.lambda, rowWeights: weights };
    const { weights: fitted } = await fitSubproblem(trial, subproblem, lane, time);
    let next = 0;
    const found = scoresOfFold(dataset, fitted, fold, which);
    for (let row = 0; row < fold.length; row += 1) {
      if (fold[row] === which) scores[vector][row] = found[next++];
    }
  });
  if (!isWhole || options.signal?.aborted) {
    options.onNotice?.('not calibrated: training ended before all folds had been scored');
    return undefined;
  }
  const fitted = wanted.method === 'platt' ? fitPlatt : fitIsotonic;
  return scores.map((own, vector) => {
    const positives = Uint8Array.from(layout.targets.of(vector), (target) => (target > 0 ? 1 : 0));
    return fitted(own, positives, layout.rowWeights);
  });
}

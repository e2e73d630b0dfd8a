import type { Dataset } from '../data/dataset.ts';
import { UsageError } from '../errors.ts';
import { fitIsotonic, fitPlatt } from '../model/metrics/fit-calibration.ts';
import type { Calibration } from '../model/model.ts';
import type { Allowance } from './allowance.ts';
import { fitProblem, inLanes, type Site } from './fit.ts';
import { checkFolds, dealFolds, scoresOfFold } from './folds.ts';
import type { Input, Settings } from './lay-out.ts';
import type { TrainOptions } from './options/options.ts';

const usualFolds = 5;

/** How many parts the rows are held out in. */
export function foldsOf({ folds = usualFolds }: NonNullable<TrainOptions['calibrate']>): number {
  return folds;
}

/** Refuses what cannot be calibrated before anything is trained. */
export function checkCalibration(
  { train }: Input,
  { calibrate: wanted }: TrainOptions,
  { loss }: Pick<Settings, 'loss'>,
): void {
  if (!wanted) return;
  const { method, folds = usualFolds } = wanted;
  if (method !== 'platt' && method !== 'isotonic') {
    throw new UsageError(`calibrate.method is ${String(method)}; it must be 'platt' or 'isotonic'`);
  }
  if (!(Number.isInteger(folds) && folds >= 2)) {
    throw new UsageError(`calibrate.folds is ${folds}; it must be a whole number of at least 2`);
  }
  checkFolds(folds, train.rows);
  if (loss.task !== 'classification') {
    throw new UsageError(
      `probabilities are for classes; the ${loss.name} loss is for ${loss.task}: leave calibrate out`,
    );
  }
  if (train.company || train.dataset.stored) {
    throw new UsageError(
      'calibrate trains on folds of data that one process has in memory: calibrate a model of a sample, or leave it out',
    );
  }
}

/**
 * How the scores of each vector become probabilities, fitted to scores that no row had a part in:
 * every row is scored by a model that was trained, with the options of the model itself, on the
 * folds it is not in. Where an interruption or the limit on time leaves rows without a score, there
 * is nothing to fit.
 */
export async function calibrate(
  site: Site,
  dataset: Dataset,
  wanted: NonNullable<TrainOptions['calibrate']>,
  allowance: Allowance,
): Promise<Calibration[] | undefined> {
  const folds = foldsOf(wanted);
  const { ground, settings, vectors } = site;
  const { onEpoch: _, onSample: ___, earlyStop: __, ...quiet } = site.options;
  const trial: Site = {
    ...site,
    options: quiet,
    beginnings: async () => ({ course: {}, release() {} }),
  };
  const all = ground.weights ?? new Float64Array(dataset.rows).fill(1);
  const fold = dealFolds(dataset.rows, ground.targets.codes, folds, settings.seed);
  const scores = Array.from({ length: vectors }, () => new Float64Array(dataset.rows));
  const tasks = Array.from({ length: folds * vectors }, (_task, task) => task);
  let isWhole = true;
  await inLanes(trial, tasks, async (task, lane) => {
    const time = allowance.next();
    isWhole &&= !site.options.signal?.aborted && time > 0;
    if (!isWhole) return;
    const [which, vector] = [Math.floor(task / vectors), task % vectors];
    const weights = all.map((weight, row) => (fold[row] === which ? 0 : weight));
    const { lambda } = settings;
    const { weights: fitted } = await fitProblem(trial, { vector, lambda, weights }, lane, time);
    let next = 0;
    const found = scoresOfFold(dataset, fitted, fold, which);
    for (let row = 0; row < fold.length; row += 1) {
      if (fold[row] === which) scores[vector][row] = found[next++];
    }
  });
  if (!isWhole || site.options.signal?.aborted) {
    site.options.onNotice?.('not calibrated: training ended before all folds had been scored');
    return undefined;
  }
  const fitted = wanted.method === 'platt' ? fitPlatt : fitIsotonic;
  return scores.map((own, vector) => {
    const positives = Uint8Array.from(ground.targets.of(vector), (target) => (target > 0 ? 1 : 0));
    return fitted(own, positives, ground.weights);
  });
}

import { UsageError } from '../errors.ts';
import type { TrainOptions } from '../train/options/options.ts';
import { withoutUndefined } from './defined.ts';
import type { TrainFlags } from './definitions/train.ts';

/** The options of the command line that the library has under the same name, or nearly. */
export function trainSettings(flags: TrainFlags): TrainOptions {
  const { lambda, threads, grid, seed, epochs, tolerance, time } = flags;
  const { multiLabel, classWeight: classWeights, scale, calibrate, calibrateFolds } = flags;
  const { holdout, intercept, auprc, memory, scratch, earlyStop } = flags;
  if (calibrateFolds !== undefined && calibrate === undefined) {
    throw new UsageError('--calibrate-folds goes with --calibrate, which names the method');
  }
  return withoutUndefined({
    multiLabel,
    classWeights,
    scale,
    calibrate: calibrate && { method: calibrate, ...withoutUndefined({ folds: calibrateFolds }) },
    earlyStop,
    auprc,
    memory,
    scratch,
    lambda,
    threads,
    grid,
    seed,
    epochs,
    tolerance,
    time,
    holdout,
    intercept,
  });
}

export function checkpointSettings(flags: TrainFlags): TrainOptions {
  const { checkpoint: folder, checkpointEvery: every, resume } = flags;
  return {
    ...(folder !== undefined && { checkpoint: { folder, ...withoutUndefined({ every }) } }),
    ...withoutUndefined({ resume }),
  };
}

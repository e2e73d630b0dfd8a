import { UsageError } from '../errors.ts';
import { nameOfSource } from '../train/read-dataset.ts';
import type { TrainFlags } from './definitions/train.ts';
import { checkOutput, checkStandardInput, checkStandardOutput, standardStream } from './outputs.ts';

/** `data/train.svm` → `train.svm.model` in the current folder. */
export function defaultModelPath(data: string): string {
  return `${nameOfSource(data)}.model`;
}

/** Refuses files that would be written over one another, and names of files that are never written. */
export function checkPaths(data: string, path: string, flags: TrainFlags, leads: boolean): void {
  const factors = flags.penaltyFactors;
  const files = [flags.sql === undefined ? data : undefined, flags.test, factors, flags.init];
  const inputs = files.filter((input) => input !== undefined);
  checkStandardInput(inputs);
  checkStandardOutput({
    '--output -': path === standardStream,
    '--log -': flags.log === standardStream,
    '--json': flags.json ?? false,
  });
  if (leads) {
    checkOutput('--output', path, inputs);
    if (flags.log !== undefined) checkOutput('--log', flags.log, inputs, [path]);
  }
  if (flags.visits !== undefined && flags.solver !== 'dso-async') {
    throw new UsageError(`--visits ${flags.visits}: only --solver dso-async records block visits`);
  }
  if (flags.checkpointEvery !== undefined && flags.checkpoint === undefined) {
    throw new UsageError('--checkpoint-every goes with --checkpoint, which names the folder');
  }
  const visits = visitsPath(flags, path);
  if (visits !== undefined) checkOutput('--visits', visits, inputs, [path]);
}

/** Where an asynchronous run is recorded; undefined for other solvers, and beside standard output. */
export function visitsPath(flags: TrainFlags, model: string): string | undefined {
  if (flags.solver !== 'dso-async') return undefined;
  return flags.visits ?? (model === standardStream ? undefined : `${model}.visits`);
}

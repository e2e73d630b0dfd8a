/** What the options of `dso train` name: the data, further files, and the settings of the library. */
import type { Dataset } from '../../data/dataset.ts';
import {
  gatherValues,
  type ProcessGroup,
  singleProcess,
} from '../../engine/processes/process-group.ts';
import { UsageError } from '../../errors.ts';
import { readModel } from '../../model/file.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { libraryOptions } from '../../train/options/index.ts';
import { libraryValues } from '../../train/options/option.ts';
import type { TrainOptions } from '../../train/options/options.ts';
import { startInGroup } from '../../train/warm-start.ts';
import type { TrainFlags } from './options.ts';
import { readPenaltyFactors } from './problem.ts';
import type { Progress } from './progress.ts';
import {
  checkOutput,
  checkStandardInput,
  checkStandardOutput,
  readData,
  readOrOpenData,
  readQueryData,
  readShardOf,
  schemaOfData,
  standardStream,
} from './reading.ts';

/** Refuses files that would overwrite one another, before anything is read. */
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
  const visits = visitsPath(flags, path);
  if (visits !== undefined) checkOutput('--visits', visits, inputs, [path]);
}

/** Where an asynchronous run is recorded; undefined for other solvers, and beside standard output. */
export function visitsPath(flags: TrainFlags, model: string): string | undefined {
  if (flags.solver !== 'dso-async') return undefined;
  return flags.visits ?? (model === standardStream ? undefined : `${model}.visits`);
}

/** The options that the library has too; those that name files are read by `readTrainingData`. */
export function trainSettings(flags: TrainFlags): TrainOptions {
  const { calibrate: method, calibrateFolds: folds } = flags;
  const { checkpoint: folder, checkpointEvery: every } = flags;
  return {
    ...libraryValues(libraryOptions, flags),
    ...(method && { calibrate: { method, ...(folds !== undefined && { folds }) } }),
    ...(folder !== undefined && { checkpoint: { folder, ...(every && { every }) } }),
  };
}

/** The data of `dso train`, and the options that are read from files. */
export async function readTrainingData(
  data: string,
  flags: TrainFlags,
  progress: Progress,
  group: ProcessGroup,
  loss: Loss,
): Promise<{ dataset: Dataset; options: TrainOptions }> {
  const single = group.size === 1;
  if (!single && flags.memory !== undefined) {
    throw new UsageError('--memory is for one process: give every rank its share in memory');
  }
  const dataset = await readRows(data, flags, progress, group);
  const options: TrainOptions = {};
  if (flags.test !== undefined) {
    options.test = single
      ? await readData(flags.test, flags, progress, schemaOfData(dataset))
      : await readShardOf(flags.test, flags, progress, group);
  }
  return {
    dataset,
    options: { ...options, ...(await readFurtherFiles(flags, dataset, loss, group)) },
  };
}

/** Penalty factors and the model to start from. */
export async function readFurtherFiles(
  { penaltyFactors, init, multiLabel = false }: Partial<TrainFlags>,
  dataset: Dataset,
  loss: Loss,
  group: ProcessGroup = singleProcess,
): Promise<Pick<TrainOptions, 'penaltyFactors' | 'start'>> {
  const columns = Math.max(...(await gatherValues(group, dataset.columns)));
  const wanted = { loss, multiLabel, columns };
  return {
    ...(penaltyFactors !== undefined && {
      penaltyFactors: await readPenaltyFactors(penaltyFactors, columns),
    }),
    ...(init !== undefined && {
      start: await startInGroup(await readModel(init), dataset, wanted, group),
    }),
  };
}

async function readRows(
  data: string,
  flags: TrainFlags,
  progress: Progress,
  group: ProcessGroup,
): Promise<Dataset> {
  if (group.size > 1 && flags.sql !== undefined) {
    throw new UsageError('--sql is for one process: write the rows to files for several ranks');
  }
  if (group.size > 1) return readShardOf(data, flags, progress, group);
  if (flags.sql !== undefined) return readQueryData(flags.sql, flags, progress);
  return readOrOpenData(data, flags, progress);
}

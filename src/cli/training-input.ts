import type { Progress } from '../apps/cli/progress.ts';
import type { Dataset } from '../data/dataset.ts';
import { gatherValues } from '../engine/processes/process-group.ts';
import { UsageError } from '../errors.ts';
import { readModel } from '../model/file.ts';
import type { Loss } from '../problem/losses/loss.ts';
import type { TrainOptions } from '../train/options/options.ts';
import { startTogether } from '../train/warm-start.ts';
import type { TrainFlags } from './definitions/train.ts';
import type { Job } from './job.ts';
import { readPenaltyFactors } from './problem.ts';
import { readQueryData } from './query-reading.ts';
import { likenessOfData, readData, readOrOpenData, readShareOf } from './reading.ts';

/** The data that `dso train` is given, and the options that are read from files. */
export async function readTrainingInput(
  data: string,
  flags: TrainFlags,
  progress: Progress,
  job: Job | undefined,
  loss: Loss,
): Promise<{ dataset: Dataset; options: TrainOptions }> {
  if (job && flags.memory !== undefined) {
    throw new UsageError('--memory is for one process: give every rank its share in memory');
  }
  const dataset = await readTraining(data, flags, progress, job);
  const options: TrainOptions = {};
  if (flags.test !== undefined) {
    options.test = job
      ? await readShareOf(flags.test, flags, progress, job.peers)
      : await readData(flags.test, flags, progress, likenessOfData(dataset));
  }
  const columns = Math.max(...(await gatherValues(job?.peers, dataset.columns)));
  if (flags.penaltyFactors !== undefined) {
    options.penaltyFactors = await readPenaltyFactors(flags.penaltyFactors, columns);
  }
  if (flags.init !== undefined) {
    const model = await readModel(flags.init);
    const { multiLabel = false } = flags;
    const wanted = { loss, multiLabel, columns };
    options.start = await startTogether(model, dataset, wanted, job?.peers);
  }
  return { dataset, options };
}

async function readTraining(
  data: string,
  flags: TrainFlags,
  progress: Progress,
  job: Job | undefined,
): Promise<Dataset> {
  if (job && flags.sql !== undefined) {
    throw new UsageError('--sql is for one process: write the rows to files for several ranks');
  }
  if (job) return readShareOf(data, flags, progress, job.peers);
  if (flags.sql !== undefined) return readQueryData(flags.sql, flags, progress);
  return readOrOpenData(data, flags, progress);
}

import type { Dataset } from '../data/dataset.ts';
import { countUnknownEntries } from '../metrics/score.ts';
import type { Model } from '../model/model.ts';
import { readDataset } from '../train/read-dataset.ts';
import { withoutUndefined } from './defined.ts';
import type { DataFlags } from './definitions/data-options.ts';
import type { Progress } from './progress.ts';
import { formatCount } from './text.ts';

/** Reads data as the options say and passes on what there is to note about it. */
export async function readData(
  source: string,
  flags: DataFlags,
  progress: Progress,
): Promise<Dataset> {
  progress.stage(`reading ${source === '-' ? 'standard input' : source}`);
  const { threads, zeroBased, sumDuplicates } = flags;
  const dataset = await readDataset(
    source,
    withoutUndefined({ threads, zeroBased, sumDuplicates }),
  );
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/** Data that a model is applied to: says how much of it the model does not know. */
export async function readForModel(
  model: Model,
  source: string,
  flags: DataFlags,
  progress: Progress,
): Promise<Dataset> {
  try {
    const dataset = await readData(source, flags, progress);
    const unknown = countUnknownEntries(model, dataset);
    if (unknown > 0) {
      progress.notice(
        `${dataset.name}: ignored ${formatCount(unknown)} values of features that the model ` +
          `does not have (it has ${formatCount(model.columns)})`,
      );
    }
    return dataset;
  } finally {
    progress.end();
  }
}

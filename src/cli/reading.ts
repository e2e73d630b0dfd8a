import type { Progress } from '../apps/cli/progress.ts';
import type { Dataset } from '../data/dataset.ts';
import type { Likeness } from '../data/recipe.ts';
import { gatherValues } from '../engine/processes/process-group.ts';
import { DataError } from '../errors.ts';
import type { Model } from '../model/model.ts';
import { countUnknownEntries } from '../model/predict/score.ts';
import type { Peers } from '../mpi/peers.ts';
import { formatCount } from '../reporting/format.ts';
import { readOrOpen } from '../train/open-dataset.ts';
import {
  type ReadDatasetOptions,
  readDataset,
  readShare,
  titleOfSource,
} from '../train/read-dataset.ts';
import { withoutUndefined } from './defined.ts';
import type { DataFlags } from './definitions/data-options.ts';

/** What the options say about reading. */
export function readOptions(flags: DataFlags & { readonly multiLabel?: true }): ReadDatasetOptions {
  const { format, label, weight, categorical, ignore, missing, missingValues } = flags;
  const { hash: hashBits, delimiter, zeroBased, sumDuplicates, threads } = flags;
  return withoutUndefined({
    format,
    label,
    weight,
    categorical,
    ignore,
    missing,
    missingValues,
    hashBits,
    header: flags.header === false ? false : undefined,
    delimiter,
    textLabels: flags.textLabels ?? flags.multiLabel,
    zeroBased,
    sumDuplicates,
    threads,
  });
}

/**
 * Reads data as the options say and passes on what there is to note about it. Columns and labels
 * mean what they mean in `like`, if that is given; every row must have a label unless `labelled`
 * says otherwise.
 */
export async function readData(
  source: string,
  flags: DataFlags,
  progress: Progress,
  like?: Likeness,
  labelled = true,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const options = { ...readOptions(flags), labelled, ...(like && { like }) };
  const dataset = await readDataset(source, options);
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/** The same for data to train on, which may be left on disk where memory is short. */
export async function readOrOpenData(
  source: string,
  flags: DataFlags & { readonly memory?: number },
  progress: Progress,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const { memory } = flags;
  const dataset = await readOrOpen(source, {
    ...readOptions(flags),
    ...withoutUndefined({ memory }),
  });
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/** Reads this rank's share of data that all ranks see alike. */
export async function readShareOf(
  source: string,
  flags: DataFlags,
  progress: Progress,
  peers: Peers,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const { rank, size: ranks } = peers;
  const options = { ...readOptions(flags), rank, ranks };
  const { dataset, files, listing } = await readShare(source, options);
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  const seen = await gatherValues(peers, { files, listing });
  const other = seen.findIndex((one) => one.listing !== seen[0].listing);
  if (other > 0) {
    throw new DataError(
      `${dataset.name}: ${peers.nameOf(other)} sees ${seen[other].files} files with other names or sizes than the ${seen[0].files} that ${peers.nameOf(0)} sees; all ranks must see the same files`,
    );
  }
  return dataset;
}

/** What test data has to share with the data that is trained on. */
export function likenessOfData({
  featureNames,
  labelNames,
  recipe,
}: Dataset): Likeness | undefined {
  if (!featureNames && !labelNames && !recipe) return undefined;
  return withoutUndefined({ featureNames, labelNames, recipe });
}

/** What other data has to share with the data that a model was trained on. */
function likenessOf({ classes, multiLabel, featureNames, recipe }: Model): Likeness {
  const isText = classes?.some((label) => typeof label === 'string') || multiLabel;
  const labelNames = isText ? classes?.map((label) => `${label}`) : undefined;
  return {
    ...(featureNames && { featureNames }),
    ...(labelNames && { labelNames }),
    ...(recipe && { recipe }),
  };
}

/**
 * Data that a model is applied to: says how much of it the model does not know. Where it is
 * `judged` by the labels, every row must have one, unless rows may have several.
 */
export async function readForModel(
  model: Model,
  source: string,
  flags: DataFlags,
  progress: Progress,
  judged = false,
): Promise<Dataset> {
  try {
    const labelled = judged && !model.multiLabel;
    const dataset = await readData(source, flags, progress, likenessOf(model), labelled);
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

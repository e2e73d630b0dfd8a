import type { Dataset } from '../data/dataset.ts';
import { DataError } from '../errors.ts';
import { countUnknownEntries } from '../metrics/score.ts';
import type { Model } from '../model/model.ts';
import type { Peers } from '../mpi/peers.ts';
import { gatherValues } from '../train/company.ts';
import { readOrOpen } from '../train/open-dataset.ts';
import { readDataset, readShare, titleOfSource } from '../train/read-dataset.ts';
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
  progress.stage(`reading ${titleOfSource(source)}`);
  const { threads, zeroBased, sumDuplicates } = flags;
  const dataset = await readDataset(
    source,
    withoutUndefined({ threads, zeroBased, sumDuplicates }),
  );
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
  const { threads, zeroBased, sumDuplicates, memory } = flags;
  const dataset = await readOrOpen(
    source,
    withoutUndefined({ threads, zeroBased, sumDuplicates, memory }),
  );
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/** Reads this rank's share of data that all ranks see alike. */
export async function readShareOf(
  source: string,
  { threads, zeroBased, sumDuplicates }: DataFlags,
  progress: Progress,
  peers: Peers,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const { rank, size: ranks } = peers;
  const options = withoutUndefined({ threads, zeroBased, sumDuplicates });
  const { dataset, files, listing } = await readShare(source, { ...options, rank, ranks });
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

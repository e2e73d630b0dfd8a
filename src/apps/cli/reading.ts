/** Reads what the options of a command name: data, test data, penalty factors, a model to start from. */
import type { Dataset, Likeness } from '../../data/dataset.ts';
import {
  gatherValues,
  type ProcessGroup,
  singleProcess,
} from '../../engine/processes/process-group.ts';
import { DataError, UsageError } from '../../errors.ts';
import { readModel } from '../../model/file.ts';
import type { Model } from '../../model/model.ts';
import { countUnknownEntries } from '../../model/predict/score.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { formatCount } from '../../reporting/format.ts';
import { libraryValues, pick } from '../../train/options/option.ts';
import type { TrainOptions } from '../../train/options/options.ts';
import { memoryOptions } from '../../train/options/run.ts';
import {
  type ReadDatasetOptions,
  readDataset,
  readOrOpen,
  readShard,
  titleOfSource,
} from '../../train/read.ts';
import { startInGroup } from '../../train/warm-start.ts';
import { readLines } from './files.ts';
import { type DataFlags, readingOptions, type TrainFlags } from './options.ts';
import type { Progress } from './progress.ts';

/** The options of reading, by their names in the library. */
export function readOptions(
  flags: DataFlags & { readonly multiLabel?: boolean },
): ReadDatasetOptions {
  const textLabels = flags.textLabels ?? flags.multiLabel;
  return {
    ...libraryValues(readingOptions, flags),
    ...(textLabels !== undefined && { textLabels }),
  };
}

/** Passes on what there is to note about data. */
function withNotices(dataset: Dataset, progress: Progress): Dataset {
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/**
 * Columns and labels mean what they mean in `like`, if that is given; every row must have a label
 * unless `labelled` is false.
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
  return withNotices(await readDataset(source, options), progress);
}

/** Data to train on, which may be left on disk where memory is short. */
export async function readOrOpenData(
  source: string,
  flags: DataFlags & { readonly memory?: number },
  progress: Progress,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const options = { ...readOptions(flags), ...libraryValues(pick(memoryOptions, 'memory'), flags) };
  return withNotices(await readOrOpen(source, options), progress);
}

/** The rows of a query. */
export async function readQueryData(
  sql: string,
  flags: DataFlags,
  progress: Progress,
): Promise<Dataset> {
  progress.stage('running the query');
  const { readQuery } = await import('../../data/tables/query.ts');
  return withNotices(await readQuery(sql, readOptions(flags)), progress);
}

/** What messages call the data, a file or the rows of a query; an error unless one is given. */
export function chooseSource(data: string | undefined, sql: string | undefined): string {
  if (data !== undefined && sql !== undefined) {
    throw new UsageError(`${data} and --sql; expected one of them`);
  }
  if (data === undefined && sql === undefined) {
    throw new UsageError("missing required argument 'data', or --sql with a query");
  }
  return data ?? 'query';
}

/** This rank's share of data that all ranks see alike. */
async function readShardOf(
  source: string,
  flags: DataFlags,
  progress: Progress,
  group: ProcessGroup,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const { rank, size: ranks } = group;
  const { files, listing, ...shard } = await readShard(source, {
    ...readOptions(flags),
    rank,
    ranks,
  });
  const dataset = withNotices(shard.dataset, progress);
  const seen = await gatherValues(group, { files, listing });
  const other = seen.findIndex((one) => one.listing !== seen[0].listing);
  if (other > 0) {
    throw new DataError(
      `${dataset.name}: ${group.nameOf(other)} sees ${seen[other].files} files with other names or sizes than the ${seen[0].files} that ${group.nameOf(0)} sees; all ranks must see the same files`,
    );
  }
  return dataset;
}

/** The data of `dso train`: of a file, of a query, or of the files that several ranks share. */
export async function readTrainingData(
  data: string,
  flags: TrainFlags,
  progress: Progress,
  group: ProcessGroup,
): Promise<Dataset> {
  const { sql, memory } = flags;
  if (group.size === 1) {
    if (sql !== undefined) return readQueryData(sql, flags, progress);
    return readOrOpenData(data, flags, progress);
  }
  if (memory !== undefined) {
    throw new UsageError('--memory is for one process: give every rank its share in memory');
  }
  if (sql !== undefined) {
    throw new UsageError('--sql is for one process: write the rows to files for several ranks');
  }
  return readShardOf(data, flags, progress, group);
}

type FileFlags = Partial<Pick<TrainFlags, 'test' | 'penaltyFactors' | 'init' | 'multiLabel'>>;

/** The options that are read from files: test data, penalty factors, the model to start from. */
export async function readFileOptions(
  flags: DataFlags & FileFlags,
  dataset: Dataset,
  progress: Progress,
  loss?: Loss,
  group: ProcessGroup = singleProcess,
): Promise<Pick<TrainOptions, 'test' | 'penaltyFactors' | 'start'>> {
  const { test, penaltyFactors, init, multiLabel = false } = flags;
  const columns = Math.max(...(await gatherValues(group, dataset.columns)));
  const options: Pick<TrainOptions, 'test' | 'penaltyFactors' | 'start'> = {};
  if (test !== undefined) {
    options.test =
      group.size === 1
        ? await readData(test, flags, progress, schemaOfData(dataset))
        : await readShardOf(test, flags, progress, group);
  }
  if (penaltyFactors !== undefined) {
    options.penaltyFactors = await readPenaltyFactors(penaltyFactors, columns);
  }
  if (init !== undefined) {
    const wanted = { ...(loss && { loss }), multiLabel, columns };
    options.start = await startInGroup(await readModel(init), dataset, wanted, group);
  }
  return options;
}

/** What test data has to share with the data that is trained on; undefined: nothing. */
function schemaOfData(dataset: Dataset): Likeness | undefined {
  const schema = schemaOf(dataset);
  return Object.keys(schema).length > 0 ? schema : undefined;
}

function schemaOf({ featureNames, labelNames, recipe }: Likeness): Likeness {
  return {
    ...(featureNames && { featureNames }),
    ...(labelNames && { labelNames }),
    ...(recipe && { recipe }),
  };
}

/** A positive number per line; there may be more lines than the data has columns. */
export async function readPenaltyFactors(path: string, columns: number): Promise<Float64Array> {
  const lines = await readLines(path);
  if (lines.length < columns) {
    throw new DataError(
      `${path}: ${lines.length} lines; expected a penalty factor for each of ${columns} columns`,
    );
  }
  return Float64Array.from(lines.slice(0, columns), (line, index) => {
    const factor = line.trim() === '' ? Number.NaN : Number(line);
    if (factor > 0 && Number.isFinite(factor)) return factor;
    throw new DataError(
      `${path}:${index + 1}: ${JSON.stringify(line)}; expected a positive number`,
    );
  });
}

/**
 * Data that a model is applied to; notes how much of it the model does not know. If it is `judged`
 * by its labels, every row must have one, unless rows may have several.
 */
export async function readForModel(
  model: Model,
  source: string,
  flags: DataFlags,
  progress: Progress,
  judged = false,
): Promise<Dataset> {
  const { classes, multiLabel } = model;
  const isText = classes?.some((label) => typeof label === 'string') || multiLabel;
  const labelNames = isText ? classes?.map((label) => `${label}`) : undefined;
  const like = { ...schemaOf(model), ...(labelNames && { labelNames }) };
  const dataset = await readData(source, flags, progress, like, judged && !multiLabel);
  const unknown = countUnknownEntries(model, dataset);
  if (unknown > 0) {
    progress.notice(
      `${dataset.name}: ignored ${formatCount(unknown)} values of features that the model ` +
        `does not have (it has ${formatCount(model.columns)})`,
    );
  }
  return dataset;
}

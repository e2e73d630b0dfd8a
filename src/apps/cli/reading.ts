/** Reads what the options of a command name: data, test data, penalty factors, a model to start from. */

import type { Dataset, DatasetSchema } from '../../data/dataset.ts';
import type { Label } from '../../data/labels.ts';
import { listFiles } from '../../data/read/read.ts';
import { standardInput, titleOfSource } from '../../data/read/sources.ts';
import { checkAgreement } from '../../engine/processes/agreement.ts';
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
import { type ReadDatasetOptions, readDataset, readOrOpen, readShard } from '../../train/read.ts';
import { startInGroup } from '../../train/warm-start.ts';
import { readLines } from './files.ts';
import { type DataFlags, readingOptions } from './options.ts';
import type { Progress } from './progress.ts';

export function readOptions(
  flags: DataFlags & { readonly multiLabel?: boolean },
): ReadDatasetOptions {
  const textLabels = flags.textLabels ?? flags.multiLabel;
  return {
    ...libraryValues(readingOptions, flags),
    ...(textLabels !== undefined && { textLabels }),
  };
}

type ReadFlags = DataFlags & {
  readonly [Name in 'sql' | 'test' | 'penaltyFactors' | 'init']?: string;
} & { readonly memory?: number; readonly multiLabel?: boolean; readonly positive?: Label };

type FileOptions = Pick<TrainOptions, 'test' | 'penaltyFactors' | 'start'>;

/** Reads data as the options say, and shows what is being read and the notices about it. */
export class DataReader {
  readonly #flags: ReadFlags;
  readonly #progress: Progress;
  readonly #group: ProcessGroup;

  constructor(flags: ReadFlags, progress: Progress, group: ProcessGroup = singleProcess) {
    this.#flags = flags;
    this.#progress = progress;
    this.#group = group;
  }

  async #show(stage: string, read: () => Promise<Dataset>): Promise<Dataset> {
    this.#progress.stage(stage);
    const dataset = await read();
    for (const notice of dataset.notices) this.#progress.notice(`${dataset.name}: ${notice}`);
    return dataset;
  }

  /**
   * Columns and labels mean what they mean in `like`, if that is given; every row must have a label
   * unless `labelled` is false.
   */
  read(source: string, like?: DatasetSchema, labelled = true): Promise<Dataset> {
    const options = {
      ...readOptions(this.#flags),
      callingThread: true,
      labelled,
      ...(like && { like }),
    };
    return this.#show(readingStage(source), () => readDataset(source, options));
  }

  /** Data to train on, which may be left on disk where memory is short. */
  readOrOpen(source: string): Promise<Dataset> {
    const memory = libraryValues(pick(memoryOptions, 'memory'), this.#flags);
    const options = { ...readOptions(this.#flags), ...memory, callingThread: true };
    return this.#show(readingStage(source), () => readOrOpen(source, options));
  }

  query(sql: string): Promise<Dataset> {
    return this.#show('running the query', async () => {
      const { readQuery } = await import('../../data/tables/query.ts');
      return readQuery(sql, readOptions(this.#flags));
    });
  }

  /** This rank's share of data that all ranks see alike. */
  async #shard(source: string): Promise<Dataset> {
    const group = this.#group;
    const options = { ...readOptions(this.#flags), rank: group.rank, ranks: group.size };
    await this.#compareFiles(source);
    return this.#show(readingStage(source), async () => (await readShard(source, options)).dataset);
  }

  /** Ranks may be on machines whose files differ. */
  async #compareFiles(source: string): Promise<void> {
    if (this.#group.size === 1) return;
    await checkAgreement(this.#group, {
      data: `${titleOfSource(source)}: ${await listFiles(source)}`,
    });
  }

  /** All of the data in each rank. */
  async readEverywhere(source: string): Promise<Dataset> {
    if (this.#group.size > 1 && source === standardInput) {
      throw new UsageError(
        'standard input (-) goes to one rank, and each needs all of the data: write it to a file',
      );
    }
    await this.#compareFiles(source);
    return this.read(source);
  }

  /** The data of `dso train`: of a file, of a query, or of the files that several ranks share. */
  training(data: string): Promise<Dataset> {
    const { sql, memory } = this.#flags;
    if (this.#group.size === 1) return sql === undefined ? this.readOrOpen(data) : this.query(sql);
    if (memory !== undefined) {
      throw new UsageError('--memory is for one process: give every rank its share in memory');
    }
    if (sql !== undefined) {
      throw new UsageError('--sql is for one process: write the rows to files for several ranks');
    }
    return this.#shard(data);
  }

  /** The options that are read from files: test data, penalty factors, the model to start from. */
  async fileOptions(dataset: Dataset, loss?: Loss): Promise<FileOptions> {
    const { test, penaltyFactors, init, positive, multiLabel = false } = this.#flags;
    const group = this.#group;
    const columns = Math.max(...(await gatherValues(group, dataset.columns)));
    const options: FileOptions = {};
    if (test !== undefined) {
      const isWhole = group.size === 1;
      options.test = await (isWhole ? this.read(test, schemaOfData(dataset)) : this.#shard(test));
    }
    if (penaltyFactors !== undefined) {
      options.penaltyFactors = await readPenaltyFactors(penaltyFactors, columns);
    }
    if (init !== undefined) {
      const wanted = { ...(loss && { loss }), ...(positive !== undefined && { positive }) };
      options.start = await startInGroup(
        await readModel(init),
        dataset,
        { ...wanted, multiLabel, columns },
        group,
      );
    }
    return options;
  }

  /** Data that a model was trained on, read as it was then. */
  asTrainedOn(model: Model, source: string): Promise<Dataset> {
    const { classes, multiLabel } = model;
    const textLabels = multiLabel || classes?.some((label) => typeof label === 'string');
    const like = schemaOf(model);
    const options = {
      ...readOptions(this.#flags),
      ...(textLabels && { textLabels }),
      ...(Object.keys(like).length > 0 && { like }),
    };
    return this.#show(readingStage(source), () => readOrOpen(source, options));
  }

  /**
   * Data that a model is applied to; notes how much of it the model does not know. If it is `judged`
   * by its labels, every row must have one, unless rows may have several.
   */
  async forModel(model: Model, source: string, judged = false): Promise<Dataset> {
    const { classes, multiLabel } = model;
    const isText = classes?.some((label) => typeof label === 'string') || multiLabel;
    const labelNames = isText ? classes?.map((label) => `${label}`) : undefined;
    const like = { ...schemaOf(model), ...(labelNames && { labelNames }) };
    const dataset = await this.read(source, like, judged && !multiLabel);
    const unknown = countUnknownEntries(model, dataset);
    if (unknown > 0) {
      this.#progress.notice(
        `${dataset.name}: ignored ${formatCount(unknown)} values of features that the model ` +
          `does not have (it has ${formatCount(model.columns)})`,
      );
    }
    return dataset;
  }
}

function readingStage(source: string): string {
  return `reading ${titleOfSource(source)}`;
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

/** What test data has to share with the data that is trained on; undefined: nothing. */
function schemaOfData(dataset: Dataset): DatasetSchema | undefined {
  const schema = schemaOf(dataset);
  return Object.keys(schema).length > 0 ? schema : undefined;
}

function schemaOf({ featureNames, labelNames, recipe }: DatasetSchema): DatasetSchema {
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

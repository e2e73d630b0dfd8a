import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, resolve } from 'node:path';
import type { Dataset, Likeness } from '../../data/dataset.ts';
import { compressionOf, decompress } from '../../data/read/byte-blocks.ts';
import { gatherValues, type ProcessGroup } from '../../engine/processes/process-group.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { Model } from '../../model/model.ts';
import { countUnknownEntries } from '../../model/predict/score.ts';
import { formatCount } from '../../reporting/format.ts';
import { dataOptions, threadsOption } from '../../train/options/data.ts';
import { libraryValues } from '../../train/options/option.ts';
import {
  filesOfSource,
  nameOfSource,
  type ReadDatasetOptions,
  readDataset,
  readOrOpen,
  readShard,
  titleOfSource,
} from '../../train/read.ts';
import type { DataFlags } from './options.ts';
import type { Progress } from './progress.ts';

/** The options of reading, by their names in the library. */
export function readOptions(
  flags: DataFlags & { readonly multiLabel?: boolean },
): ReadDatasetOptions {
  const textLabels = flags.textLabels ?? flags.multiLabel;
  return {
    ...libraryValues({ ...dataOptions, ...threadsOption }, flags),
    ...(textLabels !== undefined && { textLabels }),
  };
}

/** `data/train.svm` → `train.svm.model` in the current folder. */
export function defaultModelPath(data: string): string {
  return `${nameOfSource(data)}.model`;
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
    ...(memory !== undefined && { memory }),
  });
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/** Reads this rank's share of data that all ranks see alike. */
export async function readShardOf(
  source: string,
  flags: DataFlags,
  progress: Progress,
  group: ProcessGroup,
): Promise<Dataset> {
  progress.stage(`reading ${titleOfSource(source)}`);
  const { rank, size: ranks } = group;
  const options = { ...readOptions(flags), rank, ranks };
  const { dataset, files, listing } = await readShard(source, options);
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  const seen = await gatherValues(group, { files, listing });
  const other = seen.findIndex((one) => one.listing !== seen[0].listing);
  if (other > 0) {
    throw new DataError(
      `${dataset.name}: ${group.nameOf(other)} sees ${seen[other].files} files with other names or sizes than the ${seen[0].files} that ${group.nameOf(0)} sees; all ranks must see the same files`,
    );
  }
  return dataset;
}

/** What test data has to share with the data that is trained on. */
export function schemaOfData({ featureNames, labelNames, recipe }: Dataset): Likeness | undefined {
  if (!featureNames && !labelNames && !recipe) return undefined;
  return {
    ...(featureNames && { featureNames }),
    ...(labelNames && { labelNames }),
    ...(recipe && { recipe }),
  };
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

/** Data is a file or the answer to a query: what was asked for, if it is one of them. */
export function chooseSource(
  data: string | undefined,
  sql: string | undefined,
): { readonly data: string } | { readonly sql: string } {
  if (data !== undefined && sql !== undefined) {
    throw new UsageError(`${data} and --sql; expected one of them`);
  }
  if (sql !== undefined) return { sql };
  if (data !== undefined) return { data };
  throw new UsageError("missing required argument 'data', or --sql with a query");
}

/** Reads the rows of a query as the options say and passes on what there is to note about them. */
export async function readQueryData(
  sql: string,
  flags: DataFlags,
  progress: Progress,
  like?: Likeness,
): Promise<Dataset> {
  progress.stage('running the query');
  const { readQuery } = await import('../../data/tables/query.ts');
  const dataset = await readQuery(sql, { ...readOptions(flags), ...(like && { like }) });
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

/** What `-` stands for: standard input as a source, standard output as a target. */
export const standardStream = '-';

/**
 * Refuses an output path before any work is done for it: its folder has to exist and to take new
 * files, and it must be neither one of the inputs nor another output.
 */
export function checkOutput(
  option: string,
  path: string,
  inputs: readonly string[],
  outputs: readonly string[] = [],
): void {
  if (path === standardStream) return;
  const folder = dirname(path);
  const refuse = (reason: string): never => {
    throw new UsageError(`${option} ${path}: ${reason}`);
  };
  if (!isFolder(folder)) refuse(`there is no folder ${folder}`);
  if (isFolder(path)) refuse('that is a folder; wanted the name of a file');
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    refuse(`no permission to write into the folder ${folder}`);
  }
  const same = (other: string) => other !== standardStream && realPath(other) === realPath(path);
  if (inputs.flatMap(filesOf).some(same)) refuse('that is also an input, which it would replace');
  const pattern = inputs.find((input) => isPatternOf(input, path));
  if (pattern !== undefined) {
    refuse(`the pattern ${pattern} matches it, and the next run would take it for data`);
  }
  if (outputs.some(same)) refuse('that is where another output goes; choose another name');
}

/** Whether an input is a pattern that an output's name fits. */
function isPatternOf(input: string, path: string): boolean {
  if (!/[*?[{]/.test(input) || existsSync(input)) return false;
  return matchesGlob(resolve(path), resolve(input));
}

/** The files that an input stands for; one that is not there will be missed when it is read. */
function filesOf(input: string): string[] {
  try {
    return filesOfSource(input);
  } catch {
    return [input];
  }
}

/** At most one thing can go to standard output. */
export function checkStandardOutput(uses: Readonly<Record<string, boolean>>): void {
  const users = Object.keys(uses).filter((option) => uses[option]);
  if (users.length > 1) {
    throw new UsageError(`${users.join(' and ')} both want standard output; choose one`);
  }
}

/** Standard input can be read only once. */
export function checkStandardInput(sources: readonly (string | undefined)[]): void {
  if (sources.filter((source) => source === standardStream).length > 1) {
    throw new UsageError('- can be given for one input only: there is one standard input');
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The path without links, also for a file that does not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return isFolder(folder) ? join(realpathSync(folder), basename(path)) : path;
  }
}

/** The lines of a text file, plain, .gz or .zst, without their line ends. */
export async function readLines(path: string): Promise<string[]> {
  const bytes = await readBytes(path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of decompress(once(bytes), compressionOf(bytes, path), path)) {
    chunks.push(chunk);
  }
  const lines = Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DataError(`${path}: ${code === 'ENOENT' ? 'no such file' : message}`, { cause });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

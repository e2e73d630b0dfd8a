import { join, resolve } from 'node:path';
import packageDescription from '../../package.json' with { type: 'json' };
import { hashText } from '../data/fingerprint.ts';
import { withName } from '../data/read/line-error.ts';
import { workersOfRank } from '../engine/block-layout.ts';
import type { CheckpointFile, Header, Identity } from '../engine/checkpoint/file.ts';
import { checkpointsIn, clearPartial, makeFolder } from '../engine/checkpoint/folder.ts';
import { FolderLock } from '../engine/checkpoint/lock.ts';
import {
  checkpointSetOf,
  chooseEpoch,
  listing,
  listingText,
  newestFile,
  parseListing,
} from '../engine/checkpoint/resume.ts';
import type { CheckpointWriterSettings, Interval } from '../engine/checkpoint/writer.ts';
import { gatherValues } from '../engine/processes/process-group.ts';
import { DataError, UsageError } from '../errors.ts';
import type { SavedConvergence } from '../solvers/convergence.ts';
import type { Gap } from '../solvers/objective/objective.ts';
import { isReplay } from '../solvers/registry.ts';
import type { Resume } from '../solvers/run.ts';
import { checkedConvergence } from '../solvers/saved-state.ts';
import { settingsOf } from './assemble.ts';
import { problemIdentity } from './identity.ts';
import { settingWords } from './options/index.ts';
import type { TrainOptions } from './options/options.ts';
import type { PreparedTraining } from './prepare.ts';
import { type DataShard, hashOfShard } from './shard.ts';

/** What identifies the runs of a training, and where their checkpoints go. */
interface CheckpointedTraining extends Omit<PreparedTraining, 'checkpoints' | 'warmStarts'> {
  /** All rows that were read, those held out included. */
  readonly all: DataShard;
}

/** Where one run begins, and where it is saved. */
export interface RunCheckpoint {
  readonly checkpoint?: CheckpointWriterSettings;
  readonly resume?: Resume;
}

/** The checkpoints of a training, which has a run for each vector of its model. */
export interface RunCheckpoints {
  /** Begins the run of a vector; to be released when it is over, however it ends. */
  begin(vector: number): Promise<RunCheckpoint & { release(): void }>;
}

/** Runs that start at the beginning and are not saved. */
export const noCheckpoints: RunCheckpoints = { begin: async () => ({ release() {} }) };

/** What a checkpoint must have in common with the run that continues from it. */
type ExpectedHeader = Pick<Header, 'program' | 'identity' | 'tolerance' | 'test'>;

const defaultInterval: Interval = { seconds: 60 };

export async function openCheckpoints(training: CheckpointedTraining): Promise<RunCheckpoints> {
  const { options, plan, settings } = training;
  if (!options.checkpoint && options.resume === undefined) return noCheckpoints;
  if (isReplay(plan)) {
    throw new UsageError('a replay of recorded visits cannot be saved or resumed: run it whole');
  }
  const header: ExpectedHeader = {
    program: packageDescription.version,
    identity: identityOf(training, await training.hash),
    tolerance: settings.tolerance,
    test: await testOf(training),
  };
  return { begin: (vector) => beginRun(training, header, vector) };
}

/** Finds the checkpoint that a vector's run continues from, and prepares the folder for new ones. */
async function beginRun(training: CheckpointedTraining, header: ExpectedHeader, vector: number) {
  const { options, vectors } = training;
  const { checkpoint, resume } = options;
  const { identity } = header;
  const named = { ...identity.options, ...(vectors > 1 && { vector: vector + 1, vectors }) };
  const own = { ...header, identity: { ...identity, options: named } };
  const within = (folder: string) =>
    vectors === 1 ? folder : join(folder, `vector-${String(vector + 1).padStart(6, '0')}`);
  const from = resume === undefined ? undefined : within(resume);
  const folder = checkpoint && within(checkpoint.folder);
  const continues = !!from && !!folder && resolve(folder) === resolve(from);
  // Locked before it is read: a run that still saves there would remove files meanwhile.
  let lock = continues ? takeFolder(training, folder, true) : undefined;
  try {
    const found = from === undefined ? undefined : await resumePoint(training, own, from);
    // Of several vectors, the run may have been ended before it came to this one.
    if (from !== undefined && !found && vector === 0) {
      if (!continues) throw new DataError(`${from}: no checkpoint there to resume from`);
      noticeOf(training)?.(`no checkpoint in ${from} yet: training begins with the first epoch`);
    }
    const resumed = found && { resume: found };
    if (folder === undefined) return { ...resumed, release() {} };
    if (!continues) lock = takeFolder(training, folder, false);
    const previous = found && continues && { previous: found.found.header.epoch };
    const every = checkpoint?.every ?? defaultInterval;
    const settings = { ...own, folder: resolve(folder), every, ...previous };
    return { checkpoint: settings, ...resumed, release: () => lock?.release() };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Makes sure that no other run saves these workers there, and that it can be written to. */
function takeFolder(
  { group, grid }: CheckpointedTraining,
  given: string,
  continues: boolean,
): FolderLock | undefined {
  const workers = workersOfRank(group, grid);
  const folder = resolve(given);
  if (!continues && checkpointsIn(folder, workers).length > 0) {
    throw new UsageError(
      `${given} holds the checkpoints of a run: resume it from there, name another folder, or remove them first`,
    );
  }
  if (workers[0] === workers[1]) return undefined;
  makeFolder(folder);
  const lock = new FolderLock(folder, workers, grid);
  try {
    clearPartial(folder, workers);
  } catch (error) {
    lock.release();
    throw error;
  }
  return lock;
}

/** All ranks come to the same conclusions; rank 0 reports them. */
function noticeOf({ group, options }: CheckpointedTraining): TrainOptions['onNotice'] {
  return group.leads ? options.onNotice : undefined;
}

/** The newest complete checkpoint in a folder, if it has one. */
async function resumePoint(
  training: CheckpointedTraining,
  own: ExpectedHeader,
  given: string,
): Promise<Resume | undefined> {
  const { all, settings, grid, group } = training;
  const notice = noticeOf(training);
  const folder = resolve(given);
  const { size } = group;
  const here = listing(folder, workersOfRank(group, grid), size === 1 ? 1 : Infinity);
  // A single process needs one complete checkpoint; several must find one that all of them have.
  const listings =
    size === 1 ? [here] : (await gatherValues(group, listingText(here))).map(parseListing);
  const newest = newestFile(listings);
  if (newest) checkSame(all.dataset.name, newest, own);
  const choice = chooseEpoch(listings, grid, (rank) => workersOfRank({ rank, size }, grid));
  if (!choice) return undefined;
  for (const problem of choice.passedOver) {
    notice?.(`${problem}; an older checkpoint is used instead`);
  }
  const { header } = choice;
  const found = checkpointSetOf(here, choice);
  const path = found.parts.length === 1 ? found.parts[0].path : folder;
  checkConvergence(path, header);
  if (settings.epochs < header.epoch) {
    throw new UsageError(
      `training is to end after epoch ${settings.epochs}; the checkpoint ${path} is at epoch ${header.epoch} already`,
    );
  }
  notice?.(`resuming after epoch ${header.epoch}, from ${path}`);
  const sameTolerance = header.tolerance === own.tolerance;
  if (!sameTolerance) {
    notice?.(
      `tolerance was ${header.tolerance}, is ${own.tolerance}: as good a model as from the start, but not the same bits`,
    );
  }
  return { found, sameTolerance, sameTest: header.test === own.test };
}

/** In the main thread, which uses it too. */
function checkConvergence(path: string, header: Header): void {
  try {
    checkedConvergence(header.saved.convergence, header);
  } catch (error) {
    throw withName(path, error);
  }
}

/** Any difference would give a model that neither run would have given. */
function checkSame(name: string, { path, header }: CheckpointFile, own: ExpectedHeader): void {
  const { program, identity } = header;
  if (program !== own.program) {
    throw new DataError(
      `${path}: written by dso ${program}; this is dso ${own.program}, whose numbers may differ`,
    );
  }
  for (const key of ['rows', 'columns', 'nonzeros'] as const) {
    const [was, is] = [identity.data[key], own.identity.data[key]];
    if (was !== is) {
      throw new DataError(`${name}: ${is} ${key}; the checkpoint ${path} is of a run on ${was}`);
    }
  }
  if (identity.data.hash !== own.identity.data.hash) {
    throw new DataError(
      `${name}: other numbers than those of the checkpoint ${path}, though as many of them`,
    );
  }
  const [before, now] = [identity.options, own.identity.options];
  const differences = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((key) => (before[key] ?? null) !== (now[key] ?? null))
    // The settings of another solver follow from it.
    .filter((key) => before.solver === now.solver || !(key in settingWords))
    .map((key) => `${settingWords[key] ?? key} was ${shown(before[key])}, is ${shown(now[key])}`);
  if (differences.length > 0) {
    throw new UsageError(`${path}: the checkpoint of another run: ${differences.join('; ')}`);
  }
}

function shown(value: Identity['options'][string] | undefined): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value ?? 'not given');
}

function identityOf(
  { all, options, settings, plan, grid }: CheckpointedTraining,
  hash: string,
): Identity {
  const { rows, columns, nonzeros } = all;
  const { labelNames } = all.dataset;
  return {
    data: { rows, columns, nonzeros, hash },
    options: {
      ...problemIdentity({ ...options, grid }, settings),
      'label names': labelNames ? hashText(JSON.stringify(labelNames)) : null,
      solver: plan.name,
      ...Object.fromEntries(
        settingsOf(plan).map(([name, value]) => [name, (value ?? null) as number | null]),
      ),
    },
  };
}

/** Errors measured on test rows are of use only for the same rows, measured in the same way. */
async function testOf({ test, options }: CheckpointedTraining): Promise<string | null> {
  if (!test) return null;
  const { holdout, testOn = 'best', auprc = false } = options;
  const rows = holdout === undefined ? await hashOfShard(test) : 'holdout';
  return `${rows} ${testOn}${auprc ? ' auprc' : ''}`;
}

/** What dso-async did before the checkpoint it resumes from. */
export function visitedBefore({ resume }: RunCheckpoint): { visits: Int32Array[]; bounds: Gap[] } {
  const convergence = resume?.found.header.saved.convergence as SavedConvergence | undefined;
  const visited = convergence?.visited ?? [];
  return {
    visits: visited.map(({ visits }) => Int32Array.from(visits)),
    bounds: visited.map(({ primal, dual }) => ({ primal, dual })),
  };
}

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageDescription from '../../package.json' with { type: 'json' };
import { hashNumbers, hashText } from '../data/fingerprint.ts';
import { workersOfRank } from '../engine/block-layout.ts';
import { checkpointSetOf, chooseEpoch, newestFile } from '../engine/checkpoint/choose.ts';
import type { CheckpointFile, Header, Identity } from '../engine/checkpoint/file.ts';
import {
  type CheckpointListing,
  checkpointsIn,
  clearPartial,
  listing,
  listingText,
  makeFolder,
  parseListing,
  type Workers,
} from '../engine/checkpoint/folder.ts';
import { FolderLock } from '../engine/checkpoint/lock.ts';
import type { CheckpointWriterSettings, Interval } from '../engine/checkpoint/writer.ts';
import { gatherValues, type ProcessGroup } from '../engine/processes/process-group.ts';
import { DataError, UsageError } from '../errors.ts';
import type { SavedConvergence } from '../solvers/convergence.ts';
import type { Gap } from '../solvers/objective/objective.ts';
import { entryOf, isReplay, type SolverPlan } from '../solvers/registry.ts';
import type { Resume } from '../solvers/run.ts';
import { identityOptions } from './options/index.ts';
import type { TrainOptions } from './options/options.ts';
import type { Training } from './prepare.ts';
import { type DataShard, hashOfShard } from './shard.ts';

/** What identifies the runs of a training, and where their checkpoints go. */
interface CheckpointedTraining
  extends Pick<
    Training,
    'options' | 'settings' | 'plan' | 'grid' | 'group' | 'vectors' | 'test' | 'hash'
  > {
  /** All rows that were read, those held out included. */
  readonly all: DataShard;
}

/** Where one run begins, and where it is saved. */
export interface RunCheckpoint {
  readonly checkpoint?: CheckpointWriterSettings;
  readonly resume?: Resume;
}

/** To be released when the run is over, however it ends. */
export interface OpenedCheckpoint extends RunCheckpoint {
  release(): void;
}

/** What a checkpoint must have in common with the run that continues from it. */
type Own = Pick<Header, 'program' | 'identity' | 'tolerance' | 'test'>;

const defaultInterval: Interval = { seconds: 60 };

/** Where the checkpoints of one of several vectors are. */
export function folderOfVector(folder: string, vector: number, vectors: number): string {
  return vectors === 1 ? folder : join(folder, `vector-${String(vector + 1).padStart(6, '0')}`);
}

/** The checkpoints of a training, which has a run for each vector of its model. */
export class RunCheckpoints {
  /** Runs that start at the beginning and are not saved. */
  static readonly none = new RunCheckpoints();
  readonly #training: CheckpointedTraining | undefined;
  readonly #own: Own | undefined;

  private constructor(training?: CheckpointedTraining, own?: Own) {
    this.#training = training;
    this.#own = own;
  }

  static async open(training: CheckpointedTraining): Promise<RunCheckpoints> {
    const { options, plan, settings } = training;
    if (!options.checkpoint && options.resume === undefined) return RunCheckpoints.none;
    if (isReplay(plan)) {
      throw new UsageError('a replay of recorded visits cannot be saved or resumed: run it whole');
    }
    return new RunCheckpoints(training, {
      program: packageDescription.version,
      identity: identityOf(training),
      tolerance: settings.tolerance,
      test: await testOf(training),
    });
  }

  /** Finds the checkpoint that a vector's run continues from, and prepares the folder for new ones. */
  async begin(vector: number): Promise<OpenedCheckpoint> {
    if (!this.#training || !this.#own) return { release() {} };
    const { options, vectors } = this.#training;
    const { checkpoint, resume } = options;
    const within = (folder: string) => folderOfVector(folder, vector, vectors);
    return new RunFolders(
      this.#training,
      { ...this.#own, identity: ofVector(this.#own.identity, vector, vectors) },
      checkpoint && { ...checkpoint, folder: within(checkpoint.folder) },
      resume === undefined ? undefined : within(resume),
    ).open(vector > 0);
  }
}

function ofVector(identity: Identity, vector: number, vectors: number): Identity {
  if (vectors === 1) return identity;
  return { ...identity, options: { ...identity.options, vector: vector + 1, vectors } };
}

/** The folders of one run. */
class RunFolders {
  readonly #training: CheckpointedTraining;
  readonly #own: Own;
  readonly #checkpoint: TrainOptions['checkpoint'];
  readonly #resume: string | undefined;
  readonly #workers: Workers;

  constructor(
    training: CheckpointedTraining,
    own: Own,
    checkpoint: TrainOptions['checkpoint'],
    resume: string | undefined,
  ) {
    this.#training = training;
    this.#own = own;
    this.#checkpoint = checkpoint;
    this.#resume = resume;
    this.#workers = workersOfRank(training.group, training.grid);
  }

  /** `mayStartOver`: there may be nothing to resume, since an earlier vector was not done yet. */
  async open(mayStartOver: boolean): Promise<OpenedCheckpoint> {
    const resume = await this.#resumePoint(mayStartOver);
    const lock = this.#takeFolder();
    const checkpoint = this.#writerSettings(resume);
    return {
      ...(checkpoint && { checkpoint }),
      ...(resume && { resume }),
      release: () => lock?.release(),
    };
  }

  /** Whether new checkpoints go to the folder that the run continues from. */
  get #continues(): boolean {
    const [folder, from] = [this.#checkpoint?.folder, this.#resume];
    return folder !== undefined && from !== undefined && resolve(folder) === resolve(from);
  }

  /** Makes sure that no other run saves these workers there, and that it can be written to. */
  #takeFolder(): FolderLock | undefined {
    if (!this.#checkpoint) return undefined;
    const workers = this.#workers;
    const { folder: given } = this.#checkpoint;
    const folder = resolve(given);
    if (!this.#continues && checkpointsIn(folder, workers).length > 0) {
      throw new UsageError(
        `${given} holds the checkpoints of a run: resume it from there, name another folder, or remove them first`,
      );
    }
    if (workers[0] === workers[1]) return undefined;
    makeFolder(folder);
    const lock = new FolderLock(folder, workers, this.#training.grid);
    try {
      clearPartial(folder, workers);
    } catch (error) {
      lock.release();
      throw error;
    }
    return lock;
  }

  #writerSettings(resume: Resume | undefined): CheckpointWriterSettings | undefined {
    if (!this.#checkpoint) return undefined;
    const { folder, every = defaultInterval } = this.#checkpoint;
    const previous = resume && this.#continues && { previous: resume.found.header.epoch };
    return { ...this.#own, folder: resolve(folder), every, ...previous };
  }

  async #resumePoint(mayStartOver: boolean): Promise<Resume | undefined> {
    const given = this.#resume;
    if (given === undefined) return undefined;
    const { all, settings, grid, group, options } = this.#training;
    // All ranks come to the same conclusions; rank 0 reports them.
    const notice = group.leads ? options.onNotice : undefined;
    const folder = resolve(given);
    const { own, listings } = await listingsOf(folder, group, grid);
    const newest = newestFile(listings);
    if (newest) checkSame(all.dataset.name, newest, this.#own);
    const { size } = group;
    const choice = chooseEpoch(listings, grid, (rank) => workersOfRank({ rank, size }, grid));
    if (!choice) {
      if (mayStartOver) return undefined;
      if (!this.#continues) {
        throw new DataError(`${given}: no checkpoint there to resume from`);
      }
      notice?.(`no checkpoint in ${given} yet: training begins with the first epoch`);
      return undefined;
    }
    for (const problem of choice.passedOver) {
      notice?.(`${problem}; an older checkpoint is used instead`);
    }
    const { header } = choice;
    const found = checkpointSetOf(own, choice);
    const path = found.parts.length === 1 ? found.parts[0].path : folder;
    if (settings.epochs < header.epoch) {
      throw new UsageError(
        `epochs is ${settings.epochs}; the checkpoint ${path} is at epoch ${header.epoch} already`,
      );
    }
    notice?.(`resuming after epoch ${header.epoch}, from ${path}`);
    const { tolerance, test } = this.#own;
    const sameTolerance = header.tolerance === tolerance;
    if (!sameTolerance) {
      notice?.(
        `tolerance was ${header.tolerance}, is ${tolerance}: as good a model as from the start, but not the same bits`,
      );
    }
    return { found, sameTolerance, sameTest: header.test === test };
  }
}

/** What this process sees in the folder, and what each of the group does. */
async function listingsOf(
  folder: string,
  group: ProcessGroup,
  grid: number,
): Promise<{ own: CheckpointListing; listings: readonly CheckpointListing[] }> {
  // A single process needs one complete checkpoint; several must find one that all of them have.
  const workers = workersOfRank(group, grid);
  if (group.size === 1) {
    const own = listing(folder, workers, 1);
    return { own, listings: [own] };
  }
  const own = listing(folder, workers);
  const texts = await gatherValues(group, listingText(own));
  return { own, listings: texts.map(parseListing) };
}

/** Any difference would give a model that neither run would have given. */
function checkSame(name: string, { path, header }: CheckpointFile, own: Own): void {
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
  const { options: before } = identity;
  const now = own.identity.options;
  const differences = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((key) => (before[key] ?? null) !== (now[key] ?? null))
    .map((key) => `${key} was ${shown(before[key])}, is ${shown(now[key])}`);
  if (differences.length > 0) {
    throw new UsageError(`${path}: the checkpoint of another run: ${differences.join('; ')}`);
  }
}

function shown(value: Identity['options'][string] | undefined): string {
  return value === undefined || value === null ? 'not given' : String(value);
}

function identityOf({ all, hash, options, settings, plan, grid }: CheckpointedTraining): Identity {
  const { rows, columns, nonzeros } = all;
  const { loss, penalty, lambda, seed, intercept } = settings;
  const { labelNames } = all.dataset;
  return {
    data: { rows, columns, nonzeros, hash },
    options: {
      loss: loss.name,
      ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
      ...(loss.module !== undefined && { 'loss module': moduleHash(loss.module) }),
      penalty: penalty.name,
      'l1 part': penalty.l1,
      ...identityOptions({ ...options, lambda, intercept, grid, seed }, penalty),
      'multi-label': options.multiLabel ?? false,
      start: options.start ? hashOfStart(options.start) : null,
      'label names': labelNames ? hashText(JSON.stringify(labelNames)) : null,
      solver: plan.name,
      ...solverOptions(plan),
    },
  };
}

function hashOfStart({ weights, intercepts, alpha }: NonNullable<TrainOptions['start']>) {
  const given = [weights, intercepts, alpha].filter((numbers) => numbers !== undefined);
  const hashes = given.map(hashNumbers);
  return hashes.join(' ');
}

/** The ring solver's other settings follow from the options above. */
function solverOptions(plan: SolverPlan): Identity['options'] {
  const settings: Readonly<Record<string, unknown>> = { ...plan.settings };
  const names = entryOf(plan).given ?? Object.keys(settings);
  return Object.fromEntries(names.map((name) => [name, (settings[name] ?? null) as number]));
}

function moduleHash(module: string): string {
  try {
    return hashText(readFileSync(new URL(module), 'utf8'));
  } catch {
    return module;
  }
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

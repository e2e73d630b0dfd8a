import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import packageDescription from '../../package.json' with { type: 'json' };
import type { Header, Identity } from '../checkpoint/header.ts';
import { type Listing, listing, listingText, parseListing } from '../checkpoint/listing.ts';
import type { Workers } from '../checkpoint/names.ts';
import { hashNumbers, hashText } from '../data/fingerprint.ts';
import { chooseEpoch, generationOf, newestFile } from '../engine/checkpoint/choose.ts';
import type { Found } from '../engine/checkpoint/file.ts';
import { checkpointsIn, clearPartial, makeFolder } from '../engine/checkpoint/folder.ts';
import { FolderLock } from '../engine/checkpoint/lock.ts';
import type { Interval, KeeperSettings } from '../engine/checkpoint/writer.ts';
import { DataError, UsageError } from '../errors.ts';
import type { Penalty } from '../penalties/penalty.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { finiteBounds } from '../problem/penalties/separable.ts';
import type { SavedStanding } from '../solvers/convergence.ts';
import type { Plan } from '../solvers/engines.ts';
import type { Gap } from '../solvers/objective/objective.ts';
import type { Resume } from '../solvers/run.ts';
import type { TrainOptions } from './options/options.ts';
import { describeClassWeights } from './provenance.ts';
import { hashOfShare, type Share } from './shard.ts';

/** What a run is made of, once every default has been settled. */
export interface Settled {
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly lambda: number;
  readonly seed: number;
  readonly epochs: number;
  readonly tolerance: number;
  readonly intercept: boolean;
  readonly plan: Plan;
  readonly grid: number;
}

/** Where a run begins, and where it is kept on its way. */
export interface Continuation {
  readonly checkpoint?: KeeperSettings;
  readonly resume?: Resume;
}

/** A continuation, and what has to be called when the run is over, however it ends. */
export interface Beginning {
  readonly course: Continuation;
  release(): void;
}

/** The processes of a job, each of which may see other checkpoints. */
export interface Companions {
  readonly rank: number;
  readonly ranks: number;
  workersOf(rank: number): Workers;
  /** The texts of all ranks, in their order; every rank calls it. */
  gather(text: string): Promise<readonly string[]>;
}

/** A process that has the whole grid to itself. */
export function alone(grid: number): Companions {
  return { rank: 0, ranks: 1, workersOf: () => [0, grid], gather: async (text) => [text] };
}

const defaultInterval: Interval = { seconds: 60 };

/** How each of the runs of a training begins; a training with several vectors has a run for each. */
export type Beginnings = (vector: number) => Promise<Beginning>;

/** Where the checkpoints of one of several vectors are. */
export function folderOfVector(folder: string, vector: number, vectors: number): string {
  return vectors === 1 ? folder : join(folder, `vector-${String(vector + 1).padStart(6, '0')}`);
}

/** Finds the checkpoints to go on from and checks that they are of the same runs. */
export async function beginnings(
  data: Share,
  /** Of all its rows. */
  hash: string,
  test: Share | undefined,
  options: TrainOptions,
  settled: Settled,
  vectors: number,
  companions: Companions = alone(settled.grid),
): Promise<Beginnings> {
  const { checkpoint, resume: given } = options;
  if (!checkpoint && given === undefined) return async () => ({ course: {}, release() {} });
  if (settled.plan.engine === 'dso-async' && settled.plan.settings.order) {
    throw new UsageError('a replay of recorded visits is neither kept nor resumed: run it whole');
  }
  const { name } = data.dataset;
  const identity = identityOf(data, hash, options, settled);
  const program = packageDescription.version;
  const { tolerance } = settled;
  const tested = await testOf(test, options);
  return async (vector) => {
    const own: Own = {
      program,
      identity: ofVector(identity, vector, vectors),
      tolerance,
      test: tested,
    };
    const within = (folder: string) => folderOfVector(folder, vector, vectors);
    const places: Places = {
      mayBeginAnew: vector > 0,
      ...(checkpoint && { checkpoint: { ...checkpoint, folder: within(checkpoint.folder) } }),
      ...(given !== undefined && { resume: within(given) }),
      ...(options.onNotice && { onNotice: options.onNotice }),
    };
    return begin(name, places, settled, own, companions);
  };
}

/** The folders of one run. */
interface Places extends Pick<TrainOptions, 'checkpoint' | 'resume' | 'onNotice'> {
  /** There may be nothing to go on from: an earlier vector was not done yet. */
  readonly mayBeginAnew: boolean;
}

function ofVector(identity: Identity, vector: number, vectors: number): Identity {
  if (vectors === 1) return identity;
  return { ...identity, options: { ...identity.options, vector: vector + 1, vectors } };
}

async function begin(
  name: string,
  places: Places,
  settled: Settled,
  own: Own,
  companions: Companions,
): Promise<Beginning> {
  const resume = await resumeFrom(name, places, settled, own, companions);
  const workers = companions.workersOf(companions.rank);
  const lock = places.checkpoint && takeFolder(places.checkpoint, places.resume, workers, settled);
  const checkpoint = places.checkpoint && keeperSettings(places, resume, own);
  return {
    course: { ...(checkpoint && { checkpoint }), ...(resume && { resume }) },
    release: () => lock?.release(),
  };
}

type Own = Pick<Header, 'program' | 'identity' | 'tolerance' | 'test'>;

/** Makes sure that nobody else keeps these workers there, and that it can be written to. */
function takeFolder(
  { folder: given }: NonNullable<TrainOptions['checkpoint']>,
  resume: string | undefined,
  workers: Workers,
  { grid }: Settled,
): FolderLock | undefined {
  const folder = resolve(given);
  const continues = resume !== undefined && resolve(resume) === folder;
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

function keeperSettings(
  { checkpoint, resume: from }: Places,
  resume: Resume | undefined,
  own: Own,
): KeeperSettings {
  const { folder: given, every = defaultInterval } = checkpoint!;
  const folder = resolve(given);
  const continues = resume !== undefined && from !== undefined && resolve(from) === folder;
  return { ...own, folder, every, ...(continues && { previous: resume.found.header.epoch }) };
}

async function resumeFrom(
  name: string,
  { resume: given, checkpoint, onNotice, mayBeginAnew }: Places,
  { epochs, grid }: Settled,
  own: Own,
  companions: Companions,
): Promise<Resume | undefined> {
  if (given === undefined) return undefined;
  // All ranks come to the same conclusions; one of them says so.
  const notice = companions.rank === 0 ? onNotice : undefined;
  const folder = resolve(given);
  const { seen, listings } = await listingsOf(folder, companions);
  const newest = newestFile(listings);
  if (newest) checkSame(name, newest, own);
  const choice = chooseEpoch(listings, grid, companions.workersOf);
  if (!choice) {
    if (mayBeginAnew) return undefined;
    if (!checkpoint || resolve(checkpoint.folder) !== folder) {
      throw new DataError(`${given}: no checkpoint there to resume from`);
    }
    notice?.(`no checkpoint in ${given} yet: training begins with the first epoch`);
    return undefined;
  }
  for (const complaint of choice.passedOver) {
    notice?.(`${complaint}; an older checkpoint is used instead`);
  }
  const { header } = choice;
  const found = generationOf(seen, choice);
  const path = found.parts.length === 1 ? found.parts[0].path : folder;
  if (epochs < header.epoch) {
    throw new UsageError(
      `epochs is ${epochs}; the checkpoint ${path} is at epoch ${header.epoch} already`,
    );
  }
  notice?.(`going on after epoch ${header.epoch}, from ${path}`);
  const sameTolerance = header.tolerance === own.tolerance;
  if (!sameTolerance) {
    notice?.(
      `tolerance was ${header.tolerance}, is ${own.tolerance}: as good a model as from the start, but not the same bits`,
    );
  }
  return { found, sameTolerance, sameTest: header.test === own.test };
}

/** What this process sees in the folder, and what each of them does. */
async function listingsOf(
  folder: string,
  { rank, ranks, workersOf, gather }: Companions,
): Promise<{ seen: Listing; listings: readonly Listing[] }> {
  if (ranks === 1) {
    const seen = listing(folder, workersOf(0), 1);
    return { seen, listings: [seen] };
  }
  const seen = listing(folder, workersOf(rank));
  return { seen, listings: (await gather(listingText(seen))).map(parseListing) };
}

/** Any difference would give a model that neither run would have given. */
function checkSame(name: string, { path, header }: Found, own: Own): void {
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

function identityOf(data: Share, hash: string, options: TrainOptions, settled: Settled): Identity {
  const { rows, columns, nonzeros } = data;
  const { loss, penalty, lambda, seed, intercept, grid, plan } = settled;
  const factors = options.penaltyFactors;
  const { low, high } = finiteBounds(penalty);
  const { labelNames } = data.dataset;
  return {
    data: { rows, columns, nonzeros, hash },
    options: {
      loss: loss.name,
      ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
      ...(loss.module !== undefined && { 'loss module': moduleHash(loss.module) }),
      penalty: penalty.name,
      'l1 part': penalty.l1,
      ...(low !== undefined && { 'lower bound': low }),
      ...(high !== undefined && { 'upper bound': high }),
      lambda,
      intercept,
      'penalty factors': factors ? hashNumbers(factors) : null,
      holdout: options.holdout ?? null,
      start: options.start ? hashOfStart(options.start) : null,
      'early stop': options.earlyStop ?? null,
      scale: options.scale ?? null,
      'class weights': options.classWeights ? describeClassWeights(options.classWeights) : null,
      'multi-label': options.multiLabel ?? false,
      'label names': labelNames ? hashText(JSON.stringify(labelNames)) : null,
      solver: plan.engine,
      ...solverOptions(plan),
      grid,
      seed,
    },
  };
}

function hashOfStart({ weights, intercepts, alpha }: NonNullable<TrainOptions['start']>) {
  const given = [weights, intercepts, alpha].filter((numbers) => numbers !== undefined);
  const hashes = given.map(hashNumbers);
  return hashes.join(' ');
}

/** The ring solver's other settings follow from the options above. */
function solverOptions(plan: Plan): Identity['options'] {
  if (plan.engine === 'ring-rows' || plan.engine === 'ring-columns') {
    return { rotations: plan.settings.rotations ?? null };
  }
  return Object.fromEntries(
    Object.entries(plan.settings).map(([name, value]) => [name, (value ?? null) as number]),
  );
}

function moduleHash(module: string): string {
  try {
    return hashText(readFileSync(new URL(module), 'utf8'));
  } catch {
    return module;
  }
}

/** What was measured on test rows is of use only for the same rows, measured in the same way. */
async function testOf(
  test: Share | undefined,
  { holdout, testOn = 'best', auprc = false }: TrainOptions,
): Promise<string | null> {
  if (!test) return null;
  const rows = holdout === undefined ? await hashOfShare(test) : 'holdout';
  return `${rows} ${testOn}${auprc ? ' auprc' : ''}`;
}

/** What dso-async did before the checkpoint it goes on from. */
export function visitedBefore({ resume }: Continuation): { visits: Int32Array[]; bounds: Gap[] } {
  const standing = resume?.found.header.saved.standing as SavedStanding | undefined;
  const visited = standing?.visited ?? [];
  return {
    visits: visited.map(({ visits }) => Int32Array.from(visits)),
    bounds: visited.map(({ primal, dual }) => ({ primal, dual })),
  };
}

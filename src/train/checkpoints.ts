import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import packageDescription from '../../package.json' with { type: 'json' };
import { checkpointsIn, newestCheckpoint, prepareFolder } from '../checkpoint/folder.ts';
import type { Header, Identity } from '../checkpoint/header.ts';
import type { Interval, KeeperSettings } from '../checkpoint/keeper.ts';
import type { Dataset } from '../data/dataset.ts';
import { hashData, hashNumbers, hashText } from '../data/fingerprint.ts';
import { DataError, UsageError } from '../errors.ts';
import type { Loss } from '../losses/loss.ts';
import type { Gap } from '../objective/objective.ts';
import type { Penalty } from '../penalties/penalty.ts';
import type { Plan } from '../solvers/engines.ts';
import type { Resume } from '../solvers/run.ts';
import type { SavedStanding } from '../solvers/standing.ts';
import type { TrainOptions } from './options.ts';

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

const defaultInterval: Interval = { seconds: 60 };

/** Finds the checkpoint to go on from and checks that it is one of the same run. */
export function continuation(
  dataset: Dataset,
  options: TrainOptions,
  settled: Settled,
): Continuation {
  if (!options.checkpoint && options.resume === undefined) return {};
  if (settled.plan.engine === 'dso-async' && settled.plan.settings.order) {
    throw new UsageError('a replay of recorded visits is neither kept nor resumed: run it whole');
  }
  const own = {
    program: packageDescription.version,
    identity: identityOf(dataset, options, settled),
    workers: [0, settled.grid] as const,
    tolerance: settled.tolerance,
    test: testOf(options),
  };
  const resume = resumeFrom(dataset, options, settled, own);
  const checkpoint = options.checkpoint && keeperSettings(options.checkpoint, resume, own);
  return { ...(checkpoint && { checkpoint }), ...(resume && { resume }) };
}

type Own = Pick<Header, 'program' | 'identity' | 'workers' | 'tolerance' | 'test'>;

function keeperSettings(
  { folder: given, every = defaultInterval }: NonNullable<TrainOptions['checkpoint']>,
  resume: Resume | undefined,
  own: Own,
): KeeperSettings {
  const folder = resolve(given);
  const found = checkpointsIn(folder);
  const previous = resume?.found;
  const continues = previous !== undefined && found.includes(previous.path);
  if (found.length > 0 && !continues) {
    throw new UsageError(
      `${given} holds the checkpoints of a run: resume it from there, name another folder, or remove them first`,
    );
  }
  prepareFolder(folder);
  const { path, header } = previous ?? {};
  return {
    ...own,
    folder,
    every,
    ...(continues && path && header && { previous: { path, epoch: header.epoch } }),
  };
}

function resumeFrom(
  dataset: Dataset,
  { resume: given, checkpoint, onNotice }: TrainOptions,
  { epochs }: Settled,
  own: Own,
): Resume | undefined {
  if (given === undefined) return undefined;
  const folder = resolve(given);
  const found = newestCheckpoint(folder, (complaint) =>
    onNotice?.(`${complaint}; an older checkpoint is used instead`),
  );
  if (!found) {
    if (!checkpoint || resolve(checkpoint.folder) !== folder) {
      throw new DataError(`${given}: no checkpoint there to resume from`);
    }
    onNotice?.(`no checkpoint in ${given} yet: training begins with the first epoch`);
    return undefined;
  }
  const { header, path } = found;
  checkSame(dataset, header, own, path);
  if (epochs < header.epoch) {
    throw new UsageError(
      `epochs is ${epochs}; the checkpoint ${path} is at epoch ${header.epoch} already`,
    );
  }
  onNotice?.(`going on after epoch ${header.epoch}, from ${path}`);
  const sameTolerance = header.tolerance === own.tolerance;
  if (!sameTolerance) {
    onNotice?.(
      `tolerance was ${header.tolerance}, is ${own.tolerance}: as good a model as from the start, but not the same bits`,
    );
  }
  return { found, sameTolerance, sameTest: header.test === own.test };
}

/** Any difference would give a model that neither run would have given. */
function checkSame(
  { name }: Dataset,
  { program, identity, workers }: Header,
  own: Own,
  path: string,
): void {
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
  if (workers[0] !== own.workers[0] || workers[1] !== own.workers[1]) {
    throw new DataError(`${path}: holds workers ${workers.join(' to ')} of the grid only`);
  }
}

function shown(value: Identity['options'][string] | undefined): string {
  return value === undefined || value === null ? 'not given' : String(value);
}

function identityOf(dataset: Dataset, options: TrainOptions, settled: Settled): Identity {
  const { rows, columns, nonzeros } = dataset;
  const { loss, penalty, lambda, seed, intercept, grid, plan } = settled;
  const factors = options.penaltyFactors;
  return {
    data: { rows, columns, nonzeros, hash: hashData(dataset) },
    options: {
      loss: loss.name,
      ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
      ...(loss.module !== undefined && { 'loss module': moduleHash(loss.module) }),
      penalty: penalty.name,
      'l1 part': penalty.l1,
      lambda,
      intercept,
      'penalty factors': factors ? hashNumbers(factors) : null,
      holdout: options.holdout ?? null,
      solver: plan.engine,
      ...solverOptions(plan),
      grid,
      seed,
    },
  };
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
function testOf({ test, holdout, testOn = 'best', auprc = false }: TrainOptions): string | null {
  if (!test && holdout === undefined) return null;
  return `${test ? hashData(test) : 'holdout'} ${testOn}${auprc ? ' auprc' : ''}`;
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

import { boundsOf } from '../problem/penalties/separable.ts';
import type { DsoAsyncSettings } from './dso/async.ts';
import type { DsoSettings } from './dso/state.ts';
import type { InteriorSettings } from './interior/memory.ts';
import { interiorIncompatibility } from './interior/plan.ts';
import type { NewtonSettings } from './newton/newton.ts';
import { proximalIncompatibility } from './proximal/incompatible.ts';
import type { ProximalSettings } from './proximal/proximal-point.ts';
import type { RingColumnsOptions } from './ring/columns.ts';
import { fewRotations, tracksLocalUpdates } from './ring/damping.ts';
import type { RingRowsOptions } from './ring/rows.ts';
import type { AdmmSettings } from './rivals/admm.ts';
import type { BmrmSettings } from './rivals/bmrm.ts';
import type { DcdSettings } from './rivals/dcd.ts';
import type { LbfgsSettings } from './rivals/lbfgs.ts';
import type { SgdSettings } from './rivals/local-sgd.ts';
import type { ProblemSummary, SolverCode, SolverEntry } from './solver.ts';
import type { WorkingSetSettings } from './working-set/working-set.ts';

/** What a setting must be, if the value is not; undefined if it is. */
type Check = (value: unknown) => string | undefined;

const positive: Check = (value) =>
  typeof value === 'number' && value > 0 && value < Infinity ? undefined : 'a positive number';

function whole(least: number, most = 2 ** 31): Check {
  const fits = (value: unknown) => Number.isInteger(value) && Number(value) >= least;
  return (value) =>
    fits(value) && Number(value) <= most ? undefined : `a whole number from ${least} to ${most}`;
}

function oneOf(...choices: string[]): Check {
  return (value) =>
    choices.includes(value as string) ? undefined : `one of ${choices.join(', ')}`;
}

/** The settings of a solver: their defaults, and what they must be. */
export interface SettingsRule<Settings> {
  readonly defaults: Settings;
  readonly checks: { readonly [Name in keyof Settings]?: Check };
}

interface Entry<Settings> extends SolverEntry<Settings>, SettingsRule<Settings> {}

const entry = <Settings>(described: Entry<Settings>) => described;

/** The answer of solvers that cannot bound weights. */
function noBounds({ penalty }: ProblemSummary): string | undefined {
  const bounds = boundsOf(penalty);
  return (
    bounds &&
    `weights in [${bounds.low}, ${bounds.high}]: it cannot bound them (use auto, ring, interior-point, dso, sgd or admm)`
  );
}

/** The answer of solvers that need a quadratic penalty on every column; `needs`: who needs it. */
function noQuadratic(problem: ProblemSummary, needs: string, advice = ''): string | undefined {
  const { penalty, intercept } = problem;
  if (!(penalty.l2 > 0)) {
    return `penalty '${penalty.name}': ${needs} a quadratic part (l2 or elastic-net)`;
  }
  const every = `an intercept: ${needs} a quadratic penalty on every column${advice}; --no-intercept leaves it out`;
  return intercept ? every : noBounds(problem);
}

/** The answer of Newton's method, which needs second derivatives. */
function noNewton({ loss, penalty }: ProblemSummary): string | undefined {
  if (!loss.smooth) {
    return `loss '${loss.name}': it needs a smooth loss (use ring, dso or interior-point)`;
  }
  return penalty.l1 > 0 || !(penalty.l2 > 0)
    ? `penalty '${penalty.name}': it needs a quadratic penalty without an L1 part (use l2)`
    : undefined;
}

const step = oneOf('adagrad', 'sqrt');

const dso: Entry<DsoSettings> = {
  orientation: 'rows',
  defaults: { step: 'adagrad', svrg: true, initialize: 0, boxes: true, average: false },
  checks: { step, stepSize: positive, dualStepSize: positive, initialize: whole(0) },
  readsFromDisk: true,
  inMemoryOnly: ({ initialize }) =>
    initialize > 0 ? [`--local-descent ${initialize}`, 'leave it out'] : undefined,
  incompatible: ({ penalty }, { initialize }) =>
    initialize > 0 && !(penalty.l2 > 0)
      ? `penalty '${penalty.name}': it needs a quadratic part (l2 or elastic-net) to start from local dual coordinate descent`
      : undefined,
  load: async () => (await import('./dso/dso.ts')).dso,
};

const sgd: Entry<SgdSettings> = {
  orientation: 'rows',
  serial: true,
  defaults: { step: 'adagrad', average: true },
  checks: { step, stepSize: positive },
  load: async () => (await import('./rivals/sgd.ts')).sgd,
};

/** Every solver, by the name that models and reports carry. */
export const solverEntries = {
  'ring-rows': entry<RingRowsOptions>({
    title: 'ring (rows)',
    orientation: 'rows',
    defaults: { mapped: false, proximal: 0, startInside: false },
    checks: {},
    given: ['rotations'],
    readsFromDisk: true,
    inMemoryOnly: ({ rotations }, size) =>
      tracksLocalUpdates(rotations, size)
        ? [
            `--rotations ${rotations} on a grid of ${size}`,
            `use more than ${fewRotations} rotations`,
          ]
        : undefined,
    load: async () => (await import('./ring/rows.ts')).ringRows,
  }),
  'ring-columns': entry<RingColumnsOptions>({
    title: 'ring (columns)',
    orientation: 'columns',
    defaults: {},
    checks: {},
    given: ['rotations'],
    incompatible: ({ loss }) =>
      loss.smooth
        ? undefined
        : `loss '${loss.name}': column mode needs a smooth loss (use --mode rows)`,
    load: async () => (await import('./ring/columns.ts')).ringColumns,
  }),
  dso,
  'dso-async': entry<DsoAsyncSettings>({
    ...dso,
    leastGrid: 4,
    asynchronous: true,
    incompatible: (problem, settings) =>
      settings.order === undefined || settings.order instanceof Int32Array
        ? dso.incompatible?.(problem, settings)
        : 'this order: it must be an Int32Array, the visits of an earlier result',
    load: async () => (await import('./dso/async.ts')).dsoAsync,
  }),
  sgd,
  // Without several workers it would be sgd.
  psgd: entry<SgdSettings>({ ...sgd, serial: false, leastGrid: 4 }),
  bmrm: entry<BmrmSettings>({
    orientation: 'rows',
    defaults: {},
    checks: { innerTolerance: positive },
    readsFromDisk: true,
    hasNoDualPoint: true,
    hasNoIntercept: true,
    incompatible: (problem) =>
      noQuadratic(problem, 'it needs', ' (leave it out, or add a column of ones to the data)'),
    load: async () => (await import('./rivals/bmrm.ts')).bmrm,
  }),
  lbfgs: entry<LbfgsSettings>({
    orientation: 'rows',
    defaults: { history: 10 },
    checks: { history: whole(1, 1000) },
    readsFromDisk: true,
    incompatible: (problem) =>
      problem.loss.smooth
        ? noBounds(problem)
        : `loss '${problem.loss.name}': it needs a smooth loss (use ring, dso or bmrm)`,
    load: async () => (await import('./rivals/owl-qn.ts')).lbfgs,
  }),
  admm: entry<AdmmSettings>({
    orientation: 'rows',
    leastGrid: 4,
    defaults: { passes: 1 },
    checks: { rho: positive, passes: whole(1) },
    load: async () => (await import('./rivals/admm.ts')).admm,
  }),
  'interior-point': entry<InteriorSettings>({
    title: 'interior point',
    orientation: 'rows',
    isSerial: ({ side }) => side === 'rows',
    defaults: { side: 'columns', pieces: 1, l1: false, bounded: false, free: 0 },
    checks: { joining: whole(1) },
    given: ['joining'],
    readsFromDisk: true,
    inMemoryOnly: ({ side }) =>
      side === 'columns'
        ? undefined
        : [
            side === 'rows' ? 'a system of rows × rows' : 'a growing set of columns',
            'choose another solver, such as ring',
          ],
    incompatible: interiorIncompatibility,
    load: async () => (await import('./interior/interior-point.ts')).interiorPoint,
  }),
  newton: entry<NewtonSettings>({
    orientation: 'rows',
    parallelFrom: 1e6,
    defaults: {},
    checks: {},
    incompatible: (problem) => noNewton(problem) ?? noBounds(problem),
    load: async () => (await import('./newton/newton.ts')).newton,
  }),
  'proximal-point': entry<ProximalSettings>({
    title: 'proximal point',
    orientation: 'rows',
    defaults: { history: 20 },
    checks: { history: whole(1, 1000) },
    incompatible: (problem) => proximalIncompatibility(problem) ?? noBounds(problem),
    load: async () => (await import('./proximal/proximal-point.ts')).proximalPoint,
  }),
  'working-set': entry<WorkingSetSettings>({
    title: 'working set',
    orientation: 'columns',
    parallelFrom: 1e7,
    followsPath: true,
    defaults: {},
    checks: {},
    incompatible: (problem) => {
      const { loss, penalty } = problem;
      if (!loss.smooth) {
        return `loss '${loss.name}': it needs a smooth loss (use ring, dso or interior-point)`;
      }
      return penalty.l1 > 0
        ? noBounds(problem)
        : `penalty '${penalty.name}': it needs an L1 part (l1 or elastic-net)`;
    },
    load: async () => (await import('./working-set/working-set.ts')).workingSet,
  }),
  dcd: entry<DcdSettings>({
    orientation: 'rows',
    serial: true,
    hasNoIntercept: true,
    defaults: { shrink: true },
    checks: {},
    incompatible: (problem) => noQuadratic(problem, 'its steps on α need'),
    load: async () => (await import('./rivals/dcd.ts')).dcd,
  }),
} as const;

export type {
  AdmmSettings,
  BmrmSettings,
  DcdSettings,
  DsoAsyncSettings,
  DsoSettings,
  InteriorSettings,
  LbfgsSettings,
  NewtonSettings,
  ProximalSettings,
  SgdSettings,
  WorkingSetSettings,
};

export type EntryName = keyof typeof solverEntries;

export interface RingSettings {
  /** 'rows' (dual), 'columns' (primal) or 'auto' by loss and penalty. */
  readonly mode: 'auto' | 'rows' | 'columns';
  /** Rotations per epoch, B; default by the data. */
  readonly rotations?: number;
}

/** Users choose the ring; its mode follows from the problem unless they choose one. */
export const ringRule: SettingsRule<RingSettings> = {
  defaults: { mode: 'auto' },
  checks: { mode: oneOf('auto', 'rows', 'columns'), rotations: whole(1) },
};

export type SettingsOf<Name extends EntryName> = (typeof solverEntries)[Name]['defaults'];

/** Solvers that users name as they are. */
export type PlainName = Exclude<EntryName, 'ring-rows' | 'ring-columns'>;

/** A solver as a value: what the user chose and its settings; the functions of `solvers` make them. */
export type Solver =
  | { readonly name: 'auto' }
  | { readonly name: 'ring'; readonly settings: RingSettings }
  | {
      [Name in PlainName]: { readonly name: Name; readonly settings: SettingsOf<Name> };
    }[PlainName];

/** A solver made definite for one problem. */
export type SolverPlan = {
  readonly [Name in EntryName]: {
    readonly name: Name;
    readonly settings: SettingsOf<Name>;
    /** Why this one, in words. */
    readonly reason: string;
    /** What goes on with the problem where this one has not solved it. */
    readonly next?: NextPlan;
  };
}[EntryName];

/** A second solver for the same data, with what the first one has found as its start. */
export interface NextPlan {
  readonly plan: SolverPlan;
  /** Passes of the first one after which it begins, unless the tolerance has been met; default: when that is stuck. */
  readonly after?: number;
}

/** The entry of a plan; that its settings are the right ones is what SolverPlan says. */
export function entryOf(plan: Pick<SolverPlan, 'name'>): SolverEntry<unknown> {
  return solverEntries[plan.name];
}

/** Whether the plan repeats a recorded order of visits, which is a serial one. */
export function isReplay({ settings }: SolverPlan): boolean {
  return 'order' in settings && settings.order !== undefined;
}

const loaded = new Map<EntryName, SolverCode<unknown, unknown>>();

/** Loads the code of a plan's solvers; until then only their entries are there. */
export async function loadSolver(plan: Pick<SolverPlan, 'name' | 'next'>): Promise<void> {
  if (!loaded.has(plan.name)) loaded.set(plan.name, await entryOf(plan).load());
  if (plan.next) await loadSolver(plan.next.plan);
}

export function solverCode({ name }: Pick<SolverPlan, 'name'>): SolverCode<unknown, unknown> {
  const code = loaded.get(name);
  if (!code) throw new Error(`the code of solver ${name} is not loaded`);
  return code;
}

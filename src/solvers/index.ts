import { UsageError } from '../errors.ts';
import { closest } from '../math/closest.ts';
import { engineOf } from './engines.ts';
import { type SolverName, solverNames } from './names.ts';

export { defaultGrid } from './choose.ts';
export { fewRotations } from './ring/local-updates.ts';

import type {
  AdmmSettings,
  BmrmSettings,
  DcdSettings,
  DsoAsyncSettings,
  DsoSettings,
  LbfgsSettings,
  RingSettings,
  SgdSettings,
  Solver,
} from './solver.ts';

const dsoDefaults: DsoSettings = {
  step: 'adagrad',
  svrg: true,
  initialize: 0,
  boxes: true,
  average: false,
};

function checkPositive(name: string, value: number | undefined): void {
  if (value !== undefined && !(value > 0 && Number.isFinite(value))) {
    throw new UsageError(`${name} is ${value}; it must be a positive number`);
  }
}

function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value !== undefined && !choices.includes(value)) {
    throw new UsageError(`${name} is '${value}'; it must be one of ${choices.join(', ')}`);
  }
}

function checkWhole(name: string, value: number | undefined, least: number, most = 2 ** 31): void {
  if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most)) {
    throw new UsageError(`${name} is ${value}; it must be a whole number from ${least} to ${most}`);
  }
}

const stepRules = ['adagrad', 'sqrt'];

function checkDso(settings: Partial<DsoSettings>): DsoSettings {
  checkChoice('step', settings.step, stepRules);
  checkPositive('stepSize', settings.stepSize);
  checkPositive('dualStepSize', settings.dualStepSize);
  checkWhole('initialize', settings.initialize, 0);
  return { ...dsoDefaults, ...settings };
}

/** The paper's solver, Algorithm 1. */
function dso(settings: Partial<DsoSettings> = {}): Solver {
  return { name: 'dso', settings: checkDso(settings) };
}

/** Algorithm 1 without its inner iterations in step: blocks wander, orders can be replayed. */
function dsoAsync(settings: Partial<DsoAsyncSettings> = {}): Solver {
  const { order, ...rest } = settings;
  return { name: 'dso-async', settings: { ...checkDso(rest), ...(order && { order }) } };
}

/** The configuration of the paper's appendix: AdaGrad, SVRG, boxes, twenty passes to start from. */
export const paperSettings: DsoSettings = { ...dsoDefaults, initialize: 20 };

function paper(): Solver {
  return dso(paperSettings);
}

/** Exact coordinate steps pipelined round the same ring. */
function ring(settings: Partial<RingSettings> = {}): Solver {
  const { rotations } = settings;
  checkChoice('mode', settings.mode, ['auto', 'rows', 'columns']);
  if (rotations !== undefined && !(Number.isInteger(rotations) && rotations > 0)) {
    throw new UsageError(`rotations is ${rotations}; it must be a positive whole number`);
  }
  return { name: 'ring', settings: { mode: 'auto', ...settings } };
}

function checkSgd(settings: Partial<SgdSettings>): SgdSettings {
  checkChoice('step', settings.step, stepRules);
  checkPositive('stepSize', settings.stepSize);
  return { step: 'adagrad', average: true, ...settings };
}

/** Stochastic gradient descent, serial. */
function sgd(settings: Partial<SgdSettings> = {}): Solver {
  return { name: 'sgd', settings: checkSgd(settings) };
}

/** Parallel stochastic gradient descent: every worker by itself, weights averaged. */
function psgd(settings: Partial<SgdSettings> = {}): Solver {
  return { name: 'psgd', settings: checkSgd(settings) };
}

/** The bundle method for regularized risk minimization. */
function bmrm(settings: Partial<BmrmSettings> = {}): Solver {
  checkPositive('innerTolerance', settings.innerTolerance);
  return { name: 'bmrm', settings };
}

/** Limited-memory BFGS; OWL-QN where the penalty has an L1 part. */
function lbfgs(settings: Partial<LbfgsSettings> = {}): Solver {
  checkWhole('history', settings.history, 1, 1000);
  return { name: 'lbfgs', settings: { history: 10, ...settings } };
}

/** Consensus ADMM over the row blocks. */
function admm(settings: Partial<AdmmSettings> = {}): Solver {
  checkPositive('rho', settings.rho);
  checkWhole('passes', settings.passes, 1);
  return { name: 'admm', settings: { passes: 1, ...settings } };
}

/** Dual coordinate descent, serial. */
function dcd(settings: Partial<DcdSettings> = {}): Solver {
  return { name: 'dcd', settings: { shrink: true, ...settings } };
}

/** Picks by loss and penalty, and says why. */
function auto(): Solver {
  return { name: 'auto' };
}

export const solvers = {
  auto,
  ring,
  dso,
  paper,
  dsoAsync,
  sgd,
  psgd,
  bmrm,
  lbfgs,
  admm,
  dcd,
} as const;

/** Solvers by the names of the command line, with their default settings. */
const byName: Readonly<Record<SolverName, () => Solver>> = {
  auto,
  ring,
  dso,
  paper,
  'dso-async': dsoAsync,
  sgd,
  psgd,
  bmrm,
  lbfgs,
  admm,
  dcd,
};

export function solverByName(name: string): Solver {
  if (Object.hasOwn(byName, name)) return byName[name as SolverName]();
  const meant = closest(name, solverNames);
  throw new UsageError(
    `no solver '${name}'; ${meant ? `did you mean '${meant}'? There` : 'there'} are ${solverNames.join(', ')}`,
  );
}

/** Whether a solver has no use for a grid or a second thread. */
export function isSerial({ name }: Solver): boolean {
  return name !== 'auto' && name !== 'ring' && engineOf({ engine: name }).serial === true;
}

import { UsageError } from '../errors.ts';
import type { DsoSettings, RingSettings, Solver } from './solver.ts';

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

/** The paper's solver, Algorithm 1. */
function dso(settings: Partial<DsoSettings> = {}): Solver {
  const { initialize = 0 } = settings;
  checkChoice('step', settings.step, ['adagrad', 'sqrt']);
  checkPositive('stepSize', settings.stepSize);
  checkPositive('dualStepSize', settings.dualStepSize);
  if (!(Number.isInteger(initialize) && initialize >= 0)) {
    throw new UsageError(`initialize is ${initialize}; it must be a whole number of passes`);
  }
  return { name: 'dso', settings: { ...dsoDefaults, ...settings } };
}

/** The configuration of the paper's appendix: AdaGrad, SVRG, boxes, twenty passes to start from. */
function paper(): Solver {
  return dso({ step: 'adagrad', svrg: true, initialize: 20, boxes: true, average: false });
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

/** Picks by loss and penalty, and says why. */
function auto(): Solver {
  return { name: 'auto' };
}

export const solvers = { auto, dso, paper, ring } as const;

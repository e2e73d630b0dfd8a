import { DataError, UsageError } from '../errors.ts';
import { loadLoss, lossByName } from '../losses/index.ts';
import { penalties, penaltyByName } from '../penalties/index.ts';
import type { Penalty } from '../penalties/penalty.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { paperSettings, solvers } from '../solvers/index.ts';
import type { Solver } from '../solvers/solver.ts';
import { withoutUndefined } from './defined.ts';
import type { ProblemFlags, SolverFlags } from './definitions/train.ts';
import { readLines } from './text-file.ts';

export const lossParameters = ['epsilon', 'delta', 'smoothing', 'quantile'] as const;

/** The loss the options name, with its parameter; an option of another loss is an error. */
export async function chooseLoss(flags: ProblemFlags): Promise<Loss> {
  const isModule = /[\\/]|\.[cm]?[jt]s$/.test(flags.loss);
  const loss = isModule ? await loadLoss(flags.loss) : lossByName(flags.loss);
  for (const name of lossParameters) {
    if (flags[name] !== undefined && name !== loss.parameterName) {
      const own = loss.parameterName === undefined ? 'none' : `--${loss.parameterName}`;
      throw new UsageError(
        `--${name} ${flags[name]}: not a setting of the ${loss.name} loss, which has ${own}`,
      );
    }
  }
  const given = lossParameters.find((name) => flags[name] !== undefined);
  const parameter = given && flags[given];
  if (parameter === undefined) return loss;
  return isModule ? { ...loss, parameter } : lossByName(flags.loss, parameter);
}

export function choosePenalty(flags: ProblemFlags): Penalty {
  if (flags.l1Ratio !== undefined && flags.penalty !== 'elastic-net') {
    throw new UsageError(
      `--l1-ratio ${flags.l1Ratio}: a setting of --penalty elastic-net; ` +
        `the penalty is ${flags.penalty}`,
    );
  }
  const { lower: low = flags.nonNegative && 0, upper: high } = flags;
  const penalty = penaltyByName(flags.penalty, flags.l1Ratio);
  return penalties.bounded(penalty, withoutUndefined({ low, high }));
}

const steppers = ['dso', 'dso-async', 'sgd', 'psgd'];
const saddlers = ['dso', 'dso-async'];

/** Every setting with the solvers that have it; undefined when it was not given. */
function settingsGiven(flags: SolverFlags): readonly [string, unknown, readonly string[]][] {
  return [
    ['--paper', flags.paper, saddlers],
    ['--step', flags.step, steppers],
    ['--step-size', flags.stepSize, steppers],
    ['--average', flags.average || undefined, steppers],
    ['--no-average', flags.average === false || undefined, ['sgd', 'psgd']],
    ['--dual-step-size', flags.dualStepSize, saddlers],
    ['--no-svrg', flags.svrg ? undefined : true, saddlers],
    ['--initialize', flags.initialize, saddlers],
    ['--no-boxes', flags.boxes ? undefined : true, saddlers],
    ['--mode', flags.mode, ['ring']],
    ['--rotations', flags.rotations, ['ring']],
    ['--history', flags.history, ['lbfgs']],
    ['--rho', flags.rho, ['admm']],
    ['--local-passes', flags.localPasses, ['admm']],
    ['--inner-tolerance', flags.innerTolerance, ['bmrm']],
    ['--no-shrink', flags.shrink === false || undefined, ['dcd']],
  ];
}

/** The solver the options name; a setting of another solver is an error. */
export function chooseSolver(flags: SolverFlags): Solver {
  const paper = flags.paper ?? (flags.solver === 'paper' || undefined);
  const asked = flags.solver === 'paper' ? 'dso' : flags.solver;
  const name = asked ?? (paper ? 'dso' : 'auto');
  for (const [option, value, owners] of settingsGiven(flags)) {
    if (value !== undefined && !owners.includes(name)) {
      throw new UsageError(
        `${option} is a setting of --solver ${owners.join(', ')}; the solver is ${name} (add --solver ${owners[0]})`,
      );
    }
  }
  return solverOf(name, paper ? { ...flags, paper } : flags);
}

function solverOf(name: Solver['name'], flags: SolverFlags): Solver {
  const { mode, rotations, history, rho, localPasses: passes, innerTolerance, shrink } = flags;
  const { step, stepSize, average } = flags;
  switch (name) {
    case 'auto':
      return solvers.auto();
    case 'ring':
      return solvers.ring(withoutUndefined({ mode, rotations }));
    case 'dso':
      return flags.paper ? solvers.paper() : solvers.dso(dsoSettings(flags));
    case 'dso-async':
      return solvers.dsoAsync(flags.paper ? paperSettings : dsoSettings(flags));
    case 'sgd':
    case 'psgd':
      return solvers[name](withoutUndefined({ step, stepSize, average }));
    case 'bmrm':
      return solvers.bmrm(withoutUndefined({ innerTolerance }));
    case 'lbfgs':
      return solvers.lbfgs(withoutUndefined({ history }));
    case 'admm':
      return solvers.admm(withoutUndefined({ rho, passes }));
    case 'dcd':
      return solvers.dcd(withoutUndefined({ shrink }));
  }
}

function dsoSettings(flags: SolverFlags) {
  return withoutUndefined({
    step: flags.step,
    stepSize: flags.stepSize,
    dualStepSize: flags.dualStepSize,
    svrg: flags.svrg,
    initialize: flags.initialize,
    boxes: flags.boxes,
    average: flags.average,
  });
}

/** A positive number per line; there may be more lines than the data has columns. */
export async function readPenaltyFactors(path: string, columns: number): Promise<Float64Array> {
  const lines = await readLines(path);
  if (lines.length < columns) {
    throw new DataError(
      `${path}: ${lines.length} lines; wanted a penalty factor for each of ${columns} columns`,
    );
  }
  return Float64Array.from(lines.slice(0, columns), (line, index) => {
    const factor = line.trim() === '' ? Number.NaN : Number(line);
    if (!(factor > 0 && Number.isFinite(factor))) {
      throw new DataError(
        `${path}:${index + 1}: ${JSON.stringify(line)}; wanted a positive number`,
      );
    }
    return factor;
  });
}

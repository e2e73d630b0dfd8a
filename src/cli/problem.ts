import { DataError, UsageError } from '../errors.ts';
import { loadLoss, lossByName } from '../losses/index.ts';
import type { Loss } from '../losses/loss.ts';
import { penaltyByName } from '../penalties/index.ts';
import type { Penalty } from '../penalties/penalty.ts';
import { solvers } from '../solvers/index.ts';
import type { Solver } from '../solvers/solver.ts';
import { withoutUndefined } from './defined.ts';
import type { ProblemFlags, SolverFlags } from './definitions/train.ts';
import { readLines } from './text-file.ts';

const lossParameters = ['epsilon', 'delta', 'smoothing'] as const;

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
  const parameter = flags.epsilon ?? flags.delta ?? flags.smoothing;
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
  return penaltyByName(flags.penalty, flags.l1Ratio);
}

/** The solver the options name; a setting of another solver is an error. */
export function chooseSolver(flags: SolverFlags): Solver {
  const name = flags.solver ?? (flags.paper ? 'dso' : 'auto');
  const settingsOf = {
    dso: {
      '--paper': flags.paper,
      '--step': flags.step,
      '--step-size': flags.stepSize,
      '--dual-step-size': flags.dualStepSize,
      '--no-svrg': flags.svrg ? undefined : true,
      '--initialize': flags.initialize,
      '--no-boxes': flags.boxes ? undefined : true,
      '--average': flags.average,
    },
    ring: { '--mode': flags.mode, '--rotations': flags.rotations },
  };
  for (const owner of ['dso', 'ring'] as const) {
    if (owner === name) continue;
    for (const [option, value] of Object.entries(settingsOf[owner])) {
      if (value !== undefined) {
        throw new UsageError(
          `${option} is a setting of --solver ${owner}; the solver is ${name} (add --solver ${owner})`,
        );
      }
    }
  }
  if (name === 'auto') return solvers.auto();
  if (name === 'ring') {
    return solvers.ring(withoutUndefined({ mode: flags.mode, rotations: flags.rotations }));
  }
  return flags.paper ? solvers.paper() : solvers.dso(dsoSettings(flags));
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

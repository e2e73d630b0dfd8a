/** Loss, penalty and solver as the options of the command line describe them. */
import { UsageError } from '../../errors.ts';
import { loadLoss, lossByName, lossParameterNames } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import {
  type Penalty,
  type PenaltyName,
  penalties,
  penaltyByName,
  penaltyEntry,
} from '../../problem/penalties/index.ts';
import { paperSettings, solverByName } from '../../solvers/index.ts';
import type { Solver } from '../../solvers/registry.ts';
import { checkSolverOptions, libraryValues } from '../../train/options/option.ts';
import { settingOptions } from '../../train/options/solver.ts';
import type { TrainFlags } from './options.ts';

export type Problem = Awaited<ReturnType<typeof chooseProblem>>;

export async function chooseProblem(flags: LossFlags & PenaltyFlags & SolverFlags) {
  const loss = await chooseLoss(flags);
  return { loss, penalty: choosePenalty(flags), solver: chooseSolver(flags) };
}

type LossParameters = { readonly [Name in (typeof lossParameterNames)[number]]?: number };
type LossFlags = LossParameters & { readonly loss: string | readonly string[] };

export async function chooseLoss(flags: LossFlags): Promise<Loss> {
  return (await chooseLosses(flags))[0];
}

/** The losses by name, with their parameters; a parameter that none of them has is an error. */
export async function chooseLosses(flags: LossFlags): Promise<Loss[]> {
  const losses: Loss[] = [];
  for (const name of [flags.loss].flat()) losses.push(await lossOf(name, flags));
  for (const name of lossParameterNames) {
    const isUsed = losses.some(({ parameterName }) => parameterName === name);
    if (flags[name] === undefined || isUsed) continue;
    throw new UsageError(`--${name} is not an option of ${describeLosses(losses)}`);
  }
  return losses;
}

async function lossOf(name: string, flags: LossParameters): Promise<Loss> {
  const isModule = /[\\/]|\.[cm]?[jt]s$/.test(name);
  const loss = isModule ? await loadLoss(name) : lossByName(name);
  const own = lossParameterNames.find((parameter) => parameter === loss.parameterName);
  const parameter = own && flags[own];
  if (parameter === undefined) return loss;
  return isModule ? { ...loss, parameter } : lossByName(name, parameter);
}

function describeLosses(losses: readonly Loss[]): string {
  if (losses.length > 1) return `any of the losses ${losses.map(({ name }) => name).join(', ')}`;
  const [{ name, parameterName }] = losses;
  return `the ${name} loss, which has ${parameterName === undefined ? 'no parameter' : `--${parameterName}`}`;
}

type PenaltyFlags = Pick<TrainFlags, 'lower' | 'upper' | 'nonNegative'> & {
  readonly penalty: PenaltyName | readonly PenaltyName[];
  readonly l1Ratio?: number | readonly number[];
};

export function choosePenalty(flags: PenaltyFlags): Penalty {
  return choosePenalties(flags)[0];
}

/** The penalties by name: an elastic net for each share of L1. */
export function choosePenalties(flags: PenaltyFlags): Penalty[] {
  const { lower, upper, nonNegative } = flags;
  const names = [flags.penalty].flat();
  const ratios = flags.l1Ratio === undefined ? undefined : [flags.l1Ratio].flat();
  const takesRatio = (name: PenaltyName) => penaltyEntry(name)?.parameters.includes('l1Ratio');
  if (ratios && !names.some(takesRatio)) {
    throw new UsageError(
      `--l1-ratio is an option of --penalty elastic-net; the penalty is ${names.join(', ')}`,
    );
  }
  const low = lower ?? (nonNegative ? 0 : undefined);
  const bounds = { ...(low !== undefined && { low }), ...(upper !== undefined && { high: upper }) };
  return names
    .flatMap((name) =>
      takesRatio(name) && ratios
        ? ratios.map((ratio) => penaltyByName(name, { l1Ratio: ratio }))
        : [penaltyByName(name)],
    )
    .map((penalty) => penalties.bounded(penalty, bounds));
}

type SolverFlags = Partial<Pick<TrainFlags, 'solver' | keyof typeof settingOptions>>;

/** The solver with its settings; an option of another solver is an error. */
export function chooseSolver(flags: SolverFlags): Solver {
  const { paper, solver = paper ? 'dso' : 'auto' } = flags;
  checkSolverOptions(settingOptions, flags, solver);
  return solverByName(solver, paper ? paperSettings : libraryValues(settingOptions, flags));
}

/** Loss, penalty and solver as the options of the command line describe them. */
import { DataError, UsageError } from '../../errors.ts';
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
import { readLines } from './reading.ts';

type LossParameters = { readonly [Name in (typeof lossParameterNames)[number]]?: number };

/** The loss with its parameter; the parameter of another loss is an error. */
export async function chooseLoss(flags: LossParameters & { loss: string }): Promise<Loss> {
  const [loss] = await chooseLosses({ ...flags, loss: [flags.loss] });
  return loss;
}

/** The losses by name; a parameter goes to the losses that have it, and one of none is an error. */
export async function chooseLosses(
  flags: LossParameters & { readonly loss: readonly string[] },
): Promise<Loss[]> {
  const losses: Loss[] = [];
  for (const name of flags.loss) losses.push(await lossOf(name, flags));
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
  return `the ${name} loss, which has ${parameterName === undefined ? 'none' : `--${parameterName}`}`;
}

type PenaltyFlags = Pick<TrainFlags, 'penalty' | 'l1Ratio' | 'lower' | 'upper' | 'nonNegative'>;

export function choosePenalty({ l1Ratio, ...flags }: PenaltyFlags): Penalty {
  const ratios = l1Ratio === undefined ? undefined : [l1Ratio];
  return choosePenalties({
    ...flags,
    penalty: [flags.penalty],
    ...(ratios && { l1Ratio: ratios }),
  })[0];
}

/** The penalties by name: an elastic net for each share of L1. */
export function choosePenalties({
  penalty: names,
  l1Ratio: ratios,
  lower,
  upper,
  nonNegative,
}: Omit<PenaltyFlags, 'penalty' | 'l1Ratio'> & {
  readonly penalty: readonly PenaltyName[];
  readonly l1Ratio?: readonly number[];
}): Penalty[] {
  const takesRatio = (name: PenaltyName) => penaltyEntry(name)?.parameters.includes('l1Ratio');
  if (ratios && !names.some(takesRatio)) {
    throw new UsageError(
      `--l1-ratio is an option of --penalty elastic-net; the penalty is ${names.join(', ')}`,
    );
  }
  const low = lower ?? (nonNegative ? 0 : undefined);
  const bounds = {
    ...(low !== undefined && { low }),
    ...(upper !== undefined && { high: upper }),
  };
  return names
    .flatMap((name) =>
      takesRatio(name) && ratios
        ? ratios.map((ratio) => penaltyByName(name, { l1Ratio: ratio }))
        : [penaltyByName(name)],
    )
    .map((penalty) => penalties.bounded(penalty, bounds));
}

/** The solver with its settings; an option of another solver is an error. */
export function chooseSolver(
  flags: Partial<Pick<TrainFlags, 'solver' | keyof typeof settingOptions>>,
): Solver {
  const { paper, solver = paper ? 'dso' : 'auto' } = flags;
  checkSolverOptions(settingOptions, flags, solver);
  return solverByName(solver, paper ? paperSettings : libraryValues(settingOptions, flags));
}

/** A positive number per line; there may be more lines than the data has columns. */
export async function readPenaltyFactors(path: string, columns: number): Promise<Float64Array> {
  const lines = await readLines(path);
  if (lines.length < columns) {
    throw new DataError(
      `${path}: ${lines.length} lines; expected a penalty factor for each of ${columns} columns`,
    );
  }
  return Float64Array.from(lines.slice(0, columns), (line, index) => {
    const factor = line.trim() === '' ? Number.NaN : Number(line);
    if (factor > 0 && Number.isFinite(factor)) return factor;
    throw new DataError(
      `${path}:${index + 1}: ${JSON.stringify(line)}; expected a positive number`,
    );
  });
}

/** A loss of the user's own: a module with the eight functions of LossFunctions. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../../errors.ts';
import { commonSteps, type Loss, type LossFunctions } from './loss.ts';

/** What each function is for, to end the sentence "loss '…' has no <function>: ". */
const purposes: Readonly<Record<Exclude<keyof LossFunctions, 'conjugateCurvature'>, string>> = {
  value: 'the objective is made of it',
  derivative: "solvers 'dso' and 'ring' follow it",
  curvature: "solver 'ring' divides by it in column mode (return 0 if the loss is not smooth)",
  conjugate: "solvers 'dso' and 'ring' need one for the duality gap",
  conjugateDerivative: "solver 'dso' follows it in the dual variables",
  conjugateLow: "solvers 'dso' and 'ring' keep the dual variables above it",
  conjugateHigh: "solvers 'dso' and 'ring' keep the dual variables below it",
  dualStep: "solver 'ring' takes it in row mode",
};

const shown = (value: unknown) => JSON.stringify(value) ?? 'missing';

/**
 * Imports a loss from a module: a path, relative to the working directory, or a file: URL. It
 * exports the eight functions, `name`, `task`, `smooth` and, if it has one, `parameter`.
 */
export async function loadLoss(location: string | URL): Promise<Loss> {
  const label = String(location);
  const refuse: (problem: string, cause?: unknown) => never = (problem, cause) => {
    throw new UsageError(`loss '${label}'${problem}`, { cause });
  };
  const url = /^file:/i.test(label) ? label : pathToFileURL(resolve(label)).href;
  if (!existsSync(new URL(url))) throw new UsageError(`${label}: no such file`);
  const module: Readonly<Record<string, unknown>> = await import(url).catch((cause: unknown) =>
    refuse(` cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, cause),
  );
  const { name, task, smooth, parameter = 0, parameterName } = module;
  if (typeof name !== 'string' || name === '') {
    return refuse(" has no name: export const name = '…', a word");
  }
  if (task !== 'classification' && task !== 'regression') {
    return refuse(`: task is ${shown(task)}; it must be 'classification' or 'regression'`);
  }
  if (typeof smooth !== 'boolean') {
    return refuse(
      `: smooth is ${shown(smooth)}; it must be true (differentiable with a bounded second derivative) or false`,
    );
  }
  if (typeof parameter !== 'number' || !Number.isFinite(parameter)) {
    return refuse(`: parameter is ${String(parameter)}; it must be a finite number`);
  }
  const functions = Object.entries(purposes).map(([key, purpose]) => {
    const found = module[key];
    if (found === undefined) refuse(` has no ${key}: ${purpose}`);
    if (typeof found !== 'function') refuse(`: ${key} is a ${typeof found}; it must be a function`);
    return [key, found];
  });
  const { conjugateCurvature } = module;
  if (conjugateCurvature !== undefined && typeof conjugateCurvature !== 'function') {
    refuse(`: conjugateCurvature is a ${typeof conjugateCurvature}; it must be a function`);
  }
  return Object.freeze({
    name,
    task,
    smooth,
    parameter,
    ...(typeof parameterName === 'string' && { parameterName }),
    module: url,
    link: 'identity',
    givesProbabilities: false,
    openEnds: false,
    defaultSteps: commonSteps,
    ...(Object.fromEntries(functions) as LossFunctions),
    ...(conjugateCurvature !== undefined && {
      conjugateCurvature: conjugateCurvature as NonNullable<LossFunctions['conjugateCurvature']>,
    }),
  });
}

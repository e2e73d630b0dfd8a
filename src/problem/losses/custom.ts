/** A loss of the user's own: a module with the eight functions of LossFunctions. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../../errors.ts';
import { commonSteps, type Loss, type LossFunctions, type Task } from './loss.ts';

/** What each function is for, to end the sentence "loss '…' has no <function>: ". */
const purposes: Readonly<Record<keyof LossFunctions, string>> = {
  value: 'the objective is made of it',
  derivative: "solvers 'dso' and 'ring' follow it",
  curvature: "solver 'ring' divides by it in column mode (return 0 if the loss is not smooth)",
  conjugate: "solvers 'dso' and 'ring' need one for the duality gap",
  conjugateDerivative: "solver 'dso' follows it in the dual variables",
  conjugateLow: "solvers 'dso' and 'ring' keep the dual variables above it",
  conjugateHigh: "solvers 'dso' and 'ring' keep the dual variables below it",
  dualStep: "solver 'ring' takes it in row mode",
};

type LossModule = Readonly<Record<string, unknown>>;

async function importModule(location: string, url: string): Promise<LossModule> {
  try {
    return (await import(url)) as LossModule;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`loss '${location}' cannot be loaded: ${reason}`, { cause });
  }
}

function functionOf<Key extends keyof LossFunctions>(
  location: string,
  module: LossModule,
  key: Key,
): LossFunctions[Key] {
  const found = module[key];
  if (typeof found === 'function') return found as LossFunctions[Key];
  if (found === undefined)
    throw new UsageError(`loss '${location}' has no ${key}: ${purposes[key]}`);
  throw new UsageError(`loss '${location}': ${key} is a ${typeof found}; it must be a function`);
}

function nameOf(location: string, module: LossModule): string {
  const { name } = module;
  if (typeof name === 'string' && name !== '') return name;
  throw new UsageError(`loss '${location}' has no name: export const name = '…', a word`);
}

function taskOf(location: string, module: LossModule): Task {
  const { task } = module;
  if (task === 'classification' || task === 'regression') return task;
  throw new UsageError(
    `loss '${location}': task is ${JSON.stringify(task) ?? 'missing'}; ` +
      "it must be 'classification' or 'regression'",
  );
}

function smoothOf(location: string, module: LossModule): boolean {
  const { smooth } = module;
  if (typeof smooth === 'boolean') return smooth;
  throw new UsageError(
    `loss '${location}': smooth is ${JSON.stringify(smooth) ?? 'missing'}; it must be true ` +
      '(differentiable with a bounded second derivative) or false',
  );
}

function parameterOf(location: string, module: LossModule): number {
  const { parameter = 0 } = module;
  if (typeof parameter === 'number' && Number.isFinite(parameter)) return parameter;
  throw new UsageError(
    `loss '${location}': parameter is ${String(parameter)}; it must be a finite number`,
  );
}

/**
 * Imports a loss from a module: a path, relative to the working directory, or a file: URL. It
 * exports the eight functions, `name`, `task`, `smooth` and, if it has one, `parameter`.
 */
export async function loadLoss(location: string | URL): Promise<Loss> {
  const label = String(location);
  const url = /^file:/i.test(label) ? label : pathToFileURL(resolve(label)).href;
  const module = await importModule(label, url);
  const { parameterName } = module;
  return Object.freeze({
    name: nameOf(label, module),
    task: taskOf(label, module),
    smooth: smoothOf(label, module),
    parameter: parameterOf(label, module),
    ...(typeof parameterName === 'string' ? { parameterName } : {}),
    module: url,
    link: 'identity',
    givesProbabilities: false,
    openEnds: false,
    defaultSteps: commonSteps,
    value: functionOf(label, module, 'value'),
    derivative: functionOf(label, module, 'derivative'),
    curvature: functionOf(label, module, 'curvature'),
    conjugate: functionOf(label, module, 'conjugate'),
    conjugateDerivative: functionOf(label, module, 'conjugateDerivative'),
    conjugateLow: functionOf(label, module, 'conjugateLow'),
    conjugateHigh: functionOf(label, module, 'conjugateHigh'),
    dualStep: functionOf(label, module, 'dualStep'),
  });
}

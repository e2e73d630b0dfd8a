import { createHash } from 'node:crypto';
import {
  DataError,
  type Dataset,
  encodeModel,
  type Model,
  type TrainOptions,
  train,
  UsageError,
} from '../../../src/index.ts';

/** One thing whose bytes must stay as they are. */
export interface ModelRun {
  readonly name: string;
  /** A SHA-256, or a word such as `refused`. */
  readonly value: () => Promise<string> | string;
  /** The name of another run that must have the same value. */
  readonly equals?: string;
}

/** The program does not take this combination. The words of its message do not matter. */
export const refused = 'refused';
/** A program that this run needs is not installed. */
export const skipped = 'skipped';

/** What `dso …` throws here when it ends with the exit code of bad usage or bad data. */
export class Refusal extends Error {}

export function hashOf(...pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

export function hashOfModels(...models: readonly Model[]): string {
  return hashOf(...models.map((model) => encodeModel(model)));
}

/** A run of the library: trains, and hashes the model file. */
export function training(
  name: string,
  dataset: Dataset | (() => Promise<Dataset> | Dataset),
  options: TrainOptions | (() => Promise<TrainOptions> | TrainOptions),
  equals?: string,
): ModelRun {
  const value = async () => {
    const rows = typeof dataset === 'function' ? await dataset() : dataset;
    const given = typeof options === 'function' ? await options() : options;
    const { model } = await train(rows, { ...shortRun, ...given });
    return hashOfModels(withoutFolder(model));
  };
  return { name, value, ...(equals !== undefined && { equals }) };
}

/** Few epochs: what is compared is bits, not quality. */
export const shortRun: TrainOptions = { epochs: 25, tolerance: 1e-7, lambda: 0.01 };

/** A model names the file of a custom loss with its folder, which differs from run to run. */
function withoutFolder(model: Model): Model {
  const { module } = model.loss;
  if (module === undefined) return model;
  return { ...model, loss: { ...model.loss, module: module.slice(module.lastIndexOf('/') + 1) } };
}

/** The value of a run; any other error than an expected one is a failure of the program. */
export async function resultOf({ name, value }: ModelRun): Promise<string> {
  try {
    return await value();
  } catch (error) {
    const isExpected = [UsageError, DataError, Refusal].some((kind) => error instanceof kind);
    if (isExpected) return refused;
    throw new Error(`${name}: ${String(error)}`, { cause: error });
  }
}

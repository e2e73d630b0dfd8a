/** The data of a model, prepared as for the training of it. */
import type { Dataset } from '../../data/dataset.ts';
import { hashNumbers } from '../../data/fingerprint.ts';
import type { Scaling } from '../../data/scale.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { DualPoint } from '../../model/dual-point.ts';
import type { Label, Model } from '../../model/model.ts';
import { lossByName } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { separablePenalty } from '../../problem/penalties/separable.ts';
import type { TrainOptions } from '../options/options.ts';
import { type PreparedTraining, prepareTraining, type Training } from '../prepare.ts';

export interface VerifyOptions {
  /** The dual point that proves the bound; default: one that follows from the weights. */
  readonly dual?: DualPoint | undefined;
  /** Those that the model was trained with. */
  readonly penaltyFactors?: Float64Array | undefined;
  /** The loss, if it is a custom one. */
  readonly loss?: Loss | undefined;
  readonly threads?: number | undefined;
}

/** An option as model files have it. */
type Value = string | number | boolean;

/** Refuses what does not fit the model: no claim, other factors, another dual point. */
export function checkGiven(model: Model, { dual, penaltyFactors }: VerifyOptions): void {
  const { certificate, certificates, provenance, rows } = model;
  if (certificate.stopped === 'imported' || certificate.stopped === 'stream' || !provenance) {
    const made = certificate.stopped === 'stream' ? 'learned from a stream' : 'imported';
    throw new DataError(`the model was ${made} and claims nothing; expected one of dso train`);
  }
  checkFactors(provenance.options['penalty-factors'], penaltyFactors);
  if (!dual) return;
  const vectors = certificates?.length ?? 1;
  const { alpha, scales } = dual;
  const fits =
    alpha instanceof Float64Array && alpha.length === vectors * rows && scales?.length === vectors;
  if (fits && scales.every((scale) => scale >= 0 && scale <= 1)) return;
  throw new UsageError(
    `dual: expected ${vectors * rows} numbers in alpha and ${vectors} from 0 to 1 in scales, as train() returns them with keepDual`,
  );
}

/** The data as it was trained on. What cannot be done with it is a fault of the model. */
export async function prepareAsTrained(
  model: Model,
  dataset: Dataset,
  options: VerifyOptions,
): Promise<Training> {
  const loss = chooseLoss(model, options.loss);
  checkShape(model, dataset);
  let training: PreparedTraining;
  try {
    training = await prepareTraining(dataset, settingsOf(model, loss, options));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new DataError(`the options in the model: ${error.message}`, { cause: error });
  }
  checkHash(model, training, await training.hash);
  return training;
}

/** The options that the model was trained with, as far as they decide the problem. */
function settingsOf(
  model: Model,
  loss: Loss,
  { penaltyFactors, threads }: VerifyOptions,
): TrainOptions {
  const { provenance, penalty, lambda, seed, unitRows = false } = model;
  const options = provenance?.options ?? {};
  if (unitRows !== (options.scale === 'unit-rows')) {
    throw new UsageError(`scale is ${options.scale}, but unitRows is ${unitRows}`);
  }
  const { low, high } = penalty;
  const box = low === undefined && high === undefined ? undefined : { ...penalty };
  return {
    loss,
    penalty: separablePenalty(penalty.name, penalty.l1, penalty.l2, box),
    lambda,
    seed,
    intercept: options.intercept === true || model.intercepts.some((value) => value !== 0),
    ...(model.multiLabel && { multiLabel: true }),
    ...(model.classes?.length === 2 && !model.multiLabel && { positive: model.classes[1] }),
    ...(options.holdout !== undefined && { holdout: Number(options.holdout) }),
    scale: (options.scale ?? 'none') as Scaling,
    ...classWeightsOf(options['class-weight'], model.classes),
    ...(penaltyFactors && { penaltyFactors }),
    ...(threads !== undefined && { threads }),
  };
}

function chooseLoss({ loss: { name, parameter, module } }: Model, given: Loss | undefined): Loss {
  if (module === undefined) {
    const plain = lossByName(name);
    return plain.parameterName ? lossByName(name, parameter) : plain;
  }
  if (given?.name === name) return { ...given, parameter };
  throw new UsageError(
    `the model has the custom loss '${name}', which its file does not contain: give the loss it was trained with`,
  );
}

function checkFactors(expected: Value | undefined, given: Float64Array | undefined): void {
  if (expected === undefined && !given) return;
  if (expected === undefined) {
    throw new UsageError('the model was trained without penalty factors: leave them out');
  }
  if (!given) throw new UsageError('the model was trained with penalty factors: give them, too');
  if (hashNumbers(given) !== expected) {
    throw new DataError(
      `the hash of the penalty factors is ${hashNumbers(given)}; expected ${expected}, that of the factors the model was trained with`,
    );
  }
}

/** `spam=5,ham=1`, where a label may have any characters: those of the model are looked for first. */
function classWeightsOf(
  text: Value | undefined,
  classes: readonly Label[] = [],
): Pick<TrainOptions, 'classWeights'> {
  if (text === undefined) return {};
  if (text === 'balanced') return { classWeights: text };
  const weights: Record<string, number> = {};
  const longestFirst = classes.map(String).sort((one, other) => other.length - one.length);
  for (let rest = `${text},`; rest !== ''; ) {
    const known = longestFirst.find((label) => rest.startsWith(`${label}=`)) ?? '';
    const [found, label, weight] =
      /^(.*?)=([\d.e+-]+),/is.exec(rest.slice(known.length)) ??
      raise(`class weights that cannot be read: ${text}`);
    weights[known + label] = Number(weight);
    rest = rest.slice(known.length + found.length);
  }
  return { classWeights: weights };
}

function raise(message: string): never {
  throw new UsageError(message);
}

function checkShape(model: Model, { name, columns }: Dataset): void {
  if (columns === model.columns) return;
  throw new DataError(
    `${name}: ${columns} columns; expected ${model.columns}: those of the data that the model was trained on`,
  );
}

function checkHash({ provenance, rows, classes }: Model, training: Training, hash: string): void {
  const { dataset, shard } = training;
  if (provenance?.data !== hash) {
    throw new DataError(
      `${dataset.name}: its hash is ${hash}; expected ${provenance?.data}: this is not the data that the model was trained on, or it was read with other options`,
    );
  }
  const found = training.classes?.classes.map(String).join(', ');
  const expected = classes?.map(String).join(', ');
  if (shard.rows === rows && found === expected) return;
  throw new DataError(
    `${dataset.name}: ${shard.rows} rows of classes ${found}; expected ${rows} of ${expected}`,
  );
}

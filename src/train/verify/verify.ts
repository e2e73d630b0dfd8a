import { type Dataset, rowWeights } from '../../data/dataset.ts';
import { hashNumbers } from '../../data/fingerprint.ts';
import { targetsOf } from '../../data/labels.ts';
import type { Scaling } from '../../data/scale.ts';
import { DataError, UsageError } from '../../errors.ts';
import {
  absolute,
  add,
  compare,
  type DoubleDouble,
  divide,
  exact,
  greatest,
  subtract,
  toNumber,
  zero,
} from '../../math/double-double.ts';
import type { DualPoint } from '../../model/dual-point.ts';
import { type Certificate, type Model, weightsOf } from '../../model/model.ts';
import { lossByName } from '../../problem/losses/index.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import { separablePenalty } from '../../problem/penalties/separable.ts';
import type { TrainOptions } from '../options/options.ts';
import { preparationOptions } from '../options/problem.ts';
import { prepareTraining, type Training } from '../prepare.ts';
import { ExactObjective } from './exact-objective.ts';

/** P, a lower bound on the optimum, and what is between them. */
export interface Bounds {
  readonly primal: number;
  readonly dual: number;
  readonly gap: number;
  readonly relativeGap: number;
}

export interface VerifiedVector {
  readonly claimed: Bounds;
  /** Rounded so that what it says still holds. */
  readonly proved: Bounds;
  /** Whether P is what the model says, to the rounding errors of double precision. */
  readonly agrees: boolean;
  /** Whether the gap that the model claims is proved. */
  readonly proves: boolean;
}

/** What the data proves about a model. */
export interface Verification {
  /** Of a kept dual point: the claimed gap is proved. Otherwise: P is what the model says. */
  readonly confirmed: boolean;
  /** Where the lower bound comes from. */
  readonly from: 'dual-point' | 'weights';
  readonly claimed: Bounds;
  readonly proved: Bounds;
  /** One for each vector, where there are several. */
  readonly vectors?: readonly VerifiedVector[];
}

export interface VerifyOptions {
  /** The dual point that proves the bound; default: one that follows from the weights. */
  readonly dual?: DualPoint | undefined;
  /** Those that the model was trained with. */
  readonly penaltyFactors?: Float64Array | undefined;
  /** The loss, if it is a custom one. */
  readonly loss?: Loss | undefined;
  readonly threads?: number | undefined;
}

/**
 * Recomputes P and D of a model from the data that it was trained on, in double-double arithmetic.
 * Throws a DataError where the data is not that of the model.
 */
export async function verify(
  model: Model,
  dataset: Dataset,
  options: VerifyOptions = {},
): Promise<Verification> {
  const { dual, penaltyFactors } = options;
  const settings = settingsOf(model, options);
  checkShape(model, dataset);
  const training = await prepareTraining(dataset, settings);
  checkHash(model, training);
  const { shard, classes, factors: divisors } = training;
  const { parts, stored } = shard.dataset;
  const targets = targetsOf(shard.dataset, classes);
  const { loss, penalty, lambda, intercept } = training.settings;
  const certificates = model.certificates ?? [model.certificate];
  const vectors = certificates.map((claimed, vector) => {
    const objective = new ExactObjective({
      columns: model.columns,
      scan: () => stored?.scan() ?? parts,
      labels: targets.of(vector),
      rowWeights: rowWeights(shard.dataset),
      loss,
      penalty,
      lambda,
      intercept,
      factors: penaltyFactors,
    });
    const point = {
      weights: weightsOf(model, vector),
      divisors,
      intercept: model.intercepts[vector],
    };
    const own = dual && {
      alpha: dual.alpha.subarray(vector * shard.rows, (vector + 1) * shard.rows),
      scale: dual.scales[vector],
    };
    return verifyVector(objective, point, claimed, own);
  });
  return summarize(model.certificate, vectors, dual ? 'dual-point' : 'weights');
}

/** An option as model files have it. */
type Value = string | number | boolean;

type Point = Parameters<ExactObjective['primal']>[0];
type OwnDual = { readonly alpha: Float64Array; readonly scale: number };

interface Found extends VerifiedVector {
  readonly exactPrimal: DoubleDouble;
  readonly exactDual: DoubleDouble;
}

function verifyVector(
  objective: ExactObjective,
  point: Point,
  claim: Certificate,
  dual: OwnDual | undefined,
): Found {
  const { value, rounding: allowed, margins } = objective.primal(point);
  const bound = dual
    ? objective.dual(dual.alpha, dual.scale)
    : greatest(objective.dual(objective.dualPointOf(margins), 1), objective.dualAtZero());
  return {
    claimed: claimOf(claim),
    proved: boundsOf(value, bound),
    agrees: Math.abs(subtract(value, exact(claim.primal)).hi) <= allowed,
    proves: isProved(claim, subtract(value, bound)),
    exactPrimal: value,
    exactDual: bound,
  };
}

/** Whether a gap is at most the one that is claimed, in each of the ways in which it is. */
function isProved({ primal, dual, gap, relativeGap }: Certificate, found: DoubleDouble): boolean {
  if (dual === -Infinity) return true;
  // Exactly what the bounds say, not what is left of it after a subtraction in doubles.
  const between = subtract(exact(primal), exact(dual));
  const relative = relativeGap === Infinity ? Infinity : relativeGap * Math.abs(primal);
  const rounded = Math.min(gap, relative) * (1 + 4 * rounding);
  return compare(found, between) <= 0 && compare(found, exact(rounded)) <= 0;
}

function claimOf({ primal, dual, gap, relativeGap }: Certificate): Bounds {
  return { primal, dual, gap, relativeGap };
}

const rounding = 2 ** -52;

/** In doubles, rounded to the safe side. */
function boundsOf(primal: DoubleDouble, dual: DoubleDouble): Bounds {
  const gap = subtract(primal, dual);
  const nearest = toNumber(dual);
  return {
    primal: toNumber(primal) * (1 + (primal.lo > 0 ? rounding : 0)),
    dual: nearest - (dual.lo < 0 ? Math.abs(nearest) * rounding : 0),
    gap: Math.max(0, toNumber(gap)) * (1 + rounding),
    relativeGap: gap.hi > 0 ? toNumber(divide(gap, absolute(primal))) * (1 + rounding) : 0,
  };
}

function summarize(
  claim: Certificate,
  found: readonly Found[],
  from: Verification['from'],
): Verification {
  const total = (part: 'exactPrimal' | 'exactDual') =>
    found.reduce((sum, one) => add(sum, one[part]), zero);
  const [primal, dual] = [total('exactPrimal'), total('exactDual')];
  const proves = found.every((one) => one.proves) && isProved(claim, subtract(primal, dual));
  const confirmed = found.every(({ agrees }) => agrees) && (proves || from === 'weights');
  const common = { confirmed, from, claimed: claimOf(claim), proved: boundsOf(primal, dual) };
  if (found.length === 1) return common;
  return { ...common, vectors: found.map(({ exactPrimal: _, exactDual: __, ...one }) => one) };
}

/** The options that the model was trained with, as far as they decide the problem. */
function settingsOf(model: Model, { loss, penaltyFactors, threads }: VerifyOptions): TrainOptions {
  const { certificate, provenance, penalty, lambda, seed } = model;
  if (certificate.stopped === 'imported' || certificate.stopped === 'stream' || !provenance) {
    const made = certificate.stopped === 'stream' ? 'learned from a stream' : 'imported';
    throw new DataError(`the model was ${made} and claims nothing; expected one of dso train`);
  }
  const { options } = provenance;
  checkFactors(options['penalty-factors'], penaltyFactors);
  const { low, high } = penalty;
  const box = low === undefined && high === undefined ? undefined : { ...penalty };
  return {
    loss: chooseLoss(model, loss),
    penalty: separablePenalty(penalty.name, penalty.l1, penalty.l2, box),
    lambda,
    seed,
    intercept: options.intercept === true || model.intercepts.some((value) => value !== 0),
    ...(model.multiLabel && { multiLabel: true }),
    ...(options.holdout !== undefined && { holdout: Number(options.holdout) }),
    ...(options.scale !== undefined && { scale: options.scale as Scaling }),
    ...classWeightsOf(options['class-weight']),
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

function classWeightsOf(text: Value | undefined): Pick<TrainOptions, 'classWeights'> {
  if (text === undefined) return {};
  const classWeights = preparationOptions.classWeight.type.parse(String(text));
  if (classWeights) return { classWeights };
  throw new DataError(`the model has class weights that cannot be read: ${text}`);
}

function checkShape(model: Model, { name, columns }: Dataset): void {
  if (columns === model.columns) return;
  throw new DataError(
    `${name}: ${columns} columns; expected ${model.columns}: those of the data that the model was trained on`,
  );
}

function checkHash({ provenance, rows, classes }: Model, training: Training): void {
  const { hash, dataset, shard } = training;
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

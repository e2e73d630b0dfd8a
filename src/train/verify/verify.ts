import { type Dataset, rowWeights } from '../../data/dataset.ts';
import { targetsOf } from '../../data/labels.ts';
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
import { type Certificate, type Model, weightsOf } from '../../model/model.ts';
import { checkGiven, prepareAsTrained, type VerifyOptions } from './as-trained.ts';
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
  checkGiven(model, options);
  const training = await prepareAsTrained(model, dataset, options);
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
    agrees: isConsistent(claim) && Math.abs(subtract(value, exact(claim.primal)).hi) <= allowed,
    proves: isProved(claim, value, bound),
    exactPrimal: value,
    exactDual: bound,
  };
}

/** Whether the figures of a claim fit one another: a gap is what is between the bounds. */
function isConsistent({ primal, dual, gap, relativeGap }: Certificate): boolean {
  if (dual === -Infinity) return gap === Infinity && relativeGap === Infinity;
  const between = primal - dual;
  const close = 1 - 4 * rounding;
  const relative = between === 0 ? 0 : (close * between) / Math.abs(primal);
  return between >= 0 && gap >= close * between && relativeGap >= relative;
}

/** Whether both P and D are within what is claimed. */
function isProved(claim: Certificate, primal: DoubleDouble, dual: DoubleDouble): boolean {
  if (claim.dual === -Infinity) return true;
  const found = subtract(primal, dual);
  // A bound above P comes from numbers that have overflowed.
  if (!(found.hi >= -rounding * Math.abs(primal.hi))) return false;
  // Exactly what the bounds say, not what is left of it after a subtraction in doubles.
  const between = subtract(exact(claim.primal), exact(claim.dual));
  const { gap, relativeGap } = claim;
  const relative = relativeGap === Infinity ? Infinity : relativeGap * Math.abs(claim.primal);
  const least = Math.min(gap, relative) * (1 + 4 * rounding);
  return (
    compare(exact(claim.dual), dual) <= 0 &&
    compare(found, between) <= 0 &&
    compare(found, exact(least)) <= 0
  );
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
    relativeGap: gap.hi === Infinity ? Infinity : relativeOf(gap, primal),
  };
}

function relativeOf(gap: DoubleDouble, primal: DoubleDouble): number {
  return gap.hi > 0 ? toNumber(divide(gap, absolute(primal))) * (1 + rounding) : 0;
}

function summarize(
  claim: Certificate,
  found: readonly Found[],
  from: Verification['from'],
): Verification {
  const total = (part: 'exactPrimal' | 'exactDual') =>
    found.reduce((sum, one) => add(sum, one[part]), zero);
  const [primal, dual] = [total('exactPrimal'), total('exactDual')];
  const proves = found.every((one) => one.proves) && isProved(claim, primal, dual);
  const agrees = found.every((one) => one.agrees) && isConsistent(claim);
  const confirmed = agrees && (proves || from === 'weights');
  const common = { confirmed, from, claimed: claimOf(claim), proved: boundsOf(primal, dual) };
  if (found.length === 1) return common;
  return { ...common, vectors: found.map(({ exactPrimal: _, exactDual: __, ...one }) => one) };
}

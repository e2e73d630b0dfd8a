import { type LossName, losses } from '../../src/losses/index.ts';
import { penalties } from '../../src/penalties/index.ts';
import type { Penalty } from '../../src/penalties/penalty.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import { fc } from '../support/property.ts';

/** What the laws need to know of a loss beyond its functions. */
export interface LossCase {
  readonly label: string;
  readonly loss: Loss;
  /** The largest slope of ℓ', Infinity at a kink. */
  readonly steepest: number;
  /** Scores where ℓ has a kink, for a label. */
  readonly kinks: (y: number) => readonly number[];
  /** Where the conjugate has a kink inside its domain. */
  readonly conjugateKinks: readonly number[];
}

const none = (): readonly number[] => [];

function caseOf(loss: Loss, steepest: number, rest: Partial<LossCase> = {}): LossCase {
  const parameter = loss.parameterName ? ` ${loss.parameterName}=${loss.parameter}` : '';
  const label = `${loss.name}${parameter}`;
  return { label, loss, steepest, kinks: none, conjugateKinks: [], ...rest };
}

function absoluteCase(epsilon: number): LossCase {
  return caseOf(losses.absolute({ epsilon }), Infinity, {
    kinks: (y) => [y - epsilon, y + epsilon],
    conjugateKinks: [0],
  });
}

function squaredAbsoluteCase(epsilon: number): LossCase {
  return caseOf(losses.squaredAbsolute({ epsilon }), 2, {
    conjugateKinks: epsilon > 0 ? [0] : [],
  });
}

function quantileCase(quantile: number): LossCase {
  return caseOf(losses.quantile({ quantile }), Infinity, { kinks: (y) => [y] });
}

/** Every registered loss, with several parameters where it has one. */
const casesByName: Readonly<Record<LossName, readonly LossCase[]>> = {
  hinge: [caseOf(losses.hinge(), Infinity, { kinks: (y) => [y] })],
  'squared-hinge': [caseOf(losses.squaredHinge(), 2)],
  'smoothed-hinge': [1, 0.5, 0.01].map((smoothing) =>
    caseOf(losses.smoothedHinge({ smoothing }), 1 / smoothing),
  ),
  logistic: [caseOf(losses.logistic(), 0.25)],
  square: [caseOf(losses.square(), 1)],
  huber: [1, 0.1, 5].map((delta) => caseOf(losses.huber({ delta }), 1)),
  absolute: [0, 0.1, 1].map(absoluteCase),
  'squared-absolute': [0, 0.1, 1].map(squaredAbsoluteCase),
  quantile: [0.5, 0.1, 0.95].map(quantileCase),
  // The slope of ℓ' where its straight line begins.
  poisson: [caseOf(losses.poisson(), Math.exp(200) * (1 + 1e-14))],
};

export const lossCases: readonly LossCase[] = Object.values(casesByName).flat();

export const penaltyCases: readonly { label: string; penalty: Penalty }[] = [
  penalties.l2(),
  penalties.l1(),
  ...[0.5, 0.01, 0.9].map((l1Ratio) => penalties.elasticNet({ l1Ratio })),
].map((penalty) => ({ label: `${penalty.name} l1=${penalty.l1}`, penalty }));

export function numbers(min: number, max: number): fc.Arbitrary<number> {
  return fc.double({ min, max, noNaN: true });
}

/** Fractions of an interval, its ends included now and then. */
export const fractions = fc.oneof(
  { weight: 8, arbitrary: numbers(0, 1) },
  { weight: 1, arbitrary: fc.constantFrom(0, 1, 0.5, 1e-12, 1 - 1e-12) },
);

export function labelsOf(loss: Loss): fc.Arbitrary<number> {
  if (loss.task === 'classification') return fc.constantFrom(-1, 1);
  // Counts, nought among them, where a loss is not made for other labels.
  if (loss.labels) return fc.oneof(numbers(0, 10), fc.integer({ min: 0, max: 10 }));
  return numbers(-10, 10);
}

/** A point of the conjugate's domain, cut to ±100 where that is open. */
export function insideDomain(loss: Loss, y: number, fraction: number): number {
  const low = Math.max(loss.conjugateLow(y, loss.parameter), -100);
  const high = Math.min(loss.conjugateHigh(y, loss.parameter), 100);
  return fraction >= 1 ? high : low + fraction * (high - low);
}

import { lossByName, lossEntry, lossNames } from '../../src/problem/losses/index.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import {
  type Penalty,
  type PenaltyEntry,
  penaltyEntry,
  penaltyNames,
} from '../../src/problem/penalties/index.ts';
import { fc } from '../support/property.ts';

/** Parameters to try besides the default, where the loss accepts them. */
const parameters = [0.01, 0.1, 0.95, 5];

function labelOf(loss: Loss): string {
  const parameter = loss.parameterName ? ` ${loss.parameterName}=${loss.parameter}` : '';
  return `${loss.name}${parameter}`;
}

/** Every registered loss, with several parameters where it has one. */
export const lossCases: readonly { label: string; loss: Loss }[] = lossNames
  .flatMap((name) => {
    const rule = lossEntry(name)?.parameter;
    const others = parameters.filter((number) => rule?.accepts(number) && number !== rule.default);
    return [undefined, ...others].map((parameter) => lossByName(name, parameter));
  })
  .map((loss) => ({ label: labelOf(loss), loss }));

/** The penalties of an entry, with several shares of L1 where it takes one. */
export function penaltiesOf({ make, parameters: taken }: PenaltyEntry): Penalty[] {
  if (!taken.includes('l1Ratio')) return [make()];
  return [0.5, 0.01, 0.9].map((l1Ratio) => make({ l1Ratio }));
}

export const penaltyCases: readonly { label: string; penalty: Penalty }[] = penaltyNames
  .flatMap((name) => penaltiesOf(penaltyEntry(name)!))
  .map((penalty) => ({ label: `${penalty.name} l1=${penalty.l1}`, penalty }));

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
  // Counts, zero among them, where a loss is not made for other labels.
  if (loss.labels) return fc.oneof(numbers(0, 10), fc.integer({ min: 0, max: 10 }));
  return numbers(-10, 10);
}

/** A point of the conjugate's domain, cut to ±100 where that is open. */
export function insideDomain(loss: Loss, y: number, fraction: number): number {
  const low = Math.max(loss.conjugateLow(y, loss.parameter), -100);
  const high = Math.min(loss.conjugateHigh(y, loss.parameter), 100);
  return fraction >= 1 ? high : low + fraction * (high - low);
}

import { expect } from 'vitest';
import type { Dataset } from '../../src/data/dataset.ts';
import { UsageError } from '../../src/errors.ts';
import type { EpochEvent } from '../../src/train/events.ts';
import type { TrainOptions, TrainResult } from '../../src/train/options/options.ts';
import { train } from '../../src/train/train.ts';

/** Slack for rounding in P, D and the reference, relative to the optimum. */
const rounding = 1e-9;

/**
 * Trains and demands what every run owes: P ≥ D after every epoch, a certificate that meets the
 * tolerance, and an interval [D, P] with the optimum in it, which is known to `uncertainty` from above.
 */
export async function trainCertified(
  dataset: Dataset,
  optimum: number,
  options: TrainOptions & { tolerance: number },
  uncertainty = 0,
): Promise<TrainResult> {
  const events: EpochEvent[] = [];
  const result = await train(dataset, { ...options, onEpoch: (event) => events.push(event) });
  const { report } = result;
  const slack = rounding * Math.abs(optimum);
  const lowest = optimum * (1 - uncertainty) - slack;
  expect(events).toHaveLength(report.epochs);
  // One expectation for all epochs: a run can have thousands.
  const owed = ({ primal, dual }: EpochEvent) =>
    primal >= dual - slack && primal >= lowest && dual <= optimum + slack;
  expect(events.filter((event) => !owed(event))).toEqual([]);
  expect(report.stopped).toBe('converged');
  expect(report.relativeGap).toBeLessThanOrEqual(options.tolerance);
  expect((report.primal - report.dual) / report.primal).toBeLessThanOrEqual(options.tolerance);
  expect(report.primal).toBeGreaterThanOrEqual(lowest);
  expect(report.dual).toBeLessThanOrEqual(optimum + slack);
  return result;
}

/** A solver that is not made for a problem says so, and with a reason, before it starts. */
export async function expectIncompatible(dataset: Dataset, options: TrainOptions): Promise<void> {
  const onEpoch = () => expect.unreachable('a solver that was to refuse has begun');
  const error = await train(dataset, { ...options, onEpoch }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(/ is not compatible with .+: ./);
}

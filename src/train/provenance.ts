import packageDescription from '../../package.json' with { type: 'json' };
import { hashNumbers } from '../data/fingerprint.ts';
import type { Provenance } from '../model/model.ts';
import { finiteBounds } from '../problem/penalties/separable.ts';
import type { Plan } from '../solvers/engines.ts';
import type { Settings } from './lay-out.ts';
import type { TrainOptions } from './options/options.ts';

/** A limit that no run is meant to reach is not worth telling. */
export const usualEpochs = 10_000;

type Value = string | number | boolean;

/**
 * Where a model comes from. What other fields of a model tell (λ, seed, grid …) is not told again,
 * but for the bounds on the weights, which are options of their own;
 * threads, processes, hosts and times, which do not decide it, have no place in it.
 */
export function provenanceOf(
  data: string,
  options: TrainOptions,
  { tolerance, epochs, time, penalty }: Settings,
  plan: Plan,
): Provenance {
  const { holdout, penaltyFactors, earlyStop, classWeights, scale, calibrate, start } = options;
  const { low: lower, high: upper } = finiteBounds(penalty);
  const given: Record<string, Value | undefined> = {
    tolerance,
    // A replay makes as many epochs as were made.
    epochs: epochs === usualEpochs || plan.engine === 'dso-async' ? undefined : epochs,
    time: time === Infinity || plan.engine === 'dso-async' ? undefined : time,
    holdout,
    'early-stop': earlyStop,
    'class-weight': classWeights && describeClassWeights(classWeights),
    scale,
    calibrate: calibrate && `${calibrate.method}, ${calibrate.folds ?? 5} folds`,
    'penalty-factors': penaltyFactors && hashNumbers(penaltyFactors),
    lower,
    upper,
    init: start && hashNumbers(start.weights),
    ...solverSettings(plan),
  };
  const told = Object.entries(given).filter(
    (entry): entry is [string, Value] => entry[1] !== undefined,
  );
  told.sort(([left], [right]) => (left < right ? -1 : 1));
  return { version: packageDescription.version, data, options: Object.fromEntries(told) };
}

export function describeClassWeights(weights: NonNullable<TrainOptions['classWeights']>): string {
  if (weights === 'balanced') return weights;
  return Object.entries(weights)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([label, weight]) => `${label}=${weight}`)
    .join(',');
}

/**
 * Settings of the solver, by their names in the library; those of the ring but its rotations follow
 * from the rest, and a recorded order of visits is too long.
 */
function solverSettings({ engine, settings }: Plan): Record<string, Value> {
  const ring = engine === 'ring-rows' || engine === 'ring-columns';
  const simple = Object.entries(settings as Record<string, unknown>).filter(
    (entry): entry is [string, Value] =>
      ['number', 'boolean', 'string'].includes(typeof entry[1]) &&
      (!ring || entry[0] === 'rotations'),
  );
  return Object.fromEntries(simple);
}

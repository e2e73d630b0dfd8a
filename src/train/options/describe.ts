/** Options as values that can be written into a file and compared. */
import { hashNumbers } from '../../data/fingerprint.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { finiteBounds } from '../../problem/penalties/separable.ts';
import { libraryOptions } from './index.ts';
import { libraryNameOf, longFlag, type Option } from './option.ts';
import type { TrainOptions } from './options.ts';

type Value = string | number | boolean;

/** The options that are not plain values, by their names in the table. */
function describedObjects(
  { classWeights, calibrate, penaltyFactors, start }: TrainOptions,
  penalty: Penalty,
): Record<string, Value | undefined> {
  const { low, high } = finiteBounds(penalty);
  return {
    classWeight: classWeights && describeClassWeights(classWeights),
    calibrate: calibrate && `${calibrate.method}, ${calibrate.folds ?? 5} folds`,
    penaltyFactors: penaltyFactors && hashNumbers(penaltyFactors),
    init: start && hashNumbers(start.weights),
    lower: low,
    upper: high,
  };
}

function describeClassWeights(weights: NonNullable<TrainOptions['classWeights']>): string {
  if (weights === 'balanced') return weights;
  return Object.entries(weights)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([label, weight]) => `${label}=${weight}`)
    .join(',');
}

type Described = {
  readonly entry: Option;
  readonly name: string;
  readonly value?: Value | undefined;
};

/** Every option of the table that has a value of its own in the library. */
function describedOptions(options: TrainOptions, penalty: Penalty): Described[] {
  const objects = describedObjects(options, penalty);
  return Object.entries<Option>(libraryOptions).flatMap(([name, entry]) => {
    if (name in objects) return [{ entry, name, value: objects[name] }];
    const library = libraryNameOf(name, entry);
    if (library === undefined) return [];
    const value = (options as Record<string, unknown>)[library] as Value | undefined;
    return [{ entry, name, value }];
  });
}

/** What a model file says of the options, by the names that its format has for them. */
export function provenanceOptions(
  options: TrainOptions,
  penalty: Penalty,
): Record<string, Value | undefined> {
  const named = describedOptions(options, penalty).map(
    ({ entry, value }) => [entry.provenance ?? '', value] as const,
  );
  return Object.fromEntries(named.filter(([name]) => name !== ''));
}

/** Checkpoints identify a starting point by more than its weights; calibration has none. */
const identifiedElsewhere = ['init', 'calibrate'];

/** The options that decide the weights, by their flags without dashes; null: not given. */
export function identityOptions(
  options: TrainOptions,
  penalty: Penalty,
): Record<string, Value | null> {
  const deciding = describedOptions(options, penalty).filter(
    ({ entry, name }) => entry.affectsModel === true && !identifiedElsewhere.includes(name),
  );
  return Object.fromEntries(
    deciding.map(({ entry, value }) => [longFlag(entry).replace('--', ''), value ?? null]),
  );
}

/** The options that the library has as well, and how files of a model or a checkpoint state them. */
import { hashNumbers } from '../../data/fingerprint.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { finiteBounds } from '../../problem/penalties/separable.ts';
import { threadsOption } from './data.ts';
import { libraryNameOf, longFlag, type Option, type OptionTable, pick } from './option.ts';
import type { TrainOptions } from './options.ts';
import { preparationOptions, problemOptions } from './problem.ts';
import {
  earlyStopOption,
  memoryOptions,
  stoppingOptions,
  testOptions,
  trainOnlyOptions,
} from './run.ts';
import { settingOptions, solverOptions } from './solver.ts';

export const libraryOptions = {
  ...problemOptions,
  ...preparationOptions,
  ...testOptions,
  ...stoppingOptions,
  ...earlyStopOption,
  ...memoryOptions,
  ...solverOptions,
  ...threadsOption,
  ...pick(trainOnlyOptions, 'resume'),
};

/** The same entries by the name that the library has for them. */
export const byLibraryName: OptionTable = Object.fromEntries(
  Object.entries(libraryOptions).flatMap(([name, entry]) => {
    const library = libraryNameOf(name, entry);
    return library === undefined ? [] : [[library, entry]];
  }),
);

/** What messages call the settings of solvers, by their names in the library: `local-descent`. */
export const settingWords: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<Option>(settingOptions).map(([name, entry]) => [
    libraryNameOf(name, entry) ?? name,
    longFlag(entry).replace(/^--(no-)?/, ''),
  ]),
);

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

type Described = readonly [name: string, entry: Option, value: Value | undefined];

/** Every option of the table that has a value of its own in the library. */
function describedOptions(options: TrainOptions, penalty: Penalty): Described[] {
  const objects = describedObjects(options, penalty);
  return Object.entries<Option>(libraryOptions).flatMap(([name, entry]): Described[] => {
    if (name in objects) return [[name, entry, objects[name]]];
    const library = libraryNameOf(name, entry) as keyof TrainOptions | undefined;
    return library === undefined ? [] : [[name, entry, options[library] as Value | undefined]];
  });
}

/** The options that a model file states, by the names that its format has for them. */
export function provenanceOptions(
  options: TrainOptions,
  penalty: Penalty,
): Record<string, Value | undefined> {
  const named = describedOptions(options, penalty).filter(([, entry]) => entry.provenance);
  return Object.fromEntries(named.map(([, { provenance }, value]) => [provenance, value]));
}

/** Checkpoints identify a starting point by more than its weights; calibration has none. */
const identifiedSeparately = ['init', 'calibrate'];

/** The options that decide the weights, by their flags without dashes; null: not given. */
export function identityOptions(
  options: TrainOptions,
  penalty: Penalty,
): Record<string, Value | null> {
  const deciding = describedOptions(options, penalty).filter(
    ([name, { affectsModel }]) => affectsModel === true && !identifiedSeparately.includes(name),
  );
  return Object.fromEntries(
    deciding.map(([, entry, value]) => [longFlag(entry).replace('--', ''), value ?? null]),
  );
}

/** Folds whose rows are held out in turn, to be scored; 0: nothing is made of their scores. */
export function heldOutFolds({ calibrate, thresholdFor }: TrainOptions): number {
  return calibrate || thresholdFor !== undefined ? (calibrate?.folds ?? 5) : 0;
}

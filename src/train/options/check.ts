import type { Dataset } from '../../data/dataset.ts';
import { gibibytes, leastMemory, machineMemory } from '../../engine/memory.ts';
import { closest, DataError, UsageError } from '../../errors.ts';
import { finiteBounds } from '../../problem/penalties/separable.ts';
import { byLibraryName } from './index.ts';
import type { TrainOptions } from './options.ts';
import { checkValue, folder, interval, shown, type ValueRule } from './types.ts';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const has = (value: unknown, part: string) => isObject(value) && part in value;
const isDataset = (value: unknown): value is Dataset => has(value, 'parts') && has(value, 'rows');

const is = (expected: string, accepts: ValueRule['accepts']): ValueRule => ({ expected, accepts });

const boolean = is('true or false', (value) => typeof value === 'boolean');
const callback = is('a function', (value) => typeof value === 'function');
const numbers = is('a Float64Array', (value) => value instanceof Float64Array);

/** Options that the command line has in another form, or not at all. */
const objects = {
  loss: is('made by a function of losses or by loadLoss', (value) => has(value, 'value')),
  penalty: is('made by a function of penalties', (value) => has(value, 'prox')),
  solver: is('made by a function of solvers', (value) => has(value, 'name')),
  test: is('a data set (readDataset makes one from a file)', isDataset),
  testOn: is("'best' or 'latest'", (value) => value === 'best' || value === 'latest'),
  calibrate: is('an object with a method', (value) => has(value, 'method')),
  penaltyFactors: numbers,
  start: is('an object with weights', isObject),
  alpha: boolean,
  keepDual: boolean,
  checkpoint: is('an object with a folder', (value) => has(value, 'folder')),
  consume: boolean,
  trace: is('an Int32Array', (value) => value instanceof Int32Array),
  onBegin: callback,
  onEpoch: callback,
  onSample: callback,
  onCheckpoint: callback,
  onNotice: callback,
  signal: is('an AbortSignal', (value) => value instanceof AbortSignal),
} as const satisfies Partial<Record<keyof TrainOptions, ValueRule>>;

const checks: Readonly<Record<string, ValueRule>> = {
  ...objects,
  ...Object.fromEntries(
    Object.entries(byLibraryName).map(([name, { type = boolean }]) => [name, type]),
  ),
};

/** Every option by its own rule; a misspelt one would be ignored, and the wrong model trained. */
function checkEach(options: TrainOptions): void {
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check) checkValue(name, value, check);
    else {
      const meant = closest(name, Object.keys(checks));
      throw new UsageError(`unknown option '${name}'${meant ? `; did you mean '${meant}'?` : ''}`);
    }
  }
}

const startNames = ['weights', 'alpha', 'intercepts'] as const;

/** What options that are objects consist of. */
function checkObjects({ checkpoint, start }: TrainOptions): void {
  if (checkpoint) {
    checkValue('checkpoint.folder', checkpoint.folder, folder);
    const expected = '{ epochs: n } from 1 or { seconds: s } from 0';
    const every = { ...interval('epochs', 10, true), expected };
    checkValue('checkpoint.every', checkpoint.every, every);
  }
  if (!start) return;
  checkValue('start.weights', start.weights ?? null, numbers);
  for (const name of startNames) checkValue(`start.${name}`, start[name], numbers);
}

/** Why options do not fit one another, the loss or the data. */
function* incompatibilities(dataset: Dataset, options: TrainOptions): Generator<string> {
  const { loss, penalty, holdout, test, start, intercept, scale, grid = 1 } = options;
  const { stored, rows, columns } = dataset;
  const given = options as Readonly<Record<string, unknown>>;
  for (const [name, { needs }] of Object.entries(byLibraryName)) {
    if (!needs || !given[name] || needs.some((other) => given[other] !== undefined)) continue;
    yield `${name} needs ${needs.join(' or ')}`;
  }
  const misplaced = options.auprc ? 'AUPRC is' : options.multiLabel && 'several labels per row are';
  if (loss?.task === 'regression' && misplaced) {
    yield `${misplaced} for classification; the ${loss.name} loss is for regression`;
  }
  if (holdout !== undefined && test) yield 'give holdout or test, not both';
  if (holdout !== undefined && stored) {
    yield 'rows are held out in memory; the non-zeros of this data set are on disk: give test rows in a file of their own';
  }
  if (test?.stored) yield 'test rows must be in memory: read them by readDataset';
  const offset = start?.intercepts?.find((value) => value !== 0);
  if (offset !== undefined && !intercept) {
    yield `the starting point has an intercept (${offset}); the model has none (train it with an intercept)`;
  }
  for (const name of startNames) {
    const index = start?.[name]?.findIndex((value) => !Number.isFinite(value)) ?? -1;
    if (index < 0) continue;
    yield `start.${name}[${index}] is ${start?.[name]?.[index]}; it must be a finite number`;
  }
  // Weights of divided columns are divided again for the model: their box would not be the same.
  const ends = penalty ? Object.values(finiteBounds(penalty)) : [];
  if ((scale === 'max' || scale === 'std') && ends.some((end) => end !== 0)) {
    yield `scaling by ${scale} divides columns, so that weights in a box are not in it when they are those of the data as it is; only 0 can be a bound then (or scale the data beforehand)`;
  }
  if (grid > Math.min(rows, Math.max(1, columns))) {
    yield `a grid of ${grid} was given; with ${rows} rows and ${columns} columns it can be at most ${Math.min(rows, columns)}`;
  }
  const { penaltyFactors: factors } = options;
  if (factors && factors.length !== columns) {
    yield `penaltyFactors has ${factors.length} numbers; the data has ${columns} columns`;
  }
  const wrong = factors?.findIndex((factor) => !(factor > 0 && factor < Infinity)) ?? -1;
  if (factors && wrong >= 0) {
    yield `penaltyFactors[${wrong}] is ${factors[wrong]}; factors must be positive (for an unpenalized intercept use the intercept option)`;
  }
}

/** Callers without types may give anything. */
export function checkArguments(dataset: Dataset, options: TrainOptions): void {
  if (!isDataset(dataset)) {
    throw new UsageError(
      `the first argument is ${shown(dataset)}; it must be a data set: readDataset makes one from a file, datasetFromRows from arrays`,
    );
  }
  checkValue('options', options, is('an object', isObject));
}

/** Refuses what cannot work before any memory is taken. */
export function checkOptions(dataset: Dataset, options: TrainOptions): void {
  checkEach(options);
  checkObjects(options);
  if (dataset.rows === 0) throw new DataError(`${dataset.name}: no rows to train on`);
  const [reason] = incompatibilities(dataset, options);
  if (reason !== undefined) throw new UsageError(reason);
}

/** One wrong index can mean more columns than any machine has memory for: refused before it is taken. */
export function checkMemory(data: Pick<Dataset, 'name' | 'rows' | 'columns' | 'nonzeros'>): void {
  const { name, rows, columns, nonzeros } = data;
  const [bytes, machine] = [leastMemory(data), machineMemory()];
  if (bytes <= machine) return;
  throw new DataError(
    `${name}: ${rows} rows × ${columns} columns with ${nonzeros} non-zeros need at least ${gibibytes(bytes)}; this machine has ${gibibytes(machine)}`,
  );
}

import type { Dataset } from '../../data/dataset.ts';
import { gibibytes, leastMemory, machineMemory } from '../../engine/memory.ts';
import { closest, DataError, UsageError } from '../../errors.ts';
import { finiteBounds } from '../../problem/penalties/separable.ts';
import { byLibraryName } from './index.ts';
import type { TrainOptions } from './options.ts';
import { checkValue, folder, interval, type OptionType, shown } from './types.ts';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const has = (value: unknown, part: string) => isObject(value) && part in value;
const isDataset = (value: unknown): value is Dataset => has(value, 'parts') && has(value, 'rows');

type Check = Pick<OptionType<unknown>, 'wanted' | 'accepts'>;

function is(wanted: string, accepts: (value: unknown) => boolean): Check {
  return { wanted, accepts };
}

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
  checkpoint: is('an object with a folder', (value) => has(value, 'folder')),
  consume: boolean,
  trace: is('an Int32Array', (value) => value instanceof Int32Array),
  onBegin: callback,
  onEpoch: callback,
  onSample: callback,
  onCheckpoint: callback,
  onNotice: callback,
  signal: is('an AbortSignal', (value) => value instanceof AbortSignal),
} as const satisfies Partial<Record<keyof TrainOptions, Check>>;

const checks: Readonly<Record<string, Check>> = {
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

/** Options that have no effect without another one, or with this loss. */
function checkEffects(options: TrainOptions): void {
  const given = options as Readonly<Record<string, unknown>>;
  for (const [name, { needs }] of Object.entries(byLibraryName)) {
    if (!needs || !given[name] || needs.some((other) => given[other] !== undefined)) continue;
    throw new UsageError(`${name} needs ${needs.join(' or ')}`);
  }
  const { loss } = options;
  const misplaced = ['auprc', 'multiLabel'].find((name) => given[name]);
  if (loss?.task !== 'regression' || !misplaced) return;
  throw new UsageError(
    `${misplaced} is for classification; the ${loss.name} loss is for regression`,
  );
}

function checkCheckpoint({ checkpoint }: TrainOptions): void {
  if (!checkpoint) return;
  checkValue('checkpoint.folder', checkpoint.folder, folder);
  const wanted = '{ epochs: n } from 1 or { seconds: s } from 0';
  const every = { ...interval('epochs', 10, true), wanted };
  checkValue('checkpoint.every', checkpoint.every, every);
}

function checkStart({ start, intercept }: TrainOptions): void {
  if (start === undefined) return;
  checkValue('start.weights', start.weights ?? null, numbers);
  const names = ['weights', 'alpha', 'intercepts'] as const;
  for (const name of names) checkValue(`start.${name}`, start[name], numbers);
  const offset = start.intercepts?.find((value) => value !== 0);
  if (offset !== undefined && !intercept) {
    throw new UsageError(
      `the starting point has an intercept (${offset}); the model has none (add the option intercept)`,
    );
  }
  for (const name of names) {
    const index = start[name]?.findIndex((value) => !Number.isFinite(value)) ?? -1;
    if (index < 0) continue;
    throw new UsageError(
      `start.${name}[${index}] is ${start[name]?.[index]}; it must be a finite number`,
    );
  }
}

/** Test rows are in memory; data whose non-zeros are on disk is read in order, and never in parts. */
function checkTest({ stored }: Dataset, { holdout, test }: TrainOptions): void {
  if (holdout !== undefined && test) throw new UsageError('give holdout or test, not both');
  if (stored && holdout !== undefined) {
    throw new UsageError(
      'holdout sets rows aside in memory; the non-zeros of this data set are on disk: give test rows in a file of their own',
    );
  }
  if (test?.stored) throw new UsageError('test rows must be in memory: read them by readDataset');
}

/** Callers without types may give anything. */
export function checkArguments(dataset: Dataset, options: TrainOptions): void {
  if (!isDataset(dataset)) {
    throw new UsageError(
      `the first argument is ${shown(dataset)}; it must be a data set: readDataset makes one from a file, datasetFromRows from arrays`,
    );
  }
  if (!isObject(options)) {
    throw new UsageError(`options is ${shown(options)}; it must be an object`);
  }
}

/** Weights of divided columns are divided again for the model: their box would not be the same. */
function checkBoundsOfScaled({ scale, penalty }: TrainOptions): void {
  if (!penalty || (scale !== 'max' && scale !== 'std')) return;
  const ends = Object.values(finiteBounds(penalty));
  if (ends.every((end) => end === 0)) return;
  throw new UsageError(
    `scale '${scale}' divides columns, so that weights in a box are not in it when they are those of ` +
      'the data as it is; only 0 can be a bound then (or scale the data beforehand)',
  );
}

function checkFactors({ columns }: Dataset, { penaltyFactors }: TrainOptions): void {
  if (penaltyFactors && penaltyFactors.length !== columns) {
    throw new UsageError(
      `penaltyFactors has ${penaltyFactors.length} numbers; the data has ${columns} columns`,
    );
  }
  penaltyFactors?.forEach((factor, j) => {
    if (factor > 0 && factor < Infinity) return;
    throw new UsageError(
      `penaltyFactors[${j}] is ${factor}; factors must be positive (for an unpenalised intercept use the intercept option)`,
    );
  });
}

/** Refuses what cannot work before any memory is taken. */
export function checkOptions(dataset: Dataset, options: TrainOptions): void {
  checkEach(options);
  checkEffects(options);
  checkCheckpoint(options);
  checkTest(dataset, options);
  checkStart(options);
  checkBoundsOfScaled(options);
  const { name, rows, columns } = dataset;
  if (rows === 0) throw new DataError(`${name}: no rows to train on`);
  const { grid = 1 } = options;
  if (grid > Math.min(rows, Math.max(1, columns))) {
    throw new UsageError(
      `grid is ${grid}; with ${rows} rows and ${columns} columns it can be at most ${Math.min(rows, columns)}`,
    );
  }
  checkFactors(dataset, options);
}

/** One wrong index can mean more columns than any machine has memory for: refused before it is taken. */
export function checkMemory({
  name,
  rows,
  columns,
  nonzeros,
}: Pick<Dataset, 'name' | 'rows' | 'columns' | 'nonzeros'>): void {
  const bytes = leastMemory({ rows, columns, nonzeros });
  const machine = machineMemory();
  if (bytes <= machine) return;
  throw new DataError(
    `${name}: ${rows} rows × ${columns} columns with ${nonzeros} non-zeros need at least ${gibibytes(bytes)}; this machine has ${gibibytes(machine)}`,
  );
}

import type { Dataset } from '../../data/dataset.ts';
import { gibibytes, leastMemory, machineMemory } from '../../engine/memory.ts';
import { closest, DataError, UsageError } from '../../errors.ts';
import { finiteBounds } from '../../problem/penalties/separable.ts';
import { byLibraryName } from './index.ts';
import type { TrainOptions } from './options.ts';
import { checkValue, folder, interval, type OptionType, shown } from './types.ts';

const isDataset = (value: unknown): value is Dataset => has(value, 'parts') && has(value, 'rows');
const isNumbers = (value: unknown) => value instanceof Float64Array;

function has(value: unknown, part: string): boolean {
  return typeof value === 'object' && value !== null && part in value;
}

type Check = Pick<OptionType<unknown>, 'wanted' | 'accepts'>;

function is(wanted: string, accepts: (value: unknown) => boolean): Check {
  return { wanted, accepts };
}

const boolean = is('true or false', (value) => typeof value === 'boolean');
const callback = is('a function', (value) => typeof value === 'function');
const numbers = is('a Float64Array', isNumbers);

/** Options that the command line has in another form, or not at all. */
const objects = {
  loss: is('made by a function of losses or by loadLoss', (value) => has(value, 'value')),
  penalty: is('made by a function of penalties', (value) => has(value, 'prox')),
  solver: is('made by a function of solvers', (value) => has(value, 'name')),
  test: is('a data set (readDataset makes one from a file)', isDataset),
  testOn: is("'best' or 'latest'", (value) => value === 'best' || value === 'latest'),
  calibrate: is('an object with a method', (value) => has(value, 'method')),
  penaltyFactors: numbers,
  start: is('an object with weights', (value) => typeof value === 'object' && value !== null),
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

/** Options that have no effect without another one. */
function checkNeeds(options: TrainOptions): void {
  for (const [name, { needs }] of Object.entries(byLibraryName)) {
    const given = options as Record<string, unknown>;
    if (!needs || !given[name] || needs.some((other) => given[other] !== undefined)) continue;
    throw new UsageError(`${name} needs ${needs.join(' or ')}`);
  }
}

/** Options of classification alone. */
function checkTask({ loss, ...options }: TrainOptions): void {
  if (loss?.task !== 'regression') return;
  for (const name of ['auprc', 'multiLabel'] as const) {
    if (!options[name]) continue;
    throw new UsageError(`${name} is for classification; the ${loss.name} loss is for regression`);
  }
}

function checkCheckpoint({ checkpoint }: TrainOptions): void {
  if (!checkpoint) return;
  checkValue('checkpoint.folder', checkpoint.folder, folder);
  const every = interval('epochs', 10, true);
  const wanted = '{ epochs: n } from 1 or { seconds: s } from 0';
  checkValue('checkpoint.every', checkpoint.every, { ...every, wanted });
}

function checkStart({ start, intercept }: TrainOptions): void {
  if (start === undefined) return;
  checkValue('start.weights', start.weights ?? null, numbers);
  checkValue('start.alpha', start.alpha, numbers);
  checkValue('start.intercepts', start.intercepts, numbers);
  const offset = start.intercepts?.find((value) => value !== 0);
  if (offset !== undefined && !intercept) {
    throw new UsageError(
      `the starting point has an intercept (${offset}); the model has none (add the option intercept)`,
    );
  }
  for (const name of ['weights', 'intercepts', 'alpha'] as const) {
    const index = start[name]?.findIndex((value) => !Number.isFinite(value)) ?? -1;
    if (index < 0) continue;
    throw new UsageError(
      `start.${name}[${index}] is ${start[name]?.[index]}; it must be a finite number`,
    );
  }
}

/** What is read only once, in passing, can be neither set aside nor tested on. */
function checkStored({ stored }: Dataset, { holdout, test }: TrainOptions): void {
  if (stored && holdout !== undefined) {
    throw new UsageError(
      'holdout sets rows aside in memory; the non-zeros of this data set are on disk: give test rows in a file of their own',
    );
  }
  if (test?.stored) throw new UsageError('test rows are kept in memory: read them by readDataset');
}

/** Callers without types may give anything. */
export function checkArguments(dataset: Dataset, options: TrainOptions): void {
  if (!isDataset(dataset)) {
    throw new UsageError(
      `train wants a data set first, not ${shown(dataset)}: readDataset makes one from a file, datasetFromRows from arrays`,
    );
  }
  if (typeof options !== 'object' || options === null) {
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

/** Refuses what cannot work before any memory is taken. */
export function checkOptions(dataset: Dataset, options: TrainOptions): void {
  checkEach(options);
  checkNeeds(options);
  checkTask(options);
  checkCheckpoint(options);
  const { grid, holdout, test, penaltyFactors } = options;
  checkStored(dataset, options);
  checkStart(options);
  checkBoundsOfScaled(options);
  if (holdout !== undefined && test) throw new UsageError('give holdout or test, not both');
  if (dataset.rows === 0) throw new DataError(`${dataset.name}: no rows to train on`);
  if (grid !== undefined && grid > Math.min(dataset.rows, Math.max(1, dataset.columns))) {
    throw new UsageError(
      `grid is ${grid}; with ${dataset.rows} rows and ${dataset.columns} columns it can be at most ${Math.min(dataset.rows, dataset.columns)}`,
    );
  }
  if (penaltyFactors && penaltyFactors.length !== dataset.columns) {
    throw new UsageError(
      `penaltyFactors has ${penaltyFactors.length} numbers; the data has ${dataset.columns} columns`,
    );
  }
  penaltyFactors?.forEach((factor, j) => {
    if (factor > 0 && factor < Infinity) return;
    throw new UsageError(
      `penaltyFactors[${j}] is ${factor}; factors must be positive (for an unpenalised intercept use the intercept option)`,
    );
  });
}

/** One wild index makes a column count that no machine has room for: say so before taking it. */
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

import type { Dataset } from '../data/dataset.ts';
import { scalings } from '../data/scale.ts';
import { gibibytes, leastMemory, machineMemory } from '../engine/memory.ts';
import { DataError, UsageError } from '../errors.ts';
import { closest } from '../math/closest.ts';
import { finiteBounds } from '../problem/penalties/separable.ts';
import type { TrainOptions } from './options/options.ts';

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function demand(name: string, value: unknown, wanted: string, fits: boolean): void {
  if (value !== undefined && !fits) {
    throw new UsageError(`${name} is ${shown(value)}; it must be ${wanted}`);
  }
}

function isDataset(value: unknown): value is Dataset {
  return typeof value === 'object' && value !== null && 'parts' in value && 'rows' in value;
}

const known = [
  'loss',
  'penalty',
  'lambda',
  'solver',
  'threads',
  'grid',
  'seed',
  'epochs',
  'tolerance',
  'time',
  'test',
  'holdout',
  'auprc',
  'testOn',
  'multiLabel',
  'classWeights',
  'scale',
  'calibrate',
  'intercept',
  'penaltyFactors',
  'start',
  'alpha',
  'earlyStop',
  'checkpoint',
  'resume',
  'memory',
  'scratch',
  'consume',
  'trace',
  'onBegin',
  'onEpoch',
  'onSample',
  'onCheckpoint',
  'onNotice',
  'signal',
] as const satisfies readonly (keyof TrainOptions)[];

/** A misspelt option would be ignored, and the wrong model trained. */
function checkNames(options: TrainOptions): void {
  for (const name of Object.keys(options)) {
    if ((known as readonly string[]).includes(name)) continue;
    const meant = closest(name, known);
    throw new UsageError(`unknown option '${name}'${meant ? `; did you mean '${meant}'?` : ''}`);
  }
}

function checkKinds(options: TrainOptions): void {
  const { loss, penalty, solver, test, signal } = options;
  const has = (value: unknown, part: string) =>
    typeof value === 'object' && value !== null && part in value;
  demand('loss', loss, 'made by a function of losses or by loadLoss', has(loss, 'value'));
  demand('penalty', penalty, 'made by a function of penalties', has(penalty, 'prox'));
  demand('solver', solver, 'made by a function of solvers', has(solver, 'name'));
  demand('test', test, 'a data set (readDataset makes one from a file)', isDataset(test));
  demand('signal', signal, 'an AbortSignal', signal instanceof AbortSignal);
  for (const name of ['onBegin', 'onEpoch', 'onSample', 'onCheckpoint', 'onNotice'] as const) {
    demand(name, options[name], 'a function', typeof options[name] === 'function');
  }
  const { scale, classWeights } = options;
  const isWay = (scalings as readonly unknown[]).includes(scale);
  demand('scale', scale, `one of ${scalings.join(', ')}`, isWay);
  const isTable = typeof classWeights === 'object' && !Array.isArray(classWeights);
  const wanted = "'balanced' or an object with a number for each label";
  demand('classWeights', classWeights, wanted, classWeights === 'balanced' || isTable);
  for (const name of ['intercept', 'auprc', 'consume', 'multiLabel', 'alpha'] as const) {
    demand(name, options[name], 'true or false', typeof options[name] === 'boolean');
  }
}

function checkCheckpoint({ checkpoint, resume }: TrainOptions): void {
  const folder = checkpoint?.folder;
  const named = (value: unknown) => typeof value === 'string' && value !== '';
  demand('resume', resume, 'the path of a folder', named(resume));
  demand('checkpoint', checkpoint, 'an object with a folder', folder !== undefined);
  demand('checkpoint.folder', folder, 'the path of a folder', named(folder));
  const every = checkpoint?.every as { epochs?: unknown; seconds?: unknown } | undefined;
  if (every === undefined) return;
  const { epochs, seconds } = every;
  const fits =
    seconds === undefined
      ? Number.isInteger(epochs) && Number(epochs) >= 1
      : typeof seconds === 'number' && seconds >= 0 && epochs === undefined;
  demand('checkpoint.every', every, '{ epochs: n } from 1 or { seconds: s } from 0', fits);
}

function checkEarlyStop({ earlyStop, test, holdout }: TrainOptions): void {
  if (earlyStop === undefined) return;
  const fits = Number.isInteger(earlyStop) && earlyStop >= 1;
  demand('earlyStop', earlyStop, 'a positive whole number of measurements', fits);
  if (test || holdout !== undefined) return;
  throw new UsageError('earlyStop watches the error on test rows: give test or holdout');
}

function checkStart({ start, intercept }: TrainOptions): void {
  if (start === undefined) return;
  demand('start.weights', start?.weights ?? null, 'a Float64Array', isNumbers(start?.weights));
  demand('start.alpha', start.alpha, 'a Float64Array', isNumbers(start.alpha));
  demand('start.intercepts', start.intercepts, 'a Float64Array', isNumbers(start.intercepts));
  const offset = start.intercepts?.find((value) => value !== 0);
  if (offset !== undefined && !intercept) {
    throw new UsageError(
      `start.intercepts has ${offset}; the model is to have none (give intercept: true)`,
    );
  }
  for (const name of ['weights', 'intercepts', 'alpha'] as const) {
    const place = start[name]?.findIndex((value) => !Number.isFinite(value)) ?? -1;
    if (place < 0) continue;
    throw new UsageError(
      `start.${name}[${place}] is ${start[name]?.[place]}; it must be a finite number`,
    );
  }
}

const isNumbers = (value: unknown) => value instanceof Float64Array;

/** What is read only once, in passing, can be neither set aside nor tested on. */
function checkStored({ stored }: Dataset, { memory, scratch, holdout, test }: TrainOptions): void {
  demand('memory', memory, 'a positive number of bytes', Number(memory) > 0);
  demand('scratch', scratch, 'the path of a folder', typeof scratch === 'string' && scratch !== '');
  if (stored && holdout !== undefined) {
    throw new UsageError(
      'holdout sets rows aside in memory; the entries of this data set are on disk: give test rows in a file of their own',
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
  checkNames(options);
  checkKinds(options);
  checkCheckpoint(options);
  const { lambda, grid, seed, epochs, tolerance, time, holdout, test, penaltyFactors } = options;
  const { testOn } = options;
  const whole = (value: number | undefined, low: number, high: number) =>
    value !== undefined && Number.isInteger(value) && value >= low && value <= high;
  const positive = (value: number | undefined) => typeof value === 'number' && value > 0;
  demand('lambda', lambda, 'a positive finite number', positive(lambda) && lambda !== Infinity);
  demand('grid', grid, 'a whole number from 1 to 256', whole(grid, 1, 256));
  demand('seed', seed, 'a whole number from 0 to 2^53 - 1', whole(seed, 0, 2 ** 53 - 1));
  demand('epochs', epochs, 'a positive whole number', whole(epochs, 1, 2 ** 31));
  demand('tolerance', tolerance, 'a number above 0', positive(tolerance));
  demand('time', time, 'a positive number of seconds', positive(time));
  demand('holdout', holdout, 'a number between 0 and 1', positive(holdout) && Number(holdout) < 1);
  demand('testOn', testOn, "'best' or 'latest'", testOn === 'best' || testOn === 'latest');
  if (options.auprc && !test && holdout === undefined) {
    throw new UsageError('auprc is measured on test rows: give test or holdout');
  }
  if (options.auprc && options.loss?.task === 'regression') {
    throw new UsageError(
      `auprc is for classification; the ${options.loss.name} loss is for regression`,
    );
  }
  if (options.multiLabel && options.loss?.task === 'regression') {
    throw new UsageError(
      `multiLabel is for classification; the ${options.loss.name} loss is for regression`,
    );
  }
  checkStored(dataset, options);
  checkStart(options);
  checkEarlyStop(options);
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

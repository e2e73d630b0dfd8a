import type { Dataset } from '../data/dataset.ts';
import { DataError, UsageError } from '../errors.ts';
import { closest } from '../math/closest.ts';
import type { TrainOptions } from './options.ts';

function demand(name: string, value: unknown, wanted: string, fits: boolean): void {
  if (value !== undefined && !fits) {
    throw new UsageError(`${name} is ${String(value)}; it must be ${wanted}`);
  }
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
  'intercept',
  'penaltyFactors',
  'consume',
  'trace',
  'onEpoch',
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

/** Refuses what cannot work before any memory is taken. */
export function checkOptions(dataset: Dataset, options: TrainOptions): void {
  checkNames(options);
  const { lambda, grid, seed, epochs, tolerance, time, holdout, test, penaltyFactors } = options;
  const whole = (value: number | undefined, low: number, high: number) =>
    value !== undefined && Number.isInteger(value) && value >= low && value <= high;
  const positive = (value: number | undefined) => value !== undefined && value > 0;
  const { loss, penalty } = options;
  const made = (value: object | undefined, part: string) =>
    typeof value === 'object' && part in value;
  demand('loss', loss, 'made by a function of losses or loadLoss()', made(loss, 'value'));
  demand('penalty', penalty, 'made by a function of penalties', made(penalty, 'prox'));
  demand('lambda', lambda, 'a positive finite number', positive(lambda) && lambda !== Infinity);
  demand('grid', grid, 'a whole number from 1 to 256', whole(grid, 1, 256));
  demand('seed', seed, 'a whole number from 0 to 2^53 - 1', whole(seed, 0, 2 ** 53 - 1));
  demand('epochs', epochs, 'a positive whole number', whole(epochs, 1, 2 ** 31));
  demand('tolerance', tolerance, 'a number above 0', positive(tolerance));
  demand('time', time, 'a positive number of seconds', positive(time));
  demand('holdout', holdout, 'a number between 0 and 1', positive(holdout) && Number(holdout) < 1);
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

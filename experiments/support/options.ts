import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { UsageError } from '../../src/errors.ts';
import type { Experiment, Setting } from './experiment.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Option {
  readonly value: string;
  readonly default: number | string;
  readonly text: string;
  readonly short?: string;
}

function optionsOf({ name, time, extras }: Experiment): Record<string, Option> {
  const shared: Record<string, Option> = {
    scale: { value: 'X', default: 1, text: 'size of the data; 1 suits two cores' },
    threads: { value: 'N', default: availableParallelism(), text: 'worker threads' },
    time: { value: 'SECONDS', default: time, text: 'training time of each run' },
    seed: { value: 'N', default: 1, text: 'seed of data and solvers' },
    data: {
      value: 'FOLDER',
      default: process.env.DSO_DATA ?? join(root, '..', 'shared', 'data'),
      text: 'real data, used if present (DSO_DATA)',
    },
    output: {
      value: 'FOLDER',
      default: join(root, 'experiments', 'results', name),
      text: 'folder for results.json and the figures',
      short: 'o',
    },
  };
  const own = Object.entries(extras).map(([key, extra]): [string, Option] => [
    key,
    { ...extra, value: typeof extra.default === 'number' ? 'X' : 'TEXT' },
  ]);
  return { ...shared, ...Object.fromEntries(own) };
}

/** What --help prints. */
export function helpOf(experiment: Experiment): string {
  const rows = Object.entries(optionsOf(experiment)).map(([name, option]) => {
    const short = option.short ? `-${option.short}, ` : '';
    return [`  ${short}--${name} ${option.value}`, `${option.text} (default: ${option.default})`];
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`);
  return [
    `npm run experiment -- ${experiment.name} [options]`,
    '',
    experiment.summary,
    '',
    ...lines,
    `${'  --help'.padEnd(width)}  this text`,
  ].join('\n');
}

function positiveNumber(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value < Infinity) return value;
  throw new UsageError(`--${name} ${text}: expected a number above 0`);
}

function wholeNumber(name: string, text: string): number {
  const value = positiveNumber(name, text);
  if (Number.isInteger(value)) return value;
  throw new UsageError(`--${name} ${text}: expected a whole number`);
}

/** The request of a command line; undefined if it requests help. */
export function parseOptions(experiment: Experiment, argv: readonly string[]): Setting | undefined {
  const options = optionsOf(experiment);
  const definitions = Object.entries(options).map(([name, { short }]) => [
    name,
    { type: 'string' as const, ...(short && { short }) },
  ]);
  let values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: { help: { type: 'boolean' }, ...Object.fromEntries(definitions) },
    }));
  } catch (error) {
    throw new UsageError(`${experiment.name}: ${(error as Error).message}`, { cause: error });
  }
  if (values.help) return undefined;
  const textOf = (name: string) => (values[name] ?? options[name].default).toString();
  const numberOf = (name: string) => positiveNumber(name, textOf(name));
  return {
    scale: numberOf('scale'),
    threads: wholeNumber('threads', textOf('threads')),
    time: numberOf('time'),
    seed: wholeNumber('seed', textOf('seed')),
    data: textOf('data'),
    folder: textOf('output'),
    numberOf,
    textOf,
    say: (text) => console.log(text),
  };
}

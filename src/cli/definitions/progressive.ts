import { type Command, InvalidArgumentError } from 'commander';
import { whole } from '../arguments.ts';

export interface ProgressiveFlags {
  readonly progressive?: true;
  readonly snapshotEvery?: { readonly rows: number } | { readonly seconds: number };
  readonly reportEvery?: number;
}

export function addProgressiveOptions(command: Command): Command {
  return command
    .optionsGroup('Rows that never end:')
    .option(
      '--progressive',
      'one pass of sgd over rows as they come, each predicted before it is learned',
    )
    .option(
      '--snapshot-every <interval>',
      'write the model after so many rows (5000) or time (30s, 5m; default: 100000 rows or 60s)',
      snapshotInterval,
    )
    .option(
      '--report-every <rows>',
      'print progressive loss and error so often (default: after 1, 2, 4, 8 … rows)',
      whole(1),
    );
}

const unitSeconds = { s: 1, m: 60, h: 3600 } as const;

function snapshotInterval(text: string): ProgressiveFlags['snapshotEvery'] {
  const [, digits, unit] = /^([0-9]+(?:\.[0-9]+)?)(s|m|h)?$/.exec(text) ?? [];
  const value = Number(digits);
  if (unit === undefined && Number.isSafeInteger(value) && value >= 1) return { rows: value };
  if (unit !== undefined && value > 0) {
    return { seconds: value * unitSeconds[unit as keyof typeof unitSeconds] };
  }
  throw new InvalidArgumentError('Wanted a number of rows (5000) or a time (30s, 5m, 1h).');
}

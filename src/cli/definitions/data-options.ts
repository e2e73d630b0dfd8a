import type { Command } from 'commander';
import { whole } from '../arguments.ts';

/** How the input is read; the same for every command that reads data. */
export interface DataFlags {
  readonly zeroBased?: true;
  readonly sumDuplicates?: true;
  readonly threads?: number;
}

export function addDataOptions(command: Command): Command {
  return command
    .optionsGroup('Data:')
    .option('--zero-based', 'the first feature has index 0 (default: 1)')
    .option('--sum-duplicates', 'add up a feature that a row repeats (default: an error)')
    .option('--threads <number>', 'worker threads (default: all cores)', whole(1));
}

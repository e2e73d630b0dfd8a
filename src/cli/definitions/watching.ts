import { type Command, Option } from 'commander';
import { usualFolder } from '../../reporting/records/folder.ts';
import { port } from '../arguments.ts';

/** How to look at a run, and what is kept of it. */
export interface WatchFlags {
  readonly ui?: true;
  readonly uiPort?: number;
  /** false when --no-open was given. */
  readonly open?: boolean;
  readonly chart?: true;
  readonly name?: string;
  readonly runs?: string;
  /** false when --no-record was given. */
  readonly record?: boolean;
}

export function addWatchingOptions(command: Command): void {
  command
    .optionsGroup('Watching:')
    .option('--ui', 'show the run on a local page while it goes on')
    .option('--ui-port <number>', "the page's port (default: any that is free)", port)
    .option('--no-open', 'print the address of the page and open no browser')
    .option('--chart', 'draw gap, objective and test error in the terminal')
    .option('--name <text>', 'what to call the run in lists and figures')
    .addOption(
      new Option(
        '--runs <folder>',
        `where the run is recorded, for dso runs and dso ui (default: ${usualFolder})`,
      ).conflicts('record'),
    )
    .option('--no-record', 'keep no record of the run (as DSO_NO_RECORD=1 does)');
}

import type { Command } from 'commander';
import { Option } from 'commander';
import { UsageError } from '../../errors.ts';
import { usualFolder } from '../../reporting/records/folder.ts';
import { whole } from '../arguments.ts';

export interface RunsFlags {
  /** The folder of the records. */
  readonly runs?: string;
  readonly json?: true;
}

export interface RunListFlags extends RunsFlags {
  readonly number?: number;
  readonly all?: true;
}

export interface RunShowFlags extends RunsFlags {
  /** From 1. */
  readonly vector?: number;
  readonly over?: 'time' | 'epochs';
}

export interface RunsActions {
  list(flags: RunListFlags): Promise<void>;
  show(run: string, flags: RunShowFlags): Promise<void>;
  stop(run: string, flags: RunsFlags): Promise<void>;
}

const folderOption = () =>
  new Option('--runs <folder>', `folder of the records (default: ${usualFolder})`);

const runArgument = 'the id of a run, its unique beginning or ending, or "last"';

const examples = `
Examples:
  dso runs                     the 20 newest runs that were recorded here
  dso runs --all --json | jq '.[] | select(.status == "failed") | .id'
  dso runs show                the last run: options, certificate, charts
  dso runs show 3f9c           one by the ending of its id
  dso runs stop last           ends it as Ctrl-C does

dso train records its runs in ${usualFolder}, unless it is told --no-record.`;

const showExamples = `
Examples:
  dso runs show
  dso runs show 20261115-2123 --over epochs
  dso runs show 3f9c --vector 2          the second class of a model with several
  dso runs show last --json | jq .summary.result.relativeGap`;

const stopExamples = `
Examples:
  dso runs stop                          the newest run
  dso runs stop 3f9c

Exit code 1 if it does not run, or has not ended half a minute later.`;

/** `dso runs`, `dso runs show`, `dso runs stop`. */
export function defineRuns(program: Command, { list, show, stop }: RunsActions): void {
  const command = program
    .command('runs')
    .summary('list training runs, look at one or stop it')
    .description('List the recorded training runs, the newest first.')
    .addHelpText('after', examples)
    // What stands behind the name of a subcommand is that one's.
    .enablePositionalOptions()
    .addOption(folderOption())
    .addOption(
      new Option('-n, --number <count>', 'list so many at most (default: 20)')
        .argParser(whole(1))
        .conflicts('all'),
    )
    .option('--all', 'list all of them')
    .option('--json', 'print JSON: an array of summaries')
    .action((flags: RunListFlags, own: Command) => {
      if (own.args.length === 0) return list(flags);
      throw new UsageError(`runs ${own.args[0]}: wanted a command, show or stop, or none`);
    });
  defineShow(command, show);
  defineStop(command, stop);
  // To be told which commands there are is more help than to have given too many words. Those
  // commands would do the same if it were said before they were made.
  command.allowExcessArguments();
}

function defineShow(command: Command, show: RunsActions['show']): void {
  command
    .command('show')
    .summary('everything about one run, with charts')
    .description('Show what a run was asked for, how well it did, and its curves.')
    .argument('[run]', runArgument, 'last')
    .addHelpText('after', showExamples)
    .addOption(folderOption())
    .option('--vector <number>', 'of several vectors of weights, which to draw, from 1', whole(1))
    .addOption(
      new Option('--over <axis>', 'what the charts go along (default: time)').choices([
        'time',
        'epochs',
      ]),
    )
    .option('--json', 'print JSON: the summary, the curves and the samples')
    .action((run: string, _: unknown, own: Command) => show(run, own.optsWithGlobals()));
}

function defineStop(command: Command, stop: RunsActions['stop']): void {
  command
    .command('stop')
    .summary('end a run; its model is written')
    .description('Ask a run to stop as Ctrl-C does, and wait until its model is written.')
    .argument('[run]', runArgument, 'last')
    .addHelpText('after', stopExamples)
    .addOption(folderOption())
    .option('--json', 'print JSON: the summary of the run')
    .action((run: string, _: unknown, own: Command) => stop(run, own.optsWithGlobals()));
}

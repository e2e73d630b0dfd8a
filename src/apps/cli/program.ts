import { Command, CommanderError } from 'commander';
import packageDescription from '../../../package.json' with { type: 'json' };
import { launchOf } from '../../engine/processes/launch.ts';
import { DsoError, RefusedJob, UsageError } from '../../errors.ts';
import { onFileWarning } from '../../files.ts';
import { checkNeeds } from '../../train/options/option.ts';
import { addCommand, type CommandEntry } from './command.ts';
import { commands } from './commands/index.ts';
import {
  exitCodeOfError,
  exitCodes,
  explainError,
  type Io,
  rankZeroReported,
  Terminal,
} from './terminal.ts';

const description =
  'Regularized linear models on sparse data, trained on all cores, with a proof of how close to ' +
  'the optimum they are.';

const guide = `
Start with:
  dso demo                                 see it work on a generated sample
  dso train train.svm --test test.svm      train an SVM
  dso train table.csv --label COLUMN       on a table with names (consider --scale)
  dso ui                                   look at the runs made here, live
  dso <command> --help                     the options of a command, with examples

Exit codes: 0 done, 1 failure, 2 usage, 3 bad data, 4 stopped before the tolerance,
5 a process of an MPI job was lost, 130 after Ctrl-C. Environment: NO_COLOR turns
colors off, DSO_DEBUG=1 shows stack traces.`;

/** Runs one command line (without `node` and the script) and returns the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const terminal = new Terminal(io);
  onFileWarning((message) => terminal.warn(message));
  let code: number = exitCodes.done;
  // Until then nothing has begun, and no rank of an MPI job has joined the others.
  let begun = false;
  const onResult = (result: number) => {
    code = result;
  };
  const program = createProgram(terminal, argv, onResult, () => {
    begun = true;
  });
  try {
    if (argv.length === 0) {
      terminal.write(program.helpInformation());
      return exitCodes.usage;
    }
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    const message = begun ? undefined : faultOf(error);
    const refused = message === undefined ? undefined : await refusedJob(message, argv, terminal);
    return await reportError(refused ?? error, terminal, !begun);
  }
}

/** What is wrong with a command line; undefined where help or the version was asked for. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof CommanderError)) return undefined;
  const isFault = error.exitCode !== 0 && error.code !== 'commander.help';
  // Ranks tell each other one line.
  return isFault ? messageOf(error).replaceAll('\n', ' ') : undefined;
}

/** The error that all ranks of a job have if this one cannot begin; undefined if it is in none. */
async function refusedJob(
  fault: string,
  argv: readonly string[],
  terminal: Terminal,
): Promise<Error | undefined> {
  const launch = launchOf(terminal.io.environment);
  const isAlone = !launch || launch.size === 1 || /--transport[= ]threads/.test(argv.join(' '));
  if (isAlone) return undefined;
  const { refuseJob } = await import('./job.ts');
  return refuseJob(launch, fault, terminal);
}

function messageOf({ message }: CommanderError): string {
  return message.replace(/^error: /, '');
}

async function reportError(error: unknown, terminal: Terminal, common: boolean): Promise<number> {
  if (error instanceof CommanderError) {
    // Commander has printed the help or the version.
    if (error.exitCode === 0) return exitCodes.done;
    if (error.code !== 'commander.help') await explainError(messageOf(error), terminal, common);
    return exitCodes.usage;
  }
  // The reader of standard output has closed it: nothing is left to do.
  if ((error as NodeJS.ErrnoException)?.code === 'EPIPE') return exitCodes.done;
  const message = error instanceof Error ? error.message : String(error);
  const launch = launchOf(terminal.io.environment);
  if (error instanceof RefusedJob && launch && launch.rank > 0) {
    await rankZeroReported(launch);
    return exitCodes.usage;
  }
  await explainError(message, terminal, common);
  if ((terminal.io.environment.DSO_DEBUG ?? '') !== '' && error instanceof Error) {
    terminal.say(error.stack ?? '');
  } else if (!(error instanceof DsoError)) {
    terminal.say('Set DSO_DEBUG=1 to see where this happened.');
  }
  return exitCodeOfError(error);
}

/**
 * The commands of the table, as commander takes them. `onBegin`: the command line has been
 * understood, and the command begins.
 */
export function createProgram(
  terminal: Terminal,
  words: readonly string[],
  onResult: (code: number) => void,
  onBegin: () => void = () => {},
): Command {
  const program = new Command('dso')
    .description(description)
    .version(packageDescription.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', guide)
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ optionDescription: (option) => option.description })
    .configureOutput({
      writeOut: (text) => void terminal.print(text),
      writeErr: (text) => terminal.write(text),
      // Printed by reportError.
      outputError: () => {},
      getOutHasColors: () => terminal.outputColours.isColorSupported,
      getErrHasColors: () => terminal.colours.isColorSupported,
    });
  for (const [name, entry] of commandsFor(words)) {
    addCommand(program, name, entry, async ({ options = {}, load, ranks }, args, command) => {
      const flags = command.optsWithGlobals();
      checkNeeds(options, flags);
      checkRanks(name, ranks, terminal);
      onBegin();
      // Words beyond the arguments of a command, where it allows them.
      const given = (args.length > 0 ? args.flat() : command.args) as string[];
      const run = await load();
      onResult((await run({ flags, terminal, words, program }, ...given)) ?? exitCodes.done);
    });
  }
  return program;
}

/** All commands, or the one alone that is called, since all of them take a while to describe. */
function commandsFor([first = '']: readonly string[]): [string, CommandEntry][] {
  const all = Object.entries(commands);
  const called = all.filter(([name, { usesAll }]) => name === first && !usesAll);
  return called.length > 0 ? called : all;
}

/** Refuses commands that every rank of a job would do by itself, onto the same files. */
function checkRanks(name: string, ranks: CommandEntry['ranks'], { io }: Terminal): void {
  const size = launchOf(io.environment)?.size ?? 1;
  if (size === 1 || ranks === 'together') return;
  const reason = ranks === undefined ? '' : ` (${ranks})`;
  throw new UsageError(
    `dso ${name} runs in one process${reason}, and the launcher has started ${size}: call it without mpirun, mpiexec or srun`,
  );
}

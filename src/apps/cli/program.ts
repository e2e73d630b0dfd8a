import { Command, CommanderError } from 'commander';
import packageDescription from '../../../package.json' with { type: 'json' };
import { DsoError } from '../../errors.ts';
import { checkNeeds } from '../../train/options/option.ts';
import { addCommand } from './command.ts';
import { commands } from './commands/index.ts';
import { exitCodeOfError, exitCodes, explainError, type Io, Terminal } from './terminal.ts';

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
  let code: number = exitCodes.done;
  // Until then any error is one of the command line, which all processes of a job have.
  let parsed = false;
  const program = createProgram(terminal, argv, (result) => {
    code = result;
  }).hook('preAction', () => {
    parsed = true;
  });
  try {
    if (argv.length === 0) {
      terminal.write(program.helpInformation());
      return exitCodes.usage;
    }
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return await reportError(error, terminal, !parsed);
  }
}

async function reportError(error: unknown, terminal: Terminal, common: boolean): Promise<number> {
  if (error instanceof CommanderError) {
    // Commander has printed the help or the version.
    if (error.exitCode === 0) return exitCodes.done;
    const message = error.message.replace(/^error: /, '');
    if (error.code !== 'commander.help') await explainError(message, terminal, common);
    return exitCodes.usage;
  }
  // The reader of standard output has closed it: nothing is left to do.
  if ((error as NodeJS.ErrnoException)?.code === 'EPIPE') return exitCodes.done;
  const message = error instanceof Error ? error.message : String(error);
  await explainError(message, terminal, common);
  if ((terminal.io.environment.DSO_DEBUG ?? '') !== '' && error instanceof Error) {
    terminal.say(error.stack ?? '');
  } else if (!(error instanceof DsoError)) {
    terminal.say('Set DSO_DEBUG=1 to see where this happened.');
  }
  return exitCodeOfError(error);
}

/** The commands of the table, as commander takes them. */
export function createProgram(
  terminal: Terminal,
  words: readonly string[],
  onResult: (code: number) => void,
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
  for (const [name, entry] of Object.entries(commands)) {
    addCommand(program, name, entry, async ({ options = {}, load }, args, command) => {
      const flags = command.optsWithGlobals();
      checkNeeds(options, flags);
      // Words beyond the arguments of a command, where it allows them.
      const given = (args.length > 0 ? args.flat() : command.args) as string[];
      const run = await load();
      onResult((await run({ flags, terminal, words, program }, ...given)) ?? exitCodes.done);
    });
  }
  return program;
}

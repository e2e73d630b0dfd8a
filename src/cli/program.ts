import { Command, CommanderError } from 'commander';
import packageDescription from '../../package.json' with { type: 'json' };
import { DsoError } from '../errors.ts';
import { complain } from './complaint.ts';
import { defineCompare } from './definitions/compare.ts';
import { defineCompletion } from './definitions/completion.ts';
import { defineConvert } from './definitions/convert.ts';
import { defineCv } from './definitions/cv.ts';
import { defineDemo } from './definitions/demo.ts';
import { defineDoctor } from './definitions/doctor.ts';
import { defineEvaluate } from './definitions/evaluate.ts';
import { defineExport } from './definitions/export.ts';
import { defineGenerate } from './definitions/generate.ts';
import { defineImport } from './definitions/import.ts';
import { defineInspect } from './definitions/inspect.ts';
import { defineLiblinearTrain } from './definitions/liblinear-train.ts';
import { definePath } from './definitions/path.ts';
import { definePredict } from './definitions/predict.ts';
import { defineReplay } from './definitions/replay.ts';
import { defineReport } from './definitions/report.ts';
import { defineRuns } from './definitions/runs.ts';
import { defineSearch } from './definitions/search.ts';
import { defineServe } from './definitions/serve.ts';
import { defineTrain } from './definitions/train.ts';
import { defineUi } from './definitions/ui.ts';
import { exitCodeOfError, exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { Terminal } from './terminal.ts';

const description = `Regularized linear models on sparse data, trained on all cores, with a proof of
how close to the optimum they are.`;

const guide = `
Start with:
  dso demo                                 see it work on a generated sample
  dso train train.svm --test test.svm      train an SVM
  dso train table.csv --label COLUMN       on a table with names (mind --scale)
  dso ui                                   look at the runs made here, live
  dso <command> --help                     all options of a command, with examples

Exit codes: 0 done, 1 failure, 2 usage, 3 bad data, 4 stopped before the tolerance,
5 a process of an MPI job was lost, 130 after Ctrl-C. Environment: NO_COLOR turns
colours off, DSO_DEBUG=1 shows stack traces.`;

/** Runs one command line (without `node` and the script) and returns the exit code. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const terminal = new Terminal(io);
  let code: number = exitCodes.done;
  const program = createProgram(terminal, argv, (result) => {
    code = result;
  });
  try {
    if (argv.length === 0) {
      terminal.write(program.helpInformation());
      return exitCodes.usage;
    }
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return await reportError(error, terminal);
  }
}

async function reportError(error: unknown, terminal: Terminal): Promise<number> {
  if (error instanceof CommanderError) {
    // Commander has printed the help or the version that was asked for.
    if (error.exitCode === 0) return exitCodes.done;
    const told = error.message.replace(/^error: /, '');
    if (error.code !== 'commander.help') await complain(told, terminal, true);
    return exitCodes.usage;
  }
  // Whoever read standard output has left: nobody to tell.
  if ((error as NodeJS.ErrnoException)?.code === 'EPIPE') return exitCodes.done;
  const message = error instanceof Error ? error.message : String(error);
  await complain(message, terminal, false);
  if ((terminal.io.environment.DSO_DEBUG ?? '') !== '' && error instanceof Error) {
    terminal.say(error.stack ?? '');
  } else if (!(error instanceof DsoError)) {
    terminal.say('Set DSO_DEBUG=1 to see where this happened.');
  }
  return exitCodeOfError(error);
}

/**
 * The commands with their options. What a command does is imported when it runs, which keeps
 * `dso --help` and `dso --version` instant.
 */
function createProgram(
  terminal: Terminal,
  argv: readonly string[],
  onResult: (code: number) => void,
): Command {
  const program = new Command('dso')
    .description(description)
    .version(packageDescription.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .addHelpText('after', guide)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.print(text),
      writeErr: (text) => terminal.write(text),
      // Said by reportError.
      outputError: () => {},
      getOutHasColors: () => terminal.outputColours.isColorSupported,
      getErrHasColors: () => terminal.colours.isColorSupported,
    });
  defineTrain(program, async (data, flags) => {
    const { trainCommand } = await import('./commands/train.ts');
    onResult(await trainCommand(data, flags, terminal, argv));
  });
  definePredict(program, async (model, data, flags) => {
    const { predictCommand } = await import('../apps/cli/commands/predict.ts');
    onResult(await predictCommand(model, data, flags, terminal));
  });
  defineEvaluate(program, async (model, data, flags) => {
    const { evaluateCommand } = await import('./commands/evaluate.ts');
    onResult(await evaluateCommand(model, data, flags, terminal));
  });
  defineCompare(program, async (data, flags) => {
    const { compareCommand } = await import('../apps/cli/commands/compare.ts');
    onResult(await compareCommand(data, flags, terminal));
  });
  definePath(program, async (data, flags) => {
    const { pathCommand } = await import('../apps/cli/commands/path.ts');
    onResult(await pathCommand(data, flags, terminal));
  });
  defineCv(program, async (data, flags) => {
    const { cvCommand } = await import('./commands/cv.ts');
    onResult(await cvCommand(data, flags, terminal));
  });
  defineSearch(program, async (data, flags) => {
    const { searchCommand } = await import('./commands/search.ts');
    onResult(await searchCommand(data, flags, terminal));
  });
  defineInspect(program, async (model, flags) => {
    const { inspectCommand } = await import('./commands/inspect.ts');
    onResult(await inspectCommand(model, flags, terminal));
  });
  defineConvert(program, async (data, flags) => {
    const { convertCommand } = await import('../apps/cli/commands/convert.ts');
    onResult(await convertCommand(data, flags, terminal));
  });
  defineExport(program, async (model, flags) => {
    const { exportCommand } = await import('./commands/export.ts');
    onResult(await exportCommand(model, flags, terminal));
  });
  defineImport(program, async (file, flags) => {
    const { importCommand } = await import('./commands/import.ts');
    onResult(await importCommand(file, flags, terminal));
  });
  defineReport(program, async (data, flags) => {
    const { reportCommand } = await import('./commands/report.ts');
    onResult(await reportCommand(data, flags, terminal));
  });
  defineGenerate(program, async (flags) => {
    const { generateCommand } = await import('./commands/generate.ts');
    onResult(await generateCommand(flags, terminal));
  });
  defineReplay(program, async (visits, data, flags) => {
    const { replayCommand } = await import('./commands/replay.ts');
    onResult(await replayCommand(visits, data, flags, terminal));
  });
  defineDoctor(program, async (flags) => {
    const { doctorCommand } = await import('../apps/cli/commands/doctor.ts');
    onResult(await doctorCommand(flags, terminal));
  });
  defineLiblinearTrain(program, async (words) => {
    const { liblinearTrainCommand } = await import('../apps/cli/liblinear/train.ts');
    onResult(await liblinearTrainCommand(words, terminal));
  });
  defineServe(program, async (model, flags) => {
    const { serveCommand } = await import('../apps/cli/commands/serve.ts');
    onResult(await serveCommand(model, flags, terminal));
  });
  defineRuns(program, {
    async list(flags) {
      const { listRunsCommand } = await import('../apps/cli/commands/runs.ts');
      onResult(await listRunsCommand(flags, terminal));
    },
    async show(run, flags) {
      const { showRunCommand } = await import('../apps/cli/commands/runs.ts');
      onResult(await showRunCommand(run, flags, terminal));
    },
    async stop(run, flags) {
      const { stopRunCommand } = await import('../apps/cli/commands/runs.ts');
      onResult(await stopRunCommand(run, flags, terminal));
    },
  });
  defineUi(program, async (folder, flags) => {
    const { uiCommand } = await import('./commands/ui.ts');
    onResult(await uiCommand(folder, flags, terminal));
  });
  defineCompletion(program, async (shell) => {
    const { completionCommand } = await import('./commands/completion.ts');
    onResult(await completionCommand(shell, program, terminal));
  });
  defineDemo(program, async (folder, flags) => {
    const { demoCommand } = await import('../apps/cli/commands/demo.ts');
    onResult(await demoCommand(folder, flags, terminal));
  });
  return program;
}

import { Interrupts } from '../../apps/cli/interrupts.ts';
import { createProgress } from '../../apps/cli/progress.ts';
import type { GeneratedPaths, GeneratedSummary, GenerateOptions } from '../../data/generate.ts';
import { writeGenerated } from '../../data/generate.ts';
import { formatCount, plural } from '../../reporting/format.ts';
import type { GenerateFlags } from '../definitions/generate.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutput } from '../outputs.ts';
import type { Terminal } from '../terminal.ts';

export async function generateCommand(flags: GenerateFlags, terminal: Terminal): Promise<number> {
  const paths = generatedPaths(flags.output ?? flags.like);
  checkOutput('--output', paths.trainPath, []);
  checkOutput('--output', paths.testPath, []);
  const quiet = flags.quiet ?? false;
  const { train, test, columns } = await generate(flags, paths, terminal, quiet);
  if (!quiet) {
    for (const [path, part] of [
      [paths.trainPath, train],
      [paths.testPath, test],
    ] as const) {
      terminal.say(
        `${terminal.colours.bold(path)}: ${plural(part.rows, 'row')} × ` +
          `${plural(columns, 'column')}, ${formatCount(part.nonzeros)} non-zeros`,
      );
    }
  }
  return exitCodes.done;
}

export function generatedPaths(prefix: string): GeneratedPaths {
  return { trainPath: `${prefix}.train.svm`, testPath: `${prefix}.test.svm` };
}

/** Writes the sample, with progress. */
export async function generate(
  options: GenerateOptions,
  paths: GeneratedPaths,
  terminal: Terminal,
  quiet: boolean,
): Promise<GeneratedSummary> {
  const progress = createProgress(terminal, quiet);
  const interrupts = new Interrupts(terminal.io, {
    onDeferred() {},
    onQuit: () => progress.end(),
  });
  try {
    return await writeGenerated(options, paths, ({ rowsDone, rows }) =>
      progress.stage(`generating data like ${options.like}`, rowsDone / rows),
    );
  } finally {
    interrupts.release();
    progress.end();
  }
}

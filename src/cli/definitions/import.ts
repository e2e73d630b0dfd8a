import type { Command } from 'commander';

export interface ImportFlags {
  readonly output?: string;
  readonly quiet?: true;
}

const examples = `
Examples:
  liblinear-train -s 0 train.svm train.liblinear
  dso import train.liblinear -o train.model
  dso predict train.model test.svm`;

export function defineImport(
  program: Command,
  run: (file: string, flags: ImportFlags) => Promise<void>,
): void {
  program
    .command('import')
    .summary('read a model of another program')
    .description(
      'Make a model of a model file of LIBLINEAR, or of the JSON that dso export --to json wrote.',
    )
    .argument('<file>', 'the file, also .gz or .zst; - for standard input')
    .addHelpText('after', examples)
    .option('-o, --output <model>', 'where to write (default: the name of the file + .model)')
    .option('--quiet', 'print no notes')
    .action((file: string, flags: ImportFlags) => run(file, flags));
}

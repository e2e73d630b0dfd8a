import type { Command } from 'commander';
import { whole } from '../arguments.ts';

export interface InspectFlags {
  readonly top: number;
  readonly class?: string;
  readonly names?: string;
  readonly zeroBased?: true;
  readonly json?: true;
}

const examples = `
Examples:
  dso inspect spam.model
  dso inspect spam.model --top 50 --names vocabulary.txt.gz
  dso inspect news.model --class sports`;

export function defineInspect(
  program: Command,
  run: (model: string, flags: InspectFlags) => Promise<void>,
): void {
  program
    .command('inspect')
    .summary('show what is in a model')
    .description('Show how a model was made, how near to optimal it is and its largest weights.')
    .argument('<model>', 'model file; - for standard input')
    .addHelpText('after', examples)
    .option('--top <number>', 'how many features to list for and against a class', whole(0), 10)
    .option('--class <name>', 'the class whose features to list')
    .option(
      '--names <file>',
      'names of the features, line n for feature n; also .gz or .zst (default: those in the model)',
    )
    .option('--zero-based', 'number the features from 0')
    .option('--json', 'print JSON')
    .action((model: string, flags: InspectFlags) => run(model, flags));
}

import type { Command } from 'commander';
import { Option } from 'commander';
import type { DataFlags } from './data-options.ts';
import { addDataOptions, dataArgument } from './data-options.ts';

export interface PredictFlags extends DataFlags {
  readonly output?: string;
  readonly scores?: true;
  readonly probabilities?: true;
  readonly header?: true;
  readonly json?: true;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso predict spam.model mail.svm                      one class per line
  dso predict spam.model mail.svm.gz --probabilities -o mail.txt
  dso predict news.model news.csv --probabilities --header
  dso predict news.model news.csv --json | jq .label
  cat mail.svm | dso predict spam.model - --scores | sort -g | tail`;

export function definePredict(
  program: Command,
  run: (model: string, data: string, flags: PredictFlags) => Promise<void>,
): void {
  const command = program
    .command('predict')
    .summary('apply a model to data')
    .description('Print a prediction per row: the class, or in regression the value.')
    .argument('<model>', 'model file; - for standard input')
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .option('-o, --output <file>', 'where to write (default: standard output)')
    .addOption(new Option('--scores', 'print the scores <w, x> + b').conflicts('probabilities'))
    .option(
      '--probabilities',
      'print the probability of the positive class, or of each of several (logistic loss, or calibrated)',
    )
    .option('--header', 'begin with a line of names: those of the classes, where there are several')
    .addOption(
      new Option(
        '--json',
        'print JSON: label, scores and probabilities, an object per row',
      ).conflicts(['scores', 'probabilities', 'header']),
    )
    .option('--quiet', 'print no notes')
    .action((model: string, data: string, flags: PredictFlags) => run(model, data, flags));
  addDataOptions(command);
}

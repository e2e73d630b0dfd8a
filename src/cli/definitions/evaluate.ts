import type { Command } from 'commander';
import type { DataFlags } from './data-options.ts';
import { addDataOptions, dataArgument } from './data-options.ts';

export interface EvaluateFlags extends DataFlags {
  readonly json?: true;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso evaluate spam.model test.svm
  dso evaluate spam.model test.svm.gz --json | jq .auc`;

export function defineEvaluate(
  program: Command,
  run: (model: string, data: string, flags: EvaluateFlags) => Promise<void>,
): void {
  const command = program
    .command('evaluate')
    .summary('measure a model on labelled data')
    .description(
      'Two classes: accuracy, error, AUC, average precision, log loss, confusion.\n' +
        'Several classes: also precision, recall and F1 of each. Multi-label: F1, Hamming loss.\n' +
        'Regression: mean squared error, mean absolute error, R²; deviance, pinball loss.',
    )
    .argument('<model>', 'model file; - for standard input')
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .option('--json', 'print JSON')
    .option('--quiet', 'print no notes')
    .action((model: string, data: string, flags: EvaluateFlags) => run(model, data, flags));
  addDataOptions(command);
}

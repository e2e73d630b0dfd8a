import type { Command } from 'commander';
import { addDataOptions, dataArgument } from './data-options.ts';
import {
  addModelOptions,
  addPathOptions,
  addTableOptions,
  addValidationOptions,
  lambdaList,
  type ValidateFlags,
} from './select-options.ts';
import {
  addClassOptions,
  addProblemOptions,
  addSolverOptions,
  addStoppingOptions,
  type ProblemFlags,
} from './train.ts';

export interface CvFlags
  extends ValidateFlags,
    Pick<ProblemFlags, 'loss' | 'penalty' | 'l1Ratio'> {}

const examples = `
Examples:
  dso cv train.svm --loss logistic                     30 lambdas, 5 folds → train.svm.model
  dso cv train.svm --lambda 1e-3,1e-4,1e-5 --folds 10 -o spam.model
  dso cv prices.csv --label price --loss square --penalty l1 --choose simplest --figure cv.svg
  dso cv train.svm --metric auc --no-refit --json

All folds are trained on one copy of the data. Ctrl-C ends it: what is known by then is shown.`;

/** `dso cv`; `run` is called with the checked options. */
export function defineCv(
  program: Command,
  run: (data: string, flags: CvFlags) => Promise<void>,
): void {
  const command = program
    .command('cv')
    .summary('choose lambda by cross-validation and train')
    .description('Choose lambda by the error on rows held out in turn, then train on all rows.')
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .action((data: string, flags: CvFlags) => run(data, flags));
  command.optionsGroup('Output:');
  addModelOptions(command);
  addTableOptions(command);
  addValidationOptions(command);
  addProblemOptions(command, { lambda: lambdaList() });
  addPathOptions(command);
  addClassOptions(command);
  addStoppingOptions(command, 'training, for all folds together');
  addSolverOptions(command);
  addDataOptions(command);
}

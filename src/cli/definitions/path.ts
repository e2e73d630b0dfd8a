import { type Command, Option } from 'commander';
import { fraction } from '../arguments.ts';
import { addDataOptions, dataArgument } from './data-options.ts';
import { addPathOptions, addTableOptions, lambdaList, type SelectFlags } from './select-options.ts';
import {
  addClassOptions,
  addEarlyStop,
  addMemoryOptions,
  addProblemOptions,
  addSolverOptions,
  addStoppingOptions,
  type ProblemFlags,
} from './train.ts';

export interface PathFlags extends SelectFlags, Pick<ProblemFlags, 'loss' | 'penalty' | 'l1Ratio'> {
  readonly output?: string;
  readonly models?: string;
  readonly test?: string;
  readonly holdout?: number;
  /** Bytes. */
  readonly memory?: number;
  readonly scratch?: string;
}

const examples = `
Examples:
  dso path train.svm --loss logistic --penalty l1      30 models, from no feature at all to many
  dso path train.svm --loss logistic --penalty l1 --test test.svm -o best.model --figure path.svg
  dso path prices.csv --label price --loss square --penalty elastic-net --lambda 1,0.1,0.01
  dso path train.svm --holdout 0.2 --models path       keeps every model in a folder

Each model starts from the one before it and has a certificate of its own. Ctrl-C ends the path:
what is done by then is shown and written.`;

/** `dso path`; `run` is called with the checked options. */
export function definePath(
  program: Command,
  run: (data: string, flags: PathFlags) => Promise<void>,
): void {
  const command = program
    .command('path')
    .summary('train a model for each of many lambdas')
    .description('Train along a path of lambdas, from strong to weak regularization.')
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .action((data: string, flags: PathFlags) => run(data, flags));
  command
    .optionsGroup('Output:')
    .option('-o, --output <model>', 'the model with the least error on the test data')
    .option('--models <folder>', 'put every model there as soon as it is trained')
    .addOption(new Option('--test <file>', 'data to measure the error on').conflicts('holdout'))
    .option('--holdout <fraction>', 'set aside this part of the rows as test data', fraction);
  addTableOptions(command);
  addProblemOptions(command, { lambda: lambdaList() });
  addPathOptions(command);
  addClassOptions(command);
  addStoppingOptions(command, 'training, for the whole path');
  addEarlyStop(command);
  addMemoryOptions(command);
  addSolverOptions(command);
  addDataOptions(command);
}

import { type Command, InvalidArgumentError, Option } from 'commander';
import { lossNames } from '../../losses/index.ts';
import { type PenaltyName, penaltyNames } from '../../penalties/index.ts';
import { fraction } from '../arguments.ts';
import { addDataOptions, dataArgument } from './data-options.ts';
import {
  addModelOptions,
  addPathOptions,
  addTableOptions,
  addValidationOptions,
  lambdaList,
  names,
  numbers,
  type ValidateFlags,
} from './select-options.ts';
import {
  addClassOptions,
  addProblemOptions,
  addSolverOptions,
  addStoppingOptions,
} from './train.ts';

export interface SearchFlags extends ValidateFlags {
  readonly loss: readonly string[];
  readonly penalty: readonly PenaltyName[];
  readonly l1Ratio?: readonly number[];
}

const examples = `
Examples:
  dso search train.svm                                 hinge and logistic loss × L2 and L1
  dso search train.svm --loss logistic,squared-hinge --penalty l1,l2 --lambda 1e-3,1e-4,1e-5
  dso search prices.csv --label price --loss square,huber --penalty elastic-net --l1-ratio 0.1,0.5,0.9

Every loss is tried with every penalty and lambda, on the same folds. Ctrl-C ends it: what is known by
then is ranked.`;

/** `dso search`; `run` is called with the checked options. */
export function defineSearch(
  program: Command,
  run: (data: string, flags: SearchFlags) => Promise<void>,
): void {
  const command = program
    .command('search')
    .summary('choose loss, penalty and lambda by cross-validation and train')
    .description('Choose loss, penalty and lambda by cross-validation, then train on all rows.')
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .action((data: string, flags: SearchFlags) => run(data, flags));
  command.optionsGroup('Output:');
  addModelOptions(command);
  addTableOptions(command);
  addValidationOptions(command);
  addProblemOptions(command, {
    loss: new Option('--loss <names>', `of ${lossNames.join(', ')}, or paths of modules`)
      .argParser(names)
      .default(['hinge', 'logistic'], 'hinge,logistic'),
    penalty: new Option('--penalty <names>', `of ${penaltyNames.join(', ')}`)
      .argParser(penaltyList)
      .default(['l2', 'l1'], 'l2,l1'),
    lambda: lambdaList(),
    l1Ratio: new Option(
      '--l1-ratio <numbers>',
      "L1's shares in the elastic net, between 0 and 1 (default: 0.5)",
    ).argParser(numbers(fraction)),
  });
  addPathOptions(command);
  addClassOptions(command);
  addStoppingOptions(command, 'training, for the whole search');
  addSolverOptions(command);
  addDataOptions(command);
}

function penaltyList(list: string): PenaltyName[] {
  return names(list).map((name) => {
    const known = penaltyNames.find((one) => one === name);
    if (known !== undefined) return known;
    throw new InvalidArgumentError(`Wanted some of ${penaltyNames.join(', ')}.`);
  });
}

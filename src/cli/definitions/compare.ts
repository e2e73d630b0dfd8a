import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { lossNames } from '../../losses/index.ts';
import type { PenaltyName } from '../../penalties/index.ts';
import { solverNames } from '../../solvers/names.ts';
import { finite, fraction, nonNegative, positive, whole } from '../arguments.ts';
import type { DataFlags } from './data-options.ts';
import { addDataOptions, dataArgument } from './data-options.ts';
import { penaltyOption } from './train.ts';

export interface CompareFlags extends DataFlags {
  readonly solvers: readonly string[];
  readonly loss: readonly string[];
  readonly lambda?: readonly number[];
  readonly penalty: PenaltyName;
  readonly l1Ratio?: number;
  readonly lower?: number;
  readonly upper?: number;
  readonly nonNegative?: true;
  readonly penaltyFactors?: string;
  readonly intercept?: true;
  readonly epsilon?: number;
  readonly delta?: number;
  readonly smoothing?: number;
  readonly quantile?: number;
  readonly test?: string;
  readonly holdout?: number;
  readonly auprc?: true;
  readonly tolerance: number;
  readonly epochs: number;
  readonly time: number;
  readonly grid?: number;
  readonly seed: number;
  readonly output: string;
  readonly fresh?: true;
  /** false when --no-warm-up was given. */
  readonly warmUp: boolean;
  readonly title?: string;
  readonly json?: true;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso compare train.svm --test test.svm --solvers dso,sgd,bmrm,psgd --lambda 1e-5,1e-6 --time 30
  dso compare train.svm --solvers lbfgs,ring --loss logistic,squared-hinge -o smooth
  dso compare train.svm --solvers lbfgs -o report        adds a solver to an earlier report

The folder gets report.html, results.json, results.csv, and figures as SVG and PNG. The same command
again goes on where an earlier one was interrupted: what has finished is not run again.`;

/** `dso compare`; `run` is called with the checked options. */
export function defineCompare(
  program: Command,
  run: (data: string, flags: CompareFlags) => Promise<void>,
): void {
  const command = program
    .command('compare')
    .summary('run several solvers on the same problems and report')
    .description('Run solvers one after another under the same conditions, rank them and report.')
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .action((data: string, flags: CompareFlags) => run(data, flags));
  addRunOptions(command);
  addOutputOptions(command);
  addProblemOptions(command);
  addConditionOptions(command);
  addDataOptions(command);
}

function addRunOptions(command: Command): void {
  command
    .optionsGroup('What is run, each with each:')
    .addOption(
      new Option('--solvers <names>', `of ${solverNames.join(', ')}`)
        .argParser(names)
        .default(['dso', 'sgd', 'psgd', 'bmrm', 'ring'], 'dso,sgd,psgd,bmrm,ring'),
    )
    .option('--lambda <numbers>', 'weights of the penalty (default: 1 / rows)', numbers)
    .addOption(
      new Option('--loss <names>', `of ${lossNames.join(', ')}, or paths of modules`)
        .argParser(names)
        .default(['hinge'], 'hinge'),
    );
}

function addOutputOptions(command: Command): void {
  command
    .optionsGroup('Output:')
    .option('-o, --output <folder>', 'where the report goes', 'report')
    .option('--fresh', 'start over: forget the results that are in the folder')
    .option('--title <text>', 'of the report')
    .option('--json', 'print the ranking as JSON on standard output')
    .option('--quiet', 'print nothing but errors');
}

function addProblemOptions(command: Command): void {
  command
    .optionsGroup('Problem: minimize lambda * penalty(w) + mean of loss')
    .addOption(
      new Option('--test <file>', 'data to measure the error on after every epoch').conflicts(
        'holdout',
      ),
    )
    .option('--holdout <fraction>', 'set aside this part of the rows as test data', fraction)
    .option('--auprc', 'measure the area under the precision-recall curve on the test data too')
    .addOption(penaltyOption())
    .option('--l1-ratio <number>', "L1's share in the elastic net (default: 0.5)", fraction)
    .option('--intercept', 'fit a constant term, which is not penalised')
    .addOption(new Option('--non-negative', 'keep every weight at 0 or above').conflicts('lower'))
    .option('--lower <number>', 'keep every weight at this or above (at most 0)', finite)
    .option('--upper <number>', 'keep every weight at this or below (at least 0)', finite)
    .option('--epsilon <number>', 'insensitive zone of the absolute losses', nonNegative)
    .option('--delta <number>', 'where the Huber loss turns linear', positive)
    .option('--smoothing <number>', 'width of the smoothed kink of the smoothed hinge', positive)
    .option('--quantile <number>', 'which quantile that loss fits', fraction)
    .option('--penalty-factors <file>', 'a positive number per line: line n is for feature n');
}

function addConditionOptions(command: Command): void {
  command
    .optionsGroup('Conditions, the same for every run:')
    .option('--tolerance <number>', 'relative duality gap to reach', positive, 1e-3)
    .option('--time <seconds>', 'most seconds of training per run', positive, 30)
    .option('--epochs <number>', 'most epochs per run', whole(1), 10_000)
    .option('--grid <number>', 'workers of the logical grid (default: by the data)', whole(1))
    .option('--seed <number>', 'of all random choices', whole(0), 1)
    .option('--no-warm-up', 'time the first run of a solver cold');
}

/** "a, b" → ['a', 'b'], each once. */
function names(list: string): string[] {
  const found = list.split(',').map((name) => name.trim());
  if (found.includes('')) throw new InvalidArgumentError('Wanted names, separated by commas.');
  return [...new Set(found)];
}

function numbers(list: string): number[] {
  return [...new Set(names(list).map(positive))];
}

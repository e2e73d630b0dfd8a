import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { type Scaling, scalings } from '../../data/scale.ts';
import type { Interval } from '../../engine/checkpoint/writer.ts';
import { lossNames } from '../../losses/index.ts';
import type { PenaltyName } from '../../penalties/index.ts';
import { penaltyByName, penaltyNames } from '../../penalties/index.ts';
import { type SolverName, solverNames } from '../../solvers/names.ts';
import type { ClassWeights } from '../../train/class-weights.ts';
import { bytes, finite, fraction, nonNegative, positive, whole } from '../arguments.ts';
import type { JobFlags } from '../job.ts';
import type { DataFlags } from './data-options.ts';
import { addDataOptions, dataArgument } from './data-options.ts';
import { addProgressiveOptions, type ProgressiveFlags } from './progressive.ts';
import { addWatchingOptions, type WatchFlags } from './watching.ts';

export interface ProblemFlags {
  readonly loss: string;
  readonly epsilon?: number;
  readonly delta?: number;
  readonly smoothing?: number;
  readonly quantile?: number;
  readonly penalty: PenaltyName;
  readonly l1Ratio?: number;
  readonly lower?: number;
  readonly upper?: number;
  readonly nonNegative?: true;
  readonly penaltyFactors?: string;
  readonly lambda?: number;
  readonly intercept?: true;
}

export interface SolverFlags {
  readonly solver?: SolverName;
  readonly paper?: true;
  readonly step?: 'adagrad' | 'sqrt';
  readonly stepSize?: number;
  readonly dualStepSize?: number;
  /** false when --no-svrg was given. */
  readonly svrg: boolean;
  readonly initialize?: number;
  /** false when --no-boxes was given. */
  readonly boxes: boolean;
  readonly average?: boolean;
  readonly mode?: 'rows' | 'columns';
  readonly rotations?: number;
  readonly history?: number;
  readonly rho?: number;
  readonly localPasses?: number;
  readonly innerTolerance?: number;
  /** false when --no-shrink was given. */
  readonly shrink?: boolean;
  readonly grid?: number;
  readonly seed?: number;
}

export interface StoppingFlags {
  readonly tolerance: number;
  readonly epochs: number;
  readonly time?: number;
  readonly earlyStop?: number;
}

export interface TrainFlags
  extends DataFlags,
    ProblemFlags,
    SolverFlags,
    StoppingFlags,
    JobFlags,
    ProgressiveFlags,
    WatchFlags {
  readonly output?: string;
  readonly test?: string;
  readonly holdout?: number;
  readonly auprc?: true;
  readonly visits?: string;
  readonly json?: true;
  readonly quiet?: true;
  readonly log?: string;
  readonly checkpoint?: string;
  readonly checkpointEvery?: Interval;
  readonly resume?: string;
  /** Bytes. */
  readonly memory?: number;
  readonly scratch?: string;
  readonly sql?: string;
  readonly report?: true;
  readonly init?: string;
  readonly multiLabel?: true;
  readonly classWeight?: ClassWeights;
  readonly scale?: Scaling;
  readonly calibrate?: 'platt' | 'isotonic';
  readonly calibrateFolds?: number;
}

const examples = `
Examples:
  dso train train.svm                          SVM to within 0.1 % of the optimum → train.svm.model
  dso train train.svm.gz -o spam.model --loss logistic --lambda 1e-5 --test test.svm.gz
  dso train prices.svm --loss square --penalty l1 --lambda 1e-3 --intercept
  zcat huge.svm.gz | dso train - --holdout 0.1 --json > report.json
  dso train customers.csv --label churned --loss logistic --scale std --class-weight balanced
  dso train --sql "select * from 'sales.parquet' where year = 2025" --label price --loss huber

  dso train huge.svm --ui                      watch it on a local page; dso ui shows it later
  dso train huge.svm --checkpoint kept --resume kept   goes on where it was killed, if it was
  mpirun -n 4 dso train 'part-*.svm' -o model          one model on four processes or machines

Ctrl-C ends training early and writes the model reached so far.`;

/** `dso train`; `run` is called with the checked options. */
export function defineTrain(
  program: Command,
  run: (data: string | undefined, flags: TrainFlags) => Promise<void>,
): void {
  const command = program
    .command('train')
    .summary('train a model')
    .description('Train a linear model on sparse data and prove how close to optimal it is.')
    .argument('[data]', dataArgument)
    .addHelpText('after', examples)
    .action((data: string | undefined, flags: TrainFlags) => run(data, flags));
  addOutputOptions(command);
  addWatchingOptions(command);
  addProblemOptions(command);
  addPreparationOptions(command);
  addStoppingOptions(command);
  addEarlyStop(command);
  addCheckpointOptions(command);
  addMemoryOptions(command);
  addProgressiveOptions(command);
  addJobOptions(command);
  addSolverOptions(command);
  addDataOptions(command);
}

function addOutputOptions(command: Command): void {
  command
    .optionsGroup('Output:')
    .option(
      '-o, --output <model>',
      'model file; - for standard output (default: <data>.model, query.model)',
    )
    .option('--sql <query>', 'train on the rows of a query, run by DuckDB, in place of <data>')
    .addOption(
      new Option('--test <file>', 'data to measure the error on after every epoch').conflicts(
        'holdout',
      ),
    )
    .option('--holdout <fraction>', 'set aside this part of the rows as test data', fraction)
    .option('--report', 'first describe the data: classes, empty rows, constant columns, …')
    .option('--auprc', 'also measure the area under the precision-recall curve on the test data')
    .option('--json', 'print the report as JSON on standard output')
    .option('--log <file>', 'write one JSON object per epoch and one for the result')
    .option('--visits <file>', 'dso-async: record of the block visits (default: <model>.visits)')
    .option('--quiet', 'print nothing but errors');
}

/** What other commands take a list of. */
type Choosable = 'loss' | 'penalty' | 'lambda' | 'l1Ratio';

const choosable = (): Record<Choosable, Option> => ({
  loss: new Option(
    '--loss <name>',
    `${lossNames.join(', ')}, or the path of a module (./mine.js)`,
  ).default('hinge'),
  penalty: penaltyOption(),
  lambda: new Option('--lambda <number>', 'weight of the penalty (default: 1 / rows)').argParser(
    positive,
  ),
  l1Ratio: new Option(
    '--l1-ratio <number>',
    "L1's share in the elastic net, between 0 and 1 (default: 0.5)",
  ).argParser(fraction),
});

export function addProblemOptions(
  command: Command,
  own: Partial<Record<Choosable, Option>> = {},
): void {
  const { loss, penalty, lambda, l1Ratio } = { ...choosable(), ...own };
  command
    .optionsGroup('Problem: minimize lambda * penalty(w) + mean of loss')
    .addOption(loss)
    .addOption(penalty)
    .addOption(lambda)
    .addOption(l1Ratio)
    .option('--intercept', 'fit a constant term, which is not penalised')
    .addOption(new Option('--non-negative', 'keep every weight at 0 or above').conflicts('lower'))
    .option('--lower <number>', 'keep every weight at this or above (at most 0)', finite)
    .option('--upper <number>', 'keep every weight at this or below (at least 0)', finite)
    .option(
      '--epsilon <number>',
      'insensitive zone of the absolute losses (default: 0)',
      nonNegative,
    )
    .option('--delta <number>', 'where the Huber loss turns linear (default: 1)', positive)
    .option(
      '--smoothing <number>',
      'width of the smoothed kink of the smoothed hinge (default: 1)',
      positive,
    )
    .option('--quantile <number>', 'which quantile that loss fits (default: 0.5)', fraction)
    .option('--penalty-factors <file>', 'a positive number per line: line n is for feature n');
}

/** The option of every command that trains; a name that is no penalty is told why. */
export function penaltyOption(): Option {
  return new Option('--penalty <name>', 'what keeps the weights small')
    .choices([...penaltyNames])
    .argParser((name) => {
      if ((penaltyNames as readonly string[]).includes(name)) return name;
      if (name === 'group-lasso') penaltyByName(name);
      throw new InvalidArgumentError(`Allowed choices are ${penaltyNames.join(', ')}.`);
    })
    .default('l2');
}

/** `balanced`, or labels with their weights: `spam=5,ham=1`. */
const classWeights = (text: string): ClassWeights => {
  if (text === 'balanced') return text;
  const pairs = text.split(',').map((pair): [string, number] => {
    const [, label = '', weight = ''] = /^(.*)=([^=]*)$/.exec(pair.trim()) ?? [];
    const value = weight.trim() === '' ? Number.NaN : Number(weight);
    if (label !== '' && value >= 0 && value < Infinity) return [label.trim(), value];
    throw new InvalidArgumentError('Wanted balanced, or label=weight pairs as in spam=5,ham=1.');
  });
  return Object.fromEntries(pairs);
};

/** What is done to rows and classes before training. */
export function addClassOptions(command: Command): void {
  command
    .option('--multi-label', 'a row may have several labels, with commas between: a,b')
    .option(
      '--class-weight <weights>',
      'what rows of a class count: balanced, or as in spam=5,ham=1',
      classWeights,
    )
    .addOption(
      new Option(
        '--scale <way>',
        'for features of different size: divide columns by their largest size or standard\ndeviation, or rows by their length, in training; the model is for the data as it is',
      ).choices([...scalings]),
    );
}

function addPreparationOptions(command: Command): void {
  command.optionsGroup('Classes, scales and probabilities:');
  addClassOptions(command);
  command
    .addOption(
      new Option(
        '--calibrate <method>',
        'fit how scores become probabilities, to rows held out in turn',
      ).choices(['platt', 'isotonic']),
    )
    .option('--calibrate-folds <number>', 'how many parts are held out (default: 5)', whole(2))
    .option(
      '--init <model>',
      'start from the weights of this model, found by name where there are names',
    );
}

export function addStoppingOptions(command: Command, timed = 'training'): void {
  command
    .optionsGroup('Stopping, whichever comes first:')
    .option(
      '--tolerance <number>',
      'relative duality gap to reach; a few polishing epochs follow',
      positive,
      1e-3,
    )
    .option('--epochs <number>', 'most epochs', whole(1), 10_000)
    .option('--time <seconds>', `most seconds of ${timed}`, positive);
}

export function addEarlyStop(command: Command): void {
  command.addOption(
    new Option(
      '--early-stop [measurements]',
      'so many measurements of the test error in a row without a better one; the model is the one with the least',
    )
      .preset('5')
      .argParser(whole(1)),
  );
}

function addCheckpointOptions(command: Command): void {
  command
    .optionsGroup('Checkpoints:')
    .option('--checkpoint <folder>', 'keep the run there while it lasts, to resume it')
    .option(
      '--checkpoint-every <interval>',
      'epochs (10) or time (30s, 5m; default: 60s)',
      interval,
    )
    .option('--resume <folder>', 'go on from the newest checkpoint there; else the same command');
}

function addJobOptions(command: Command): void {
  command
    .optionsGroup('Several processes (mpirun, mpiexec, srun):')
    .addOption(
      new Option(
        '--transport <name>',
        'how workers reach each other (default: mpi under a launcher, else threads)',
      ).choices(['threads', 'mpi']),
    )
    .option('--peer-timeout <seconds>', 'a rank silent for so long is given up', positive, 60);
}

export function addMemoryOptions(command: Command): void {
  command
    .optionsGroup('More data than memory:')
    .option(
      '--memory <size>',
      'take no more than this (500M, 2G), and read .dsob data from disk if need be (default: the machine)',
      bytes,
    )
    .option('--scratch <folder>', 'where to keep the data in the order of training meanwhile');
}

const interval = (text: string): Interval => {
  const [, digits, unit] = /^([0-9]+(?:\.[0-9]+)?)(s|m|h)?$/.exec(text) ?? [];
  const value = Number(digits);
  if (unit === undefined && Number.isInteger(value) && value >= 1) return { epochs: value };
  if (unit !== undefined)
    return { seconds: value * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'] };
  throw new InvalidArgumentError('Wanted a number of epochs (10) or a time (30s, 5m, 1h).');
};

export function addSolverOptions(command: Command): void {
  command
    .optionsGroup('Solver:')
    .addOption(
      new Option('--solver <name>', 'how to solve it (default: auto)').choices([...solverNames]),
    )
    .option('--grid <number>', 'workers of the logical grid (default: by the data)', whole(1))
    .option('--seed <number>', 'of all random choices (default: 1)', whole(0));
  command.optionsGroup('Settings of single solvers:');
  addStepOptions(command);
  command
    .addOption(
      new Option('--mode <name>', 'ring: step over rows or columns').choices(['rows', 'columns']),
    )
    .option(
      '--rotations <number>',
      'ring: rotations per epoch, 1 for slow networks (default: by the data)',
      whole(1),
    )
    .option('--history <number>', 'lbfgs: steps remembered (default: 10)', whole(1))
    .option('--rho <number>', 'admm: weight of the consensus (default: found on the way)', positive)
    .option('--local-passes <number>', 'admm: passes over the rows an epoch (default: 1)', whole(1))
    .option(
      '--inner-tolerance <number>',
      'bmrm: tolerance of its quadratic program (default: a share of the gap)',
      positive,
    )
    .option('--no-shrink', 'dcd: visit every row in every epoch');
}

/** Settings of the solvers that take gradient steps: dso, dso-async, sgd and psgd. */
function addStepOptions(command: Command): void {
  const dsoSettings = [
    'step',
    'stepSize',
    'dualStepSize',
    'svrg',
    'initialize',
    'boxes',
    'average',
  ];
  command
    .addOption(
      new Option(
        '--paper',
        "dso, dso-async: the paper's configuration; by itself it selects dso",
      ).conflicts(dsoSettings),
    )
    .addOption(
      new Option(
        '--step <rule>',
        'dso, dso-async, sgd, psgd: step sizes (default: adagrad)',
      ).choices(['adagrad', 'sqrt']),
    )
    .option('--step-size <number>', 'dso, dso-async, sgd, psgd: step size of the weights', positive)
    .option(
      '--average',
      'dso, dso-async, sgd, psgd: return the average of the iterates (default of sgd, psgd)',
    )
    .option('--no-average', 'sgd, psgd: return the last iterate')
    .option(
      '--dual-step-size <number>',
      'dso, dso-async: step size of the dual variables',
      positive,
    )
    .option('--no-svrg', 'dso, dso-async: without variance reduction')
    .option(
      '--initialize <passes>',
      'dso, dso-async: passes of local descent at the start',
      whole(0),
    )
    .option('--no-boxes', 'dso, dso-async: without the bound on the weights');
}

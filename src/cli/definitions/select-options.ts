import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Scaling } from '../../data/scale.ts';
import type { ClassWeights } from '../../train/class-weights.ts';
import { type MeasureName, measureNames } from '../../train/select/measure.ts';
import { fraction, positive, whole } from '../arguments.ts';
import type { DataFlags } from './data-options.ts';
import type { ProblemFlags, SolverFlags, StoppingFlags } from './train.ts';

/** What the commands that train many models have in common. */
export interface SelectFlags
  extends DataFlags,
    Omit<ProblemFlags, 'loss' | 'penalty' | 'lambda' | 'l1Ratio'>,
    SolverFlags,
    StoppingFlags {
  readonly lambda?: readonly number[];
  readonly count?: number;
  readonly ratio?: number;
  readonly multiLabel?: true;
  readonly classWeight?: ClassWeights;
  readonly scale?: Scaling;
  readonly csv?: string;
  readonly figure?: string;
  readonly json?: true;
  readonly quiet?: true;
}

/** What the commands that cross-validate have in common. */
export interface ValidateFlags extends SelectFlags {
  readonly folds: number;
  readonly metric?: MeasureName;
  readonly choose: 'best' | 'simplest';
  readonly output?: string;
  /** false when --no-refit was given. */
  readonly refit: boolean;
}

/** "a, b" → ['a', 'b'], each once. */
export function names(list: string): string[] {
  const found = list.split(',').map((name) => name.trim());
  if (found.includes('')) throw new InvalidArgumentError('Wanted names, separated by commas.');
  return [...new Set(found)];
}

/** "1, 2" → [1, 2], each once; what a number has to be is for the reader to say. */
export function numbers(reader: (text: string) => number): (list: string) => number[] {
  return (list) => [...new Set(names(list).map(reader))];
}

export function lambdaList(): Option {
  return new Option(
    '--lambda <numbers>',
    'weights of the penalty, as 1e-2,1e-3 (default: by --count and --ratio)',
  )
    .argParser(numbers(positive))
    .conflicts(['count', 'ratio']);
}

export function addPathOptions(command: Command): void {
  command
    .option(
      '--count <number>',
      'so many lambdas, from the largest that makes a difference down (default: 30)',
      whole(1),
    )
    .option(
      '--ratio <fraction>',
      'the smallest lambda as a part of the largest (default: 1e-3 with L1, else 1e-5)',
      fraction,
    );
}

export function addTableOptions(command: Command): void {
  command
    .option('--csv <file>', 'also write the table as CSV')
    .option('--figure <file>', 'also draw it: .svg or .png')
    .option('--json', 'print the result as JSON on standard output')
    .option('--quiet', 'print nothing but errors');
}

export function addValidationOptions(command: Command): void {
  command
    .optionsGroup('Validation:')
    .option('--folds <number>', 'parts that are held out in turn', whole(2), 5)
    .addOption(
      new Option(
        '--metric <name>',
        'what is measured on the rows held out (default: error; in regression mse or loss)',
      ).choices(measureNames),
    )
    .addOption(
      new Option(
        '--choose <rule>',
        'the lambda with the best mean, or the largest within a standard error of it',
      )
        .choices(['best', 'simplest'])
        .default('best'),
    );
}

export function addModelOptions(command: Command): void {
  command
    .option(
      '-o, --output <model>',
      'model trained on all rows with what was chosen (default: <data>.model)',
    )
    .option('--no-refit', 'train no model at the end');
}

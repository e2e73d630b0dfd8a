import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FormatName } from '../../data/fields/options.ts';
import { whole } from '../arguments.ts';

/** How the input is read; the same for every command that reads data. */
export interface DataFlags {
  readonly format?: FormatName;
  readonly label?: string;
  readonly weight?: string;
  readonly categorical?: readonly string[];
  readonly ignore?: readonly string[];
  readonly missing?: 'indicator' | 'zero' | 'error';
  readonly missingValues?: readonly string[];
  readonly hash?: number;
  /** false when --no-header was given. */
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly textLabels?: true;
  readonly zeroBased?: true;
  readonly sumDuplicates?: true;
  readonly threads?: number;
}

/** What decides how data is read; threads do not. */
export const dataFlagNames = [
  'format',
  'label',
  'weight',
  'categorical',
  'ignore',
  'missing',
  'missingValues',
  'hash',
  'header',
  'delimiter',
  'textLabels',
  'zeroBased',
  'sumDuplicates',
] as const satisfies readonly (keyof DataFlags)[];

/** What stands for the argument in the help of every command. */
export const dataArgument =
  'LIBSVM, CSV, TSV, JSON lines, Vowpal Wabbit, Parquet or .dsob,\nalso .gz or .zst; a pattern for several files; - for standard input';

/** What the formats are called on the command line. */
const formats: readonly FormatName[] = ['libsvm', 'csv', 'tsv', 'jsonl', 'vw', 'parquet', 'dsob'];

export function addDataOptions(command: Command): Command {
  return command
    .optionsGroup('Data:')
    .addOption(
      new Option(
        '--format <name>',
        'what the data is (default: by its name, else by its first line)',
      ).choices(formats),
    )
    .option(
      '--label <column>',
      'the column or key with the label, by name or by number from 1\n' +
        '(default: label, target, class or y)',
    )
    .option('--weight <column>', 'the same for weights of rows (default: weight, if there is one)')
    .option('--categorical <columns>', 'columns of categories that look like numbers', list)
    .option('--ignore <columns>', 'columns to leave out', list)
    .addOption(
      new Option(
        '--missing <way>',
        'what a missing value is: a feature of its own, 0 or an error\n(default: indicator)',
      ).choices(['indicator', 'zero', 'error']),
    )
    .option('--missing-values <texts>', 'further texts for a missing value, such as -999', list)
    .option('--hash <bits>', 'columns are hashes of names, of so many bits', whole(1))
    .option('--no-header', 'CSV without a line of names: columns are c1, c2, …')
    .option(
      '--delimiter <character>',
      'what separates the values of CSV (tab for a tab)',
      delimiter,
    )
    .option('--text-labels', 'labels are texts, even if they look like numbers')
    .option('--zero-based', 'the first feature of LIBSVM text has index 0 (default: 1)')
    .option('--sum-duplicates', 'add up a feature that a row repeats (default: an error)')
    .option('--threads <number>', 'worker threads (default: all cores)', whole(1));
}

/** Names with commas between them; given twice, both count. */
function list(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('Wanted names with commas between them.');
  return [...before, ...names];
}

function delimiter(text: string): string {
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (character.length === 1 && !/["\r\n]/.test(character)) return character;
  throw new InvalidArgumentError('Wanted one character, or the word tab.');
}

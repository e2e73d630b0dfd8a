/** Options that say how data is read; the same for every command that reads data. */
import { formatNames } from '../../data/fields/options.ts';
import { flag, optionsWith, toggle } from './option.ts';
import { choice, columns, type OptionType, text, whole } from './types.ts';

const delimiter: OptionType<string> = {
  expected: 'one character, or the word tab',
  accepts: (value) => typeof value === 'string' && /^[^"\r\n]$/.test(value),
  parse(given) {
    const character = given === 'tab' || given === '\\t' ? '\t' : given;
    return /^[^"\r\n]$/.test(character) ? character : undefined;
  },
};

export const dataOptions = optionsWith({ group: 'data', affectsModel: true, progressive: true })({
  format: flag('--format <name>', choice(formatNames), {
    help: `format of the data: ${formatNames.join(', ')} (default: by file name, else by first line)`,
  }),
  label: flag('--label <column>', text, {
    common: true,
    help: 'label column (default: label, target, class or y)',
    doc: 'the column or key with the label: its name, or in tables its number from 1',
    defaultDoc: '`label`, `target`, `class` or `y`',
  }),
  weight: flag('--weight <column>', text, {
    help: 'column with row weights (default: weight, if present)',
    defaultDoc: '`weight`, if present',
  }),
  categorical: flag('--categorical <columns>', columns, {
    help: 'columns with categories that look like numbers',
    defaultDoc: 'columns with other values than numbers',
  }),
  ignore: flag('--ignore <columns>', columns, { help: 'columns to leave out' }),
  keep: flag('--keep <columns>', columns, {
    help: 'columns to keep, though they differ in every row',
    doc: 'columns to keep, though they [differ in every row](data.md#csv-and-tsv)',
    defaultDoc: 'such columns of CSV and TSV are left out',
  }),
  missing: flag('--missing <way>', choice(['indicator', 'zero', 'error']), {
    help: 'missing values: indicator (a feature of their own), zero or error (default: indicator)',
  }),
  missingValues: flag('--missing-values <texts>', columns, {
    help: 'further texts that mean a missing value, such as -999',
    defaultDoc: '[these](data.md#csv-and-tsv)',
  }),
  hash: flag('--hash <bits>', whole(1, 30), {
    library: 'hashBits',
    help: 'hash feature names into 2^BITS columns, 1 to 30 bits',
    defaultDoc: 'a column for every name',
  }),
  header: toggle('--no-header', {
    help: 'CSV has no line of names: columns are c1, c2, …',
    defaultDoc: 'the first line has names',
  }),
  delimiter: flag('--delimiter <character>', delimiter, {
    help: 'character between the values of CSV (tab for a tab)',
    defaultDoc: 'comma, tab or semicolon, by the first line',
  }),
  textLabels: toggle('--text-labels', {
    help: 'labels are texts, even if they look like numbers; rows may have none',
    defaultDoc: 'texts as soon as one is no number',
  }),
  zeroBased: toggle('--zero-based', {
    help: 'the first feature of LIBSVM text has index 0 (default: 1)',
  }),
  sumDuplicates: toggle('--sum-duplicates', {
    help: 'add up a feature that a row repeats (default: an error)',
  }),
});

export const threadsOption = {
  threads: flag('--threads <number>', whole(1, 1024), {
    group: 'data',
    common: true,
    help: 'worker threads (default: all cores)',
    doc: 'threads for reading and training, 1 to 1024; at most the workers of the grid train; never changes the result',
  }),
};

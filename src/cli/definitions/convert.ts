import type { Command } from 'commander';
import { Option } from 'commander';
import type { DataFlags } from './data-options.ts';
import { addDataOptions, dataArgument } from './data-options.ts';

export interface ConvertFlags extends DataFlags {
  readonly output?: string;
  readonly to?: 'dsob' | 'text';
  readonly values?: 'float32' | 'float64' | 'auto';
  readonly pack?: true;
  readonly names?: string;
  readonly info?: true;
  readonly json?: true;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso convert train.svm.gz -o train.dsob             once; then dso train train.dsob
  dso convert train.dsob -o train.svm                back to text
  dso convert --info train.dsob                      check it and say what is in it
  zcat part-*.gz | dso convert - -o all.dsob --pack  in one pass, with small indices`;

export function defineConvert(
  program: Command,
  run: (data: string, flags: ConvertFlags) => Promise<void>,
): void {
  const command = program
    .command('convert')
    .summary('write data in a binary format, or back as text')
    .description(
      'Write data as .dsob, which is read at the speed of the disk, or back as text. Any size\n' +
        'of data is converted in little memory.',
    )
    .argument('<data>', dataArgument)
    .addHelpText('after', examples)
    .option('-o, --output <file>', 'where to write; - for standard output')
    .addOption(
      new Option(
        '--to <format>',
        'what to write (default: dsob if the name ends so, else text)',
      ).choices(['dsob', 'text']),
    )
    .addOption(
      new Option(
        '--values <type>',
        'how values are stored (default: float32, as training does)',
      ).choices(['float32', 'float64', 'auto']),
    )
    .option('--pack', 'store distances of indices in as few bytes as they need')
    .option(
      '--names <file>',
      'names of the features, line n for feature n: to store; from .dsob\n' +
        'to text: where they go',
    )
    .addOption(new Option('--info', 'check the data and say what is in it').conflicts('output'))
    .option('--json', 'with --info: print JSON')
    .option('--quiet', 'print nothing but errors')
    .action((data: string, flags: ConvertFlags) => run(data, flags));
  addDataOptions(command);
}

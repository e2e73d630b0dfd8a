import type { Command } from 'commander';
import type { DataFlags } from './data-options.ts';
import { addDataOptions, dataArgument } from './data-options.ts';

export interface ReportFlags extends DataFlags {
  readonly sql?: string;
  readonly json?: true;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso report train.svm
  dso report 'part-*.parquet' --label clicked --json | jq .constantColumns
  dso report --sql "select * from 'a.parquet' join 'b.csv' using (id)" --ignore id`;

export function defineReport(
  program: Command,
  run: (data: string | undefined, flags: ReportFlags) => Promise<void>,
): void {
  const command = program
    .command('report')
    .summary('look data over before training')
    .description(
      'Show sizes, labels and weights of data, and what may be wrong with it: empty,\n' +
        'equal and contradictory rows, empty, constant and equal features, uneven scales.',
    )
    .argument('[data]', dataArgument)
    .addHelpText('after', examples)
    .option('--sql <query>', 'look at the rows of a query, run by DuckDB, in place of <data>')
    .option('--json', 'print JSON')
    .option('--quiet', 'print no notes')
    .action((data: string | undefined, flags: ReportFlags) => run(data, flags));
  addDataOptions(command);
}

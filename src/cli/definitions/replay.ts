import type { Command } from 'commander';
import { whole } from '../arguments.ts';

export interface ReplayFlags {
  readonly output?: string;
  readonly threads?: number;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso train train.svm --solver dso-async -o a.model     also writes a.model.visits
  dso replay a.model.visits train.svm                   the same visits, one after the other
  dso replay a.model.visits train.svm -o again.model && cmp a.model again.model`;

export function defineReplay(
  program: Command,
  run: (visits: string, data: string, flags: ReplayFlags) => Promise<void>,
): void {
  program
    .command('replay')
    .summary('re-run an asynchronous training serially, bit for bit')
    .description(
      'An asynchronous run (--solver dso-async) depends on timing, but some serial\n' +
        'order of its block visits has the same result, and the run recorded it. replay\n' +
        'makes these visits one after the other and says whether the same model came\n' +
        'out: exit code 0 if it did, 1 if not, with the first epoch that differs.',
    )
    .argument('<visits>', 'record of an asynchronous run')
    .argument('<data>', 'the data it was trained on; - for standard input')
    .addHelpText('after', examples)
    .option('-o, --output <model>', 'write the model of the replay')
    .option('--threads <number>', 'threads for reading the data (default: all cores)', whole(1))
    .option('--quiet', 'print nothing but errors')
    .action((visits: string, data: string, flags: ReplayFlags) => run(visits, data, flags));
}

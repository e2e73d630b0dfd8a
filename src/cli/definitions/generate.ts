import type { Command } from 'commander';
import { Option } from 'commander';
import type { ShapeName } from '../../data/shapes.ts';
import { shapeNames } from '../../data/shapes.ts';
import { positive, whole } from '../arguments.ts';

export interface GenerateFlags {
  readonly like: ShapeName;
  readonly scale: number;
  readonly seed: number;
  readonly output?: string;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso generate --like real-sim                    real-sim.train.svm and real-sim.test.svm
  dso generate --like webspam --scale 0.01 -o /data/spam`;

export function defineGenerate(
  program: Command,
  run: (flags: GenerateFlags) => Promise<void>,
): void {
  program
    .command('generate')
    .summary('write artificial data')
    .description("Write artificial data with the shape of one of the paper's data sets.")
    .addHelpText('after', examples)
    .addOption(
      new Option('--like <name>', 'whose rows, columns and density to imitate')
        .choices([...shapeNames])
        .makeOptionMandatory(),
    )
    .option('--scale <number>', 'rows as a part of the original', positive, 1)
    .option('--seed <number>', 'of all random choices', whole(0), 1)
    .option('-o, --output <prefix>', 'writes <prefix>.train.svm and <prefix>.test.svm')
    .option('--quiet', 'print nothing but errors')
    .action((flags: GenerateFlags) => run(flags));
}

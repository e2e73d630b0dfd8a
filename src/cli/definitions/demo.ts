import type { Command } from 'commander';
import { positive, whole } from '../arguments.ts';

export interface DemoFlags {
  readonly scale: number;
  readonly threads?: number;
}

export function defineDemo(
  program: Command,
  run: (folder: string, flags: DemoFlags) => Promise<void>,
): void {
  program
    .command('demo')
    .summary('generate a sample, train on it and evaluate')
    .description("Generate data shaped like the paper's real-sim, train an SVM and evaluate it.")
    .argument('[folder]', 'where to write the sample, the model and the report', '.cache/demo')
    .option('--scale <number>', 'rows as a part of real-sim', positive, 1)
    .option('--threads <number>', 'worker threads (default: all cores)', whole(1))
    .action((folder: string, flags: DemoFlags) => run(folder, flags));
}

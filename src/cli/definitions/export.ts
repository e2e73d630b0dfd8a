import type { Command } from 'commander';
import { Option } from 'commander';
import { type ExportFormat, exportFormats } from '../../export/formats.ts';

export interface ExportFlags {
  readonly to: ExportFormat;
  readonly output?: string;
  readonly quiet?: true;
}

const examples = `
Examples:
  dso export spam.model --to onnx -o spam.onnx
  dso export spam.model --to liblinear -o spam.liblinear
  dso export spam.model --to csv | sort -t, -k4 -g | tail`;

export function defineExport(
  program: Command,
  run: (model: string, flags: ExportFlags) => Promise<void>,
): void {
  program
    .command('export')
    .summary('write a model for other programs')
    .description('Write a model in the format of another program.')
    .argument('<model>', 'model file; - for standard input')
    .addHelpText('after', examples)
    .addOption(
      new Option('--to <format>', 'what to write').choices(exportFormats).makeOptionMandatory(),
    )
    .option('-o, --output <file>', 'where to write (default: standard output)')
    .option('--quiet', 'print no notes')
    .action((model: string, flags: ExportFlags) => run(model, flags));
}

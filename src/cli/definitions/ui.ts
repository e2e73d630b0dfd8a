import type { Command } from 'commander';
import { usualFolder } from '../../reporting/records/folder.ts';
import { port } from '../arguments.ts';

export interface UiFlags {
  readonly port: number;
  /** false when --no-open was given. */
  readonly open: boolean;
}

const examples = `
Examples:
  dso ui                                   the runs of this folder
  dso ui ../other/.dso/runs --no-open      of another one; prints the address only
  dso ui --port 7007                       an address that an SSH tunnel can be set up for

The page shows runs that are recorded there by "dso train", also while they go on, and can stop them.
It is served to this machine only, under an address with a random token; Ctrl-C ends it.`;

export function defineUi(
  program: Command,
  run: (folder: string, flags: UiFlags) => Promise<void>,
): void {
  program
    .command('ui')
    .summary('show runs in the browser, live and over one another')
    .description(
      'Show recorded runs in the browser: curves, blocks and workers, live and compared.',
    )
    .argument('[folder]', 'folder with the records', usualFolder)
    .addHelpText('after', examples)
    .option('--port <number>', 'port to listen on; 0: any that is free', port, 0)
    .option('--no-open', 'do not open a browser')
    .action((folder: string, flags: UiFlags) => run(folder, flags));
}

import { statSync } from 'node:fs';
import packageDescription from '../../../package.json' with { type: 'json' };
import { showPage } from '../../apps/cli/browser.ts';
import { Dashboard } from '../../dashboard/dashboard.ts';
import { UsageError } from '../../errors.ts';
import type { UiFlags } from '../definitions/ui.ts';
import { exitCodes } from '../exit-codes.ts';
import { onceEach } from '../once-each.ts';
import { trainInto } from '../record-hint.ts';
import { stopSignal } from '../stop-signal.ts';
import type { Terminal } from '../terminal.ts';

export async function uiCommand(
  folder: string,
  flags: UiFlags,
  terminal: Terminal,
): Promise<number> {
  const exists = isFolder(folder);
  const { version } = packageDescription;
  const onFailure = onceEach((message) => terminal.error(message));
  const dashboard = new Dashboard({ folder, port: flags.port, version, onFailure });
  const url = await dashboard.listen();
  const stopped = stopSignal(terminal);
  await terminal.print(`${url}\n`);
  if (!exists) {
    terminal.say(
      `${folder} is not there yet: "dso ${trainInto(folder)}" makes it and keeps a record of every run in it ` +
        '(unless told --no-record). Runs appear on the page as they begin.',
    );
  }
  if (flags.open) await showPage(dashboard.entrance(), terminal);
  if (terminal.live) terminal.say('Ctrl-C ends it.');
  await stopped;
  await dashboard.close('dso ui has ended');
  return exitCodes.done;
}

function isFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) {
    throw new UsageError(`${path}: not a folder; wanted the one with the records of runs`);
  }
  return found !== undefined;
}

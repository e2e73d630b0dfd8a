import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import packageDescription from '../../../../package.json' with { type: 'json' };
import { DsoError, UsageError } from '../../../errors.ts';
import { asciiOnly } from '../../../reporting/charts/text.ts';
import { lineText, plural, visibleText } from '../../../reporting/format.ts';
import { defaultFolder, recordPath } from '../../../reporting/records/folder.ts';
import { shellWord, statusText } from '../../../reporting/records/labels.ts';
import type { RunSummary } from '../../../reporting/records/record.ts';
import {
  findRun,
  readFolder,
  readRun,
  readSummary,
  requestStop,
} from '../../../reporting/records/store.ts';
import { runText } from '../../../reporting/text/run.ts';
import { runTable } from '../../../reporting/text/run-table.ts';
import { Dashboard } from '../../dashboard/server.ts';
import { showPage } from '../browser.ts';
import type { Action, Invocation } from '../command.ts';
import { stopSignal, withProgress } from '../interrupts.ts';
import type { RunListFlags, RunShowFlags, RunStopFlags, UiFlags } from '../options.ts';
import { onceEach } from '../terminal.ts';

/** The command, after the name of the program, whose runs are recorded in a folder. */
export function recordHint(folder: string): string {
  return folder === defaultFolder ? 'train' : `train --runs ${shellWord(folder)}`;
}

export const listRunsCommand: Action<RunListFlags> = async ({ flags, terminal }, word) => {
  if (word !== undefined) {
    throw new UsageError(`runs ${word}: expected show or stop, or no further word`);
  }
  const { runs: folder = defaultFolder, number = 20, all, json } = flags;
  const { runs: found, damaged } = readFolder(folder);
  for (const id of damaged) {
    terminal.note(`${recordPath(folder, id)} cannot be read: its first line is damaged`);
  }
  const shown = all ? found : found.slice(0, number);
  const { stdout, command } = terminal.io;
  if (json) await terminal.printJson(shown);
  else if (found.length === 0) {
    terminal.say(
      `no runs in ${visibleText(folder)}; "${command} ${recordHint(folder)}" records one there`,
    );
  } else {
    const lines = runTable(shown, {
      width: stdout.isTTY ? (stdout.columns ?? 80) : Infinity,
      colours: terminal.outputColours,
      now: new Date(),
      ids: found.map(({ id }) => id),
    });
    await terminal.print(`${lines.join('\n')}\n`);
    const rest = found.length - shown.length;
    if (rest > 0) terminal.say(`and ${plural(rest, 'earlier run')}: --all lists them`);
  }
};

/** Points of a curve, more than a terminal has dots. */
const points = 1000;

export const showRunCommand: Action<RunShowFlags> = async ({ flags, terminal }, run) => {
  const { runs: folder = defaultFolder, vector, json, over } = flags;
  const id = findRun(folder, run);
  const detail = readRun(folder, id, {
    ...(!json && { points }),
    ...(vector !== undefined && { vector: vector - 1 }),
  });
  const { vectors = 1 } = detail.summary.begin ?? {};
  if (vector !== undefined && vector > vectors) {
    throw new UsageError(
      `--vector ${vector}: run ${id} has ${plural(vectors, 'vector')} of weights`,
    );
  }
  const { stdout, environment } = terminal.io;
  const options = {
    width: stdout.isTTY ? (stdout.columns ?? 80) : 80,
    colours: terminal.outputColours,
    ascii: asciiOnly(environment),
    now: new Date(),
    folder,
    over,
  };
  await terminal.printResult(json, detail, () => runText(detail, options));
};

/** Milliseconds: how long to wait for the end, and between two checks. */
const defaultTimeout = { all: 30_000, step: 200 };

export const stopRunCommand: Action<RunStopFlags> = (invocation, run) => stopRun(invocation, run);

export async function stopRun(
  { flags, terminal }: Pick<Invocation<RunStopFlags>, 'flags' | 'terminal'>,
  run: string,
  timeout = defaultTimeout,
): Promise<undefined> {
  const { runs: folder = defaultFolder, json } = flags;
  const id = findRun(folder, run);
  if (!requestStop(folder, id)) {
    const state = statusText(summaryOf(folder, id));
    throw new DsoError('failure', `run ${id} is not running (${state})`);
  }
  const after = await withProgress(terminal, {}, async (progress) => {
    progress.stage(`waiting for the end of ${id}`);
    const deadline = performance.now() + timeout.all;
    let summary = summaryOf(folder, id);
    while (summary.status === 'running' && performance.now() < deadline) {
      await pause(timeout.step);
      summary = summaryOf(folder, id);
    }
    return summary;
  });
  if (json) await terminal.printJson(after);
  if (after.status === 'running') {
    throw new DsoError(
      'failure',
      `run ${id} was asked to stop and still runs; it may be reading, or on another machine`,
    );
  }
  if (after.status !== 'done') {
    throw new DsoError('failure', `run ${id} has ended without a model: ${statusText(after)}`);
  }
  if (!json) terminal.say(`run ${id} has ended; its model is in ${modelOf(after)}`);
}

function summaryOf(folder: string, id: string): RunSummary {
  const summary = readSummary(folder, id);
  if (!summary) throw new DsoError('failure', `the record of run ${id} is gone from ${folder}`);
  return summary;
}

function modelOf({ start, result }: RunSummary): string {
  const path = result?.model ?? start.model;
  return path === '-' ? 'its standard output' : lineText(path);
}

export const uiCommand: Action<UiFlags> = async ({ flags, terminal }, folder) => {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) {
    throw new UsageError(`${folder}: not a folder; expected the one with the records of runs`);
  }
  const { version } = packageDescription;
  const onFailure = onceEach((message) => terminal.error(message));
  const dashboard = new Dashboard({ folder, port: flags.port, version, onFailure });
  const url = await dashboard.listen();
  const stopped = stopSignal(terminal);
  await terminal.print(`${url}\n`);
  if (!found) {
    terminal.say(
      `${folder} is not there yet: "dso ${recordHint(folder)}" makes it and records every run in it ` +
        '(unless --no-record is given). Runs appear on the page as they begin.',
    );
  }
  if (flags.open) await showPage(dashboard.oneTimeUrl(), terminal);
  if (terminal.live) terminal.say('Ctrl-C ends it.');
  await stopped;
  await dashboard.close('dso ui has ended');
};

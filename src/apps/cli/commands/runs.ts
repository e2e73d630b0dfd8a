import { setTimeout as pause } from 'node:timers/promises';
import type { RunListFlags, RunShowFlags, RunsFlags } from '../../../cli/definitions/runs.ts';
import { exitCodes } from '../../../cli/exit-codes.ts';
import { lineText } from '../../../cli/label-text.ts';
import { trainInto } from '../../../cli/record-hint.ts';
import { describeEnd } from '../../../cli/run-words.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import { DsoError, UsageError } from '../../../errors.ts';
import { asciiOnly } from '../../../reporting/charts/text.ts';
import { plural } from '../../../reporting/format.ts';
import { recordPath, usualFolder } from '../../../reporting/records/folder.ts';
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
import { createProgress } from '../progress.ts';

const usualNumber = 20;

export async function listRunsCommand(flags: RunListFlags, terminal: Terminal): Promise<number> {
  const { runs: folder = usualFolder, number = usualNumber, all, json } = flags;
  const { runs: found, damaged } = readFolder(folder);
  for (const id of damaged) {
    terminal.say(`note: ${recordPath(folder, id)} cannot be read: its first line is damaged`);
  }
  const shown = all ? found : found.slice(0, number);
  if (json) {
    await terminal.print(`${JSON.stringify(shown)}\n`);
    return exitCodes.done;
  }
  if (found.length === 0) {
    const { command } = terminal.io;
    terminal.say(`no runs in ${folder}; "${command} ${trainInto(folder)}" records one there`);
    return exitCodes.done;
  }
  const width = terminal.io.stdout.isTTY ? (terminal.io.stdout.columns ?? 80) : Infinity;
  const lines = runTable(shown, {
    width,
    colours: terminal.outputColours,
    now: new Date(),
    ids: found.map(({ id }) => id),
  });
  await terminal.print(`${lines.join('\n')}\n`);
  const rest = found.length - shown.length;
  if (rest > 0) terminal.say(`and ${plural(rest, 'earlier run')}: --all lists them`);
  return exitCodes.done;
}

/** Points of a curve, more than a terminal has dots. */
const points = 1000;

export async function showRunCommand(
  run: string,
  flags: RunShowFlags,
  terminal: Terminal,
): Promise<number> {
  const { runs: folder = usualFolder, vector, json, over } = flags;
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
  const text = json
    ? JSON.stringify(detail)
    : runText(detail, {
        width: stdout.isTTY ? (stdout.columns ?? 80) : 80,
        colours: terminal.outputColours,
        ascii: asciiOnly(environment),
        now: new Date(),
        folder,
        over,
      });
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}

/** Milliseconds: how long to wait for the end, and from one look to the next. */
export const usualPatience = { all: 30_000, step: 200 };

export async function stopRunCommand(
  run: string,
  flags: RunsFlags,
  terminal: Terminal,
  patience = usualPatience,
): Promise<number> {
  const { runs: folder = usualFolder, json } = flags;
  const id = findRun(folder, run);
  if (!requestStop(folder, id)) {
    const state = describeEnd(summaryOf(folder, id));
    throw new DsoError('failure', `run ${id} does not run: ${state}`);
  }
  const after = await untilEnded(folder, id, terminal, patience);
  if (json) await terminal.print(`${JSON.stringify(after)}\n`);
  if (after.status === 'done') {
    if (!json) terminal.say(`run ${id} has ended; its model is in ${modelOf(after)}`);
    return exitCodes.done;
  }
  if (after.status === 'running') {
    throw new DsoError(
      'failure',
      `run ${id} was asked to stop and still goes on; it may be reading, or on another machine`,
    );
  }
  throw new DsoError('failure', `run ${id} has ended without a model: ${describeEnd(after)}`);
}

async function untilEnded(
  folder: string,
  id: string,
  terminal: Terminal,
  { all, step }: typeof usualPatience,
): Promise<RunSummary> {
  const progress = createProgress(terminal, false);
  const deadline = performance.now() + all;
  try {
    let summary = summaryOf(folder, id);
    while (summary.status === 'running' && performance.now() < deadline) {
      progress.stage(`waiting for the end of ${id}`);
      await pause(step);
      summary = summaryOf(folder, id);
    }
    return summary;
  } finally {
    progress.end();
  }
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

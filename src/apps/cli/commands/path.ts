import { join } from 'node:path';
import { nameOfSource } from '../../../data/read/sources.ts';
import { DsoError, UsageError } from '../../../errors.ts';
import { writeModel } from '../../../model/file.ts';
import { pathChart } from '../../../reporting/charts/selection.ts';
import { penaltyName, plural, visibleText } from '../../../reporting/format.ts';
import {
  lambdaText,
  PathRecord,
  type PathRow,
  pathCsv,
  pathTable,
} from '../../../reporting/text/selection.ts';
import { walkPath } from '../../../train/select/path.ts';
import type { Action } from '../command.ts';
import { makeFolder } from '../files.ts';
import type { PathFlags } from '../options.ts';
import { chooseProblem, type Problem } from '../problem.ts';
import { DataReader } from '../reading.ts';
import { exitCodes } from '../terminal.ts';
import { runSelection, type SelectionCommand, selectionSettings } from './select.ts';

export const pathCommand: Action<PathFlags> = async ({ flags, terminal }, data) => {
  const { output, models, test, holdout } = flags;
  if (output !== undefined && test === undefined && holdout === undefined) {
    throw new UsageError(
      `--output ${output}: the best model is the one with the lowest error on test data; give --test or --holdout (or --models FOLDER to write every model)`,
    );
  }
  const problem = await chooseProblem(flags);
  return runSelection(data, flags, output, terminal, async (command) => {
    if (models !== undefined) makeFolder(models, `--models ${models}`);
    const record = await walk(data, flags, problem, command);
    const { interrupts } = command;
    if (record.rows.length > 0) {
      await show(record, data, flags, problem, command);
      return interrupts.exitCode ?? codeOf(record.rows);
    }
    if (interrupts.exitCode === undefined) {
      throw new DsoError('failure', 'no model was trained in the time given');
    }
    command.say('interrupted before the first model was trained');
    return interrupts.exitCode;
  });
};

async function walk(
  data: string,
  flags: PathFlags,
  problem: Problem,
  { progress, interrupts }: SelectionCommand,
): Promise<PathRecord> {
  const { models } = flags;
  const reader = new DataReader(flags, progress);
  const dataset = await reader.readOrOpen(data);
  const files = await reader.fileOptions(dataset);
  interrupts.defer();
  const record = new PathRecord();
  const stage = 'training the path';
  progress.stage(stage, 0);
  const points = walkPath(dataset, {
    ...problem,
    ...selectionSettings(flags),
    ...files,
    onNotice: (message) => progress.notice(message),
    signal: interrupts.signal,
  });
  for await (const point of points) {
    record.add(point);
    progress.stage(stage, (point.place + 1) / point.count);
    if (models !== undefined) await writeModel(join(models, fileName(point)), point.model);
  }
  return record;
}

/** `01-lambda-0.0312.model`: in the order of the path. */
function fileName({ place, count, lambda }: { place: number; count: number; lambda: number }) {
  const digits = String(count).length;
  return `${String(place + 1).padStart(digits, '0')}-lambda-${lambdaText(lambda)}.model`;
}

async function show(
  record: PathRecord,
  data: string,
  { output, models }: PathFlags,
  { loss, penalty }: Problem,
  command: SelectionCommand,
): Promise<void> {
  const { rows, best } = record;
  if (output !== undefined && best) await writeModel(output, best.model);
  const chosen = best?.row.test ? rows.indexOf(best.row) : -1;
  const title = `${nameOfSource(data)}: ${loss.name} loss, ${penaltyName(penalty)} penalty`;
  await command.show({
    table: () => pathTable(rows, chosen, loss.task, command.terminal.outputColours),
    csv: () => pathCsv(rows),
    figure: () => pathChart(record.traces, record.errors, loss.task, title),
  });
  if (output !== undefined)
    command.say(`model with the lowest test error in ${visibleText(output)}`);
  if (models !== undefined)
    command.say(`${plural(rows.length, 'model')} in ${visibleText(models)}`);
  await command.printJson({
    loss: loss.name,
    penalty: penalty.name,
    interrupted: command.interrupts.exitCode !== undefined,
    path: rows,
    ...(chosen >= 0 && { best: rows[chosen].lambda }),
    ...(output !== undefined && { output }),
    ...(models !== undefined && { models }),
  });
}

/** A model that misses the tolerance gives the exit code of `dso train`. */
function codeOf(rows: readonly PathRow[]): number {
  const isDone = ({ stopped }: PathRow) => stopped === 'converged' || stopped === 'early-stop';
  return rows.every(isDone) ? exitCodes.done : exitCodes.unfinished;
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../../../data/dataset.ts';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { DsoError, UsageError } from '../../../errors.ts';
import { writeModel } from '../../../model/file.ts';
import { errorOf } from '../../../model/metrics/evaluate.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import type { Penalty } from '../../../problem/penalties/index.ts';
import { pathChart } from '../../../reporting/charts/selection.ts';
import {
  type Colours,
  formatCount,
  formatGap,
  formatNumber,
  penaltyName,
  plural,
} from '../../../reporting/format.ts';
import { headedTable } from '../../../reporting/table.ts';
import { PathRecord, type PathRow } from '../../../reporting/text/path.ts';
import { lambdaText, measureText } from '../../../reporting/text/selection.ts';
import { checkNeeds } from '../../../train/options/option.ts';
import { nameOfSource } from '../../../train/read.ts';
import { walkPath } from '../../../train/select/path.ts';
import { type PathFlags, pathOptions } from '../options.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../problem.ts';
import { readOrOpenData } from '../reading.ts';
import {
  checkFiles,
  commonSettings,
  readFactors,
  readTest,
  SelectionCommand,
} from '../selection.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

export async function pathCommand(
  data: string,
  flags: PathFlags,
  terminal: Terminal,
): Promise<number> {
  checkNeeds(pathOptions, flags);
  checkFiles(data, flags, flags.output);
  if (flags.output !== undefined && flags.test === undefined && flags.holdout === undefined) {
    throw new UsageError(
      `--output ${flags.output}: the best model is the one with the lowest error on test data; give --test or --holdout (or --models FOLDER to write every model)`,
    );
  }
  const problem = {
    loss: await chooseLoss(flags),
    penalty: choosePenalty(flags),
    solver: chooseSolver(flags),
  };
  if (flags.models !== undefined) makeFolder(flags.models);
  warmThreads(flags.threads);
  const command = new SelectionCommand(terminal, flags, flags.output);
  try {
    const dataset = await readOrOpenData(data, flags, command.progress);
    const record = await walk(dataset, flags, problem, command);
    if (record.rows.length === 0) {
      if (command.signalCode === undefined) {
        throw new DsoError('failure', 'no model was trained in the time given');
      }
      command.say('interrupted before the first model was trained');
      return command.signalCode;
    }
    const title = `${nameOfSource(data)}: ${problem.loss.name} loss, ${penaltyName(problem.penalty)} penalty`;
    await show(record, flags, problem, command, title);
    return command.signalCode ?? codeOf(record.rows);
  } finally {
    command.close();
  }
}

type Problem = { readonly loss: Loss; readonly penalty: Penalty };

async function walk(
  dataset: Dataset,
  flags: PathFlags,
  problem: Problem,
  { progress, interrupts }: SelectionCommand,
): Promise<PathRecord> {
  const { test: source, models } = flags;
  const test = source === undefined ? undefined : await readTest(source, flags, progress, dataset);
  const factors = await readFactors(flags, dataset);
  interrupts.defer();
  const record = new PathRecord();
  const stage = 'training the path';
  progress.stage(stage, 0);
  const points = walkPath(dataset, {
    ...problem,
    ...commonSettings(flags),
    ...factors,
    ...(test && { test }),
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

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'that is a file' : message;
    throw new UsageError(`--models ${folder}: ${reason}; wanted a folder`, { cause });
  }
}

async function show(
  record: PathRecord,
  flags: PathFlags,
  { loss, penalty }: Problem,
  command: SelectionCommand,
  title: string,
): Promise<void> {
  const { rows, best } = record;
  const { output, models } = flags;
  const isTested = rows[0].test !== undefined;
  if (output !== undefined && best) await writeModel(output, best.model);
  const chosen = isTested && best ? rows.indexOf(best.row) : -1;
  await command.show({
    table: () => pathTable(rows, chosen, loss, command.terminal.outputColours),
    csv: () => pathCsv(rows),
    figure: () => pathChart(record.traces, record.errors, loss.task, title),
  });
  if (output !== undefined) command.say(`model with the lowest test error in ${output}`);
  if (models !== undefined) command.say(`${plural(rows.length, 'model')} in ${models}`);
  await command.printJson({
    loss: loss.name,
    penalty: penalty.name,
    interrupted: command.signalCode !== undefined,
    path: rows,
    ...(chosen >= 0 && { best: rows[chosen].lambda }),
    ...(output !== undefined && { output }),
    ...(models !== undefined && { models }),
  });
}

function pathTable(
  rows: readonly PathRow[],
  chosen: number,
  { task }: Loss,
  colours: Colours,
): string {
  const head = [
    'λ',
    'non-zeros',
    'objective',
    'gap',
    'epochs',
    ...(chosen < 0 ? [] : ['test error']),
  ];
  const lines = rows.map((row, place) => {
    const { lambda, nonzero, primal, relativeGap, epochs, test } = row;
    const cells = [lambdaText(lambda), formatCount(nonzero), formatNumber(primal)];
    const error = test ? [measureText('test', errorOf(test), task)] : [];
    const notes = [
      ...(place === chosen ? ['best'] : []),
      ...(row.stopped === 'converged' ? [] : [row.stopped.replace('-', ' ')]),
    ];
    return [...cells, formatGap(relativeGap), String(epochs), ...error, notes.join(', ')];
  });
  return headedTable({
    head: [...head, ''],
    rows: lines,
    left: (column) => column === head.length,
    isChosen: (row) => row === chosen,
    colours,
  });
}

function pathCsv(rows: readonly PathRow[]): string {
  const columns = [
    'lambda',
    'nonzero',
    'primal',
    'dual',
    'relativeGap',
    'epochs',
    'passes',
  ] as const;
  const head = 'lambda,nonzero,primal,dual,relative_gap,epochs,passes,stopped,test_error';
  const lines = rows.map((row) =>
    [...columns.map((name) => row[name]), row.stopped, row.test ? errorOf(row.test) : ''].join(','),
  );
  return `${[head, ...lines].join('\n')}\n`;
}

/** A model that misses the tolerance gives the exit code of `dso train`. */
function codeOf(rows: readonly PathRow[]): number {
  const isDone = ({ stopped }: PathRow) => stopped === 'converged' || stopped === 'early-stop';
  return rows.every(isDone) ? exitCodes.done : exitCodes.unfinished;
}

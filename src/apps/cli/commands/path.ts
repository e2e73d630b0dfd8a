import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withoutUndefined } from '../../../cli/defined.ts';
import type { PathFlags } from '../../../cli/definitions/path.ts';
import { exitCodes } from '../../../cli/exit-codes.ts';
import { penaltyName } from '../../../cli/penalty-name.ts';
import { chooseLoss, choosePenalty, chooseSolver } from '../../../cli/problem.ts';
import { readOrOpenData } from '../../../cli/reading.ts';
import type { Colours, Terminal } from '../../../cli/terminal.ts';
import type { Dataset } from '../../../data/dataset.ts';
import { DsoError, UsageError } from '../../../errors.ts';
import { writeModel } from '../../../model/file.ts';
import type { Penalty } from '../../../penalties/penalty.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import { pathChart } from '../../../reporting/charts/selection.ts';
import { formatCount, formatGap, formatNumber, plural } from '../../../reporting/format.ts';
import { PathRecord, type PathRow } from '../../../reporting/text/path.ts';
import { alignedTable, lambdaText, measureText } from '../../../reporting/text/selection.ts';
import { nameOfSource } from '../../../train/read-dataset.ts';
import { testErrorOf, walkPath } from '../../../train/select/path.ts';
import { warmThreads } from '../../../train/threads.ts';
import { checkFiles, commonSettings, readFactors, readTest, Scene } from '../selection.ts';

export async function pathCommand(
  data: string,
  { lambda: lambdas, ...flags }: PathFlags,
  terminal: Terminal,
): Promise<number> {
  checkFiles(data, flags, flags.output);
  if (flags.output !== undefined && flags.test === undefined && flags.holdout === undefined) {
    throw new UsageError(
      `--output ${flags.output}: the best model is known by its error on test data; give --test or --holdout (or --models FOLDER for all of them)`,
    );
  }
  const problem = {
    loss: await chooseLoss(flags),
    penalty: choosePenalty(flags),
    solver: chooseSolver(flags),
  };
  if (flags.models !== undefined) makeFolder(flags.models);
  warmThreads(flags.threads);
  const scene = new Scene(terminal, flags, flags.output);
  try {
    const dataset = await readOrOpenData(data, flags, scene.progress);
    const given = { ...flags, ...withoutUndefined({ lambda: lambdas }) };
    const record = await walk(dataset, given, problem, scene);
    if (record.rows.length === 0) {
      if (scene.signalCode === undefined) {
        throw new DsoError('failure', 'no model was trained in the time given');
      }
      scene.say('interrupted before the first model was trained');
      return scene.signalCode;
    }
    const title = `${nameOfSource(data)}: ${problem.loss.name} loss, ${penaltyName(problem.penalty)} penalty`;
    await tell(record, given, problem, scene, title);
    return scene.signalCode ?? codeOf(record.rows);
  } finally {
    scene.close();
  }
}

type Problem = { readonly loss: Loss; readonly penalty: Penalty };

async function walk(
  dataset: Dataset,
  flags: PathFlags,
  problem: Problem,
  { progress, interrupts }: Scene,
): Promise<PathRecord> {
  const { test: source, holdout, earlyStop, memory, scratch, models } = flags;
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
    ...withoutUndefined({ test, holdout, earlyStop, memory, scratch }),
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

async function tell(
  record: PathRecord,
  flags: PathFlags,
  { loss, penalty }: Problem,
  scene: Scene,
  title: string,
): Promise<void> {
  const { rows, best } = record;
  const isTested = rows[0].test !== undefined;
  if (flags.output !== undefined && best) await writeModel(flags.output, best.model);
  const chosen = isTested && best ? rows.indexOf(best.row) : -1;
  await scene.show({
    table: () => pathTable(rows, chosen, loss, scene.terminal.outputColours),
    csv: () => pathCsv(rows),
    figure: () => pathChart(record.traces, record.errors, loss.task, title),
  });
  if (flags.output !== undefined) {
    scene.say(`model with the least error on the test rows in ${flags.output}`);
  }
  if (flags.models !== undefined) {
    scene.say(`${plural(rows.length, 'model')} in ${flags.models}`);
  }
  await scene.printJson({
    loss: loss.name,
    penalty: penalty.name,
    interrupted: scene.signalCode !== undefined,
    path: rows,
    ...(chosen >= 0 && { best: rows[chosen].lambda }),
    ...withoutUndefined({ output: flags.output, models: flags.models }),
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
    const error = test ? [measureText('test', testErrorOf(test), task)] : [];
    const notes = [
      ...(place === chosen ? ['best'] : []),
      ...(row.stopped === 'converged' ? [] : [row.stopped.replace('-', ' ')]),
    ];
    return [...cells, formatGap(relativeGap), String(epochs), ...error, notes.join(', ')];
  });
  return alignedTable([...head, ''], lines, (row) => row === chosen, colours);
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
    [...columns.map((name) => row[name]), row.stopped, row.test ? testErrorOf(row.test) : ''].join(
      ',',
    ),
  );
  return `${[head, ...lines].join('\n')}\n`;
}

/** A model short of the tolerance is told as `dso train` tells it. */
function codeOf(rows: readonly PathRow[]): number {
  const isDone = ({ stopped }: PathRow) => stopped === 'converged' || stopped === 'early-stop';
  return rows.every(isDone) ? exitCodes.done : exitCodes.unfinished;
}

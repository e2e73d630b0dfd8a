/** `dso cv` and `dso search`, and what they share with `dso path`. */
import type { Dataset } from '../../../data/dataset.ts';
import { nameOfSource } from '../../../data/read/sources.ts';
import {
  fairCores,
  gatherValues,
  type ProcessGroup,
} from '../../../engine/processes/process-group.ts';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { writeModel } from '../../../model/file.ts';
import { penaltyEntry } from '../../../problem/penalties/index.ts';
import { searchChart, validationChart } from '../../../reporting/charts/selection.ts';
import { penaltyName, plural } from '../../../reporting/format.ts';
import {
  incompleteNote,
  searchCsv,
  searchTable,
  validationCsv,
  validationJson,
  validationTable,
} from '../../../reporting/text/selection.ts';
import { summarize } from '../../../reporting/text/summary.ts';
import { libraryOptions } from '../../../train/options/index.ts';
import { libraryValues, omit } from '../../../train/options/option.ts';
import type { TrainOptions, TrainReport } from '../../../train/options/options.ts';
import { lambdaOptions } from '../../../train/options/problem.ts';
import {
  crossValidateInGroup,
  type ValidateOptions,
  type Validation,
} from '../../../train/select/cross-validate.ts';
import { type Search, searchInGroup } from '../../../train/select/search.ts';
import { train } from '../../../train/train.ts';
import type { Action } from '../command.ts';
import { checkFigure, writeFigure } from '../figures.ts';
import { checkFiles, defaultModelPath, savedModel, standardStream, writePieces } from '../files.ts';
import { type Interrupts, withProgress } from '../interrupts.ts';
import { openProcessGroup, settingsOfRanks } from '../job.ts';
import {
  type CvFlags,
  cvOptions,
  type SearchFlags,
  type SelectFlags,
  searchOptions,
} from '../options.ts';
import { chooseLosses, choosePenalties, chooseProblem, chooseSolver } from '../problem.ts';
import type { Progress } from '../progress.ts';
import { DataReader } from '../reading.ts';
import { exitCodeOfStop, exitCodes, type Terminal } from '../terminal.ts';

/**
 * Runs the work of `dso path`, `dso cv` or `dso search`, which reads `data` and writes the `model`,
 * if it writes one.
 */
export function runSelection(
  data: string,
  flags: SelectFlags & { readonly test?: string },
  model: string | undefined,
  terminal: Terminal,
  work: (command: SelectionCommand) => Promise<number>,
): Promise<number> {
  const { test, penaltyFactors, csv, figure, json, threads } = flags;
  checkFigure(figure);
  const outputs = { '--output': model, '--csv': csv, '--figure': figure };
  checkFiles([data, test, penaltyFactors], outputs, json);
  warmThreads(threads);
  const stopping = 'stopping, to show what is known; Ctrl-C again quits at once';
  const shown = { ...flags, lines: 'no epochs', stopping } as const;
  const usesOutput = [model, csv].includes(standardStream);
  return withProgress(terminal, shown, (progress, interrupts) =>
    work({ progress, interrupts, ...selectionOutput(flags, usesOutput, progress, terminal) }),
  );
}

export type SelectionCommand = ReturnType<typeof selectionOutput> & {
  readonly progress: Progress;
  readonly interrupts: Interrupts;
};

function selectionOutput(
  { csv, figure, json, quiet }: SelectFlags,
  usesOutput: boolean,
  progress: Progress,
  terminal: Terminal,
) {
  return {
    terminal,
    /** Writes the figure and the CSV, and shows the table. */
    async show(result: { table(): string; csv(): string; figure(): string }): Promise<void> {
      progress.end();
      if (figure !== undefined) await writeFigure(figure, result.figure(), terminal);
      if (csv !== undefined) await writePieces(csv, [result.csv()], terminal);
      if (json || quiet) return;
      if (usesOutput) terminal.say(result.table());
      else await terminal.print(`${result.table()}\n`);
    },
    async printJson(result: unknown): Promise<void> {
      if (json) await terminal.printJson(result);
    },
    say(line: string): void {
      if (!quiet) terminal.say(line);
    },
  };
}

function trainingSettings(flags: SelectFlags) {
  return libraryValues(omit(libraryOptions, 'lambda'), flags);
}

export function selectionSettings(flags: SelectFlags) {
  return { ...trainingSettings(flags), ...libraryValues(lambdaOptions, flags) };
}

/** How `dso cv` and `dso search` differ. */
interface Selection<Found extends { readonly complete: boolean }> {
  readonly stage: string;
  readonly find: (dataset: Dataset, options: CommonOptions) => Promise<Found>;
  readonly show: (found: Found, command: SelectionCommand) => Promise<void>;
  readonly json: (found: Found) => object;
  /** What the final model is trained with. */
  readonly chosen: (found: Found) => Required<Pick<TrainOptions, 'loss' | 'penalty' | 'lambda'>>;
}

type CommonOptions = Omit<ValidateOptions, 'loss' | 'penalty' | 'onFit'> & {
  readonly onFraction: (fraction: number) => void;
};

/** Of several ranks, rank 0 alone prints, writes and trains the model that is chosen. */
function flagsOfRank<Flags extends CvFlags | SearchFlags>(
  flags: Flags,
  group: ProcessGroup,
): Flags {
  if (group.size === 1) return flags;
  const shared = { threads: fairCores(group), ...flags };
  if (group.leads) return shared;
  const silent = omit(shared, 'json', 'csv', 'figure', 'output') as Flags;
  return { ...silent, quiet: true, refit: false };
}

function select<Found extends { readonly complete: boolean }>(
  data: string,
  given: CvFlags | SearchFlags,
  terminal: Terminal,
  group: ProcessGroup,
  selection: Selection<Found>,
): Promise<number> {
  const flags = flagsOfRank(given, group);
  const model = flags.refit ? (flags.output ?? defaultModelPath(data)) : undefined;
  const solver = chooseSolver(flags);
  return runSelection(data, flags, model, terminal, async (command) => {
    const { progress, interrupts } = command;
    const started = performance.now();
    const reader = new DataReader(flags, progress, group);
    const dataset = await reader.readEverywhere(data);
    const options = { solver, ...(await reader.fileOptions(dataset)) };
    const read = (performance.now() - started) / 1000;
    const { folds, metric } = flags;
    interrupts.defer();
    progress.stage(selection.stage, 0);
    const work = selection.find(dataset, {
      ...options,
      ...selectionSettings(flags),
      folds,
      ...(metric !== undefined && { metric }),
      onFraction: (fraction) => progress.stage(selection.stage, fraction),
      onNotice: (message) => progress.notice(message),
      signal: interrupts.signal,
    });
    const found = await work.catch((error: unknown) => {
      if (interrupts.exitCode === undefined) throw error;
    });
    if (!found) {
      progress.end();
      command.say('interrupted before anything was measured');
      return interrupts.exitCode ?? exitCodes.failure;
    }
    // The signal of any rank has left something out.
    const signals = await gatherValues(group, interrupts.exitCode ?? exitCodes.done);
    const interrupted = signals.find((code) => code !== exitCodes.done);
    const refitted = { ...options, ...trainingSettings(flags), ...selection.chosen(found) };
    const finish = async () => {
      await selection.show(found, command);
      const result = { ...selection.json(found), folds };
      if (interrupted !== undefined || model === undefined) {
        await command.printJson(result);
        return interrupted ?? (found.complete ? exitCodes.done : exitCodes.unfinished);
      }
      const { report, code } = await refit(dataset, refitted, model, command, read);
      await command.printJson({ ...result, model, report });
      return code;
    };
    const code = group.leads ? await finish() : exitCodes.done;
    // The others wait here, where a signal does not end them while rank 0 writes the model.
    await gatherValues(group, code);
    return code;
  });
}

/** Trains the chosen model on all rows, as `dso train` would, and writes it. */
async function refit(
  dataset: Dataset,
  options: TrainOptions,
  path: string,
  command: SelectionCommand,
  read: number,
): Promise<{ readonly report: TrainReport; readonly code: number }> {
  const { progress, interrupts, terminal } = command;
  const { loss, tolerance = 1e-3, epochs, time: seconds } = options;
  progress.start(loss?.task ?? 'classification', { tolerance, epochs, seconds });
  const { model, report: trained } = await train(dataset, {
    ...options,
    onEpoch: (event) => progress.epoch(event),
    signal: interrupts.signal,
    consume: true,
  });
  await writeModel(path, model);
  progress.end();
  const total = trained.seconds.total + read;
  const report = { ...trained, seconds: { ...trained.seconds, read, total } };
  command.say(summarize(report, { loss, tolerance }, savedModel(path), terminal.colours));
  return { report, code: exitCodeOfStop(report.stopped, interrupts.received) };
}

export const cvCommand: Action<CvFlags> = async ({ flags, terminal }, data) => {
  const job = await openProcessGroup(flags, settingsOfRanks('cv', cvOptions, flags), terminal);
  return job.run(() => crossValidateFile(data, flags, terminal, job.group));
};

async function crossValidateFile(
  data: string,
  flags: CvFlags,
  terminal: Terminal,
  group: ProcessGroup,
): Promise<number> {
  const { loss, penalty } = await chooseProblem(flags);
  const { choose, folds } = flags;
  return select<Validation>(data, flags, terminal, group, {
    stage: 'cross-validating',
    find(dataset, { onFraction, ...options }) {
      const onFit = (done: number, of: number) => onFraction(done / of);
      return crossValidateInGroup(dataset, { loss, penalty, ...options, onFit }, group);
    },
    async show(validation, command) {
      const title = `${nameOfSource(data)}: ${loss.name} loss, ${penaltyName(penalty)} penalty`;
      await command.show({
        table: () => validationTable(validation, choose, terminal.outputColours),
        csv: () => validationCsv(validation),
        figure: () => validationChart(validation, title),
      });
      for (const note of incompleteNote(validation, folds)) command.say(note);
    },
    json: (validation) => validationJson(validation, choose),
    chosen: (validation) => ({ loss, penalty, lambda: validation[choose].lambda }),
  });
}

export const searchCommand: Action<SearchFlags> = async ({ flags, terminal }, data) => {
  const settings = settingsOfRanks('search', searchOptions, flags);
  const job = await openProcessGroup(flags, settings, terminal);
  return job.run(() => searchFile(data, flags, terminal, job.group));
};

async function searchFile(
  data: string,
  flags: SearchFlags,
  terminal: Terminal,
  group: ProcessGroup,
): Promise<number> {
  const losses = await chooseLosses(flags);
  const penalties = choosePenalties(flags);
  const candidates = losses.length * penalties.length;
  const { choose, folds } = flags;
  return select<Search>(data, flags, terminal, group, {
    stage: 'searching',
    find(dataset, { onFraction, onNotice: _, ...options }) {
      const onFit = (index: number, done: number, of: number) =>
        onFraction((index + done / of) / candidates);
      return searchInGroup(dataset, { ...options, losses, penalties, onFit }, group);
    },
    async show(found, command) {
      await command.show({
        table: () => searchTable(found, choose, terminal.outputColours),
        csv: () => searchCsv(found),
        figure: () => searchChart(found, nameOfSource(data)),
      });
      const missing = candidates - found.ranking.length;
      if (missing > 0) {
        command.say(`incomplete: ${plural(missing, 'candidate')} of ${candidates} left out`);
      }
      for (const note of incompleteNote(found.winner.validation, folds)) command.say(note);
    },
    json: (found) => searchJson(found, choose),
    chosen: ({ winner: { loss, penalty, validation } }) => ({
      loss,
      penalty,
      lambda: validation[choose].lambda,
    }),
  });
}

function searchJson({ metric, complete, ranking }: Search, choose: 'best' | 'simplest') {
  return {
    metric,
    complete,
    ranking: ranking.map(({ loss, penalty, validation }) => ({
      loss: loss.name,
      ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
      penalty: penalty.name,
      ...(penaltyEntry(penalty.name)?.parameters.includes('l1Ratio') && { l1Ratio: penalty.l1 }),
      ...validationJson(validation, choose),
    })),
  };
}

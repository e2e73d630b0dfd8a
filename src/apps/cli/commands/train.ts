import type { Dataset } from '../../../data/dataset.ts';
import { describeQuality, type Quality } from '../../../data/quality/quality.ts';
import { fairCores, singleProcess } from '../../../engine/processes/process-group.ts';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { UsageError } from '../../../errors.ts';
import { dualPath, writeDualPoint } from '../../../model/dual-point.ts';
import { writeModel } from '../../../model/file.ts';
import { visibleText } from '../../../reporting/format.ts';
import { qualityText } from '../../../reporting/text/quality.ts';
import { adviseOnProgress, adviseOnRanks, summarize } from '../../../reporting/text/summary.ts';
import { fewRotations } from '../../../solvers/index.ts';
import { libraryOptions } from '../../../train/options/index.ts';
import { checkSolverOptions, libraryValues, pick } from '../../../train/options/option.ts';
import type { TrainOptions } from '../../../train/options/options.ts';
import { trainInGroup } from '../../../train/train.ts';
import type { Action, Invocation } from '../command.ts';
import { checkFiles, defaultModelPath, savedModel, standardStream } from '../files.ts';
import { Interrupts } from '../interrupts.ts';
import { Job, openProcessGroup, settingsOfRanks } from '../job.ts';
import { RunObservers } from '../observers.ts';
import { type TrainFlags, trainOptions } from '../options.ts';
import { chooseProblem } from '../problem.ts';
import { createProgress, type Progress, quietProgress, silentProgress } from '../progress.ts';
import { chooseSource, DataReader } from '../reading.ts';
import { exitCodeOfStop, exitCodes, type Terminal } from '../terminal.ts';
import { writeVisits } from './replay.ts';

export const trainCommand: Action<TrainFlags> = async (invocation, given) => {
  const { flags, terminal, words } = invocation;
  const settings = settingsOfRanks('train', trainOptions, flags);
  const job = await openProcessGroup(flags, settings, terminal);
  return job.run(async () => {
    if (flags.progressive) return streamAlone(invocation, given, job);
    const data = chooseSource(given, flags.sql);
    const outcome = await trainHere({ data, flags, terminal, job, words });
    if (!outcome) return exitCodes.done;
    await reportOutcome(data, flags, outcome, terminal);
    await outcome.observers?.stay();
    return outcome.code;
  });
};

async function streamAlone(
  invocation: Invocation<TrainFlags>,
  given: string,
  { group }: Job,
): Promise<number> {
  if (group.size > 1) {
    throw new UsageError(
      `--progressive learns one row after the other in one process, and the launcher has started ${group.size}: call it without mpirun, mpiexec or srun`,
    );
  }
  const { streamCommand } = await import('./stream.ts');
  return (await streamCommand(invocation, given)) ?? exitCodes.done;
}

async function reportOutcome(
  data: string,
  flags: TrainFlags,
  { report, loss, path, visits }: TrainOutcome,
  terminal: Terminal,
): Promise<void> {
  if (flags.json) await terminal.printJson(report);
  if (flags.quiet) return;
  terminal.say(
    summarize(report, { loss, tolerance: flags.tolerance }, savedModel(path), terminal.colours),
  );
  const advice = [adviseOnRanks(report, fewRotations), adviseOnProgress(report)];
  for (const one of advice) if (one) terminal.note(one);
  if (visits === undefined) return;
  const [order, input] = [visits, data].map((name) => visibleText(name));
  terminal.say(`block visits in ${order}; dso replay ${order} ${input} repeats them`);
}

type TrainOutcome = NonNullable<Awaited<ReturnType<typeof readAndTrain>>>;

/** What one process of `dso train` is given. */
interface Request extends Pick<Invocation<TrainFlags>, 'flags' | 'terminal'> {
  readonly data: string;
  readonly job: Job;
  /** The command line after `dso`; if given, the run is recorded, and shown by `--ui`. */
  readonly words?: readonly string[];
}

/** What the process works with, from its first check to its last message. */
type Run = Awaited<ReturnType<typeof begin>>;

/** All of `dso train` but its report at the end, in one process and without a record. */
export async function trainAndSave(
  data: string,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<TrainOutcome> {
  const request = { data, flags, terminal, job: new Job(singleProcess) };
  return (await trainHere(request)) as TrainOutcome;
}

/** The same as one of several processes; only rank 0, which writes for all, has a result. */
async function trainHere(request: Request): Promise<TrainOutcome | undefined> {
  const run = await begin(request);
  try {
    return await readAndTrain(run);
  } catch (error) {
    await run.observers?.fail(error as Error);
    throw error;
  } finally {
    run.progress.end();
    // One of several processes has yet to finalize with the others, whatever signal comes meanwhile.
    if (run.job.group.size === 1) run.interrupts.release();
  }
}

const stopping = 'stopping, to write the model reached so far; Ctrl-C again quits at once';

async function begin(request: Request) {
  const started = performance.now();
  const { data, terminal, job, words } = request;
  const { group } = job;
  const path = request.flags.output ?? defaultModelPath(data);
  checkPaths(data, path, request.flags, group.leads);
  const flags = { ...(group.size > 1 && { threads: fairCores(group) }), ...request.flags };
  if (group.size > 1) warmThreads(flags.threads);
  const problem = await chooseProblem(flags);
  checkSolverOptions(pick(trainOptions, 'visits'), flags, flags.solver ?? 'auto');
  const shown = await progressOf(terminal, flags, job);
  const interrupts = new Interrupts(terminal.io, shown, group.leads ? stopping : undefined);
  const run = { ...request, flags, path, problem, interrupts, started };
  const notice = (message: string) => shown.notice(message);
  const observers =
    group.leads && words ? await RunObservers.begin({ ...run, words, notice }) : undefined;
  return { ...run, observers, progress: observers?.watch(shown) ?? shown };
}

/** Refuses files that would overwrite one another, before anything is read. Rank 0 writes them. */
function checkPaths(data: string, path: string, flags: TrainFlags, leads: boolean): void {
  const { sql, test, penaltyFactors, init, log, json } = flags;
  const inputs = [sql === undefined ? data : undefined, test, penaltyFactors, init];
  if (flags.keepDual && path === standardStream) {
    throw new UsageError(
      '--keep-dual writes a file beside the model: name the model with -o MODEL',
    );
  }
  const outputs = {
    '--output': path,
    '--log': log,
    '--visits': visitsPath(flags, path),
    '--keep-dual': flags.keepDual ? dualPath(path) : undefined,
  };
  checkFiles(inputs, leads ? outputs : {}, leads && json);
}

/** Where an asynchronous run is recorded; undefined for other solvers, and for standard output. */
function visitsPath(flags: TrainFlags, model: string): string | undefined {
  if (flags.solver !== 'dso-async') return undefined;
  return flags.visits ?? (model === standardStream ? undefined : `${model}.visits`);
}

async function readAndTrain(run: Run) {
  const { data, path, flags, problem, job, progress, interrupts, observers, started } = run;
  const { group } = job;
  const reader = new DataReader(flags, progress, group);
  const dataset = await reader.training(data);
  const files = await reader.fileOptions(dataset, problem.loss);
  const read = (performance.now() - started) / 1000;
  const quality = flags.report && group.leads ? showQuality(run, dataset) : undefined;
  const { tolerance, epochs, time: seconds } = flags;
  progress.start(problem.loss.task, { tolerance, epochs, seconds });
  interrupts.defer();
  const options = {
    ...problem,
    ...files,
    ...trainSettings(flags),
    ...listeners(run, dataset, read),
    signal: interrupts.signal,
    consume: true,
  };
  const result = await trainInGroup(dataset, options, group, true);
  if (!result) return undefined;
  await writeModel(path, result.model);
  if (result.dual) await writeDualPoint(dualPath(path), result.model, result.dual, path);
  job.recoveryHint = () => `the model is complete, in ${path}`;
  const visits = visitsPath(flags, path);
  if (visits !== undefined) await writeVisits(visits, result, flags);
  const total = (performance.now() - started) / 1000;
  const times = { ...result.report.seconds, read, total };
  const report = { ...result.report, seconds: times, ...(quality && { quality }) };
  // Another rank may have got the signal, and from a launcher rather than from a person.
  const signal = interrupts.received ?? (group.size > 1 ? 'SIGTERM' : undefined);
  const code = exitCodeOfStop(report.stopped, signal);
  const { loss } = problem;
  return { report, loss, path, visits, code: observers?.end(report, code) ?? code, observers };
}

/** The options that the library has too, but for those that are read from files. */
function trainSettings(flags: TrainFlags): TrainOptions {
  const { calibrate: method, calibrateFolds: folds } = flags;
  const { checkpoint: folder, checkpointEvery: every } = flags;
  return {
    ...libraryValues(libraryOptions, flags),
    ...(flags.keepDual && { keepDual: true }),
    ...(method && { calibrate: { method, ...(folds !== undefined && { folds }) } }),
    ...(folder !== undefined && { checkpoint: { folder, ...(every && { every }) } }),
  };
}

function showQuality({ flags, progress, terminal }: Run, dataset: Dataset): Quality {
  const quality = describeQuality(dataset);
  if (!flags.quiet) {
    progress.end();
    const { colours } = terminal;
    terminal.say(qualityText(quality, { colours, firstFeature: flags.zeroBased ? 0 : 1 }));
  }
  return quality;
}

/** Reports events to the terminal, the record, the log and the page. */
function listeners(run: Run, dataset: Dataset, read: number): TrainOptions {
  const { flags, job, progress, observers, words } = run;
  const first = flags.zeroBased ? 0 : 1;
  const nameOf = (column: number) => dataset.featureNames?.[column] ?? String(column + first);
  let saved: number | undefined;
  job.recoveryHint = () => describeSaved(flags, saved);
  return {
    onBegin: (event) => observers?.begin(event, read),
    onEpoch(event) {
      progress.epoch(event);
      observers?.epoch(event);
    },
    // All processes send theirs to the first one, so all of them must take samples.
    ...(words && { onSample: (event) => observers?.sample(event, nameOf) }),
    onCheckpoint(epoch) {
      saved = epoch;
    },
    onNotice: (message, warning) => progress.notice(message, warning),
  };
}

/** Rank 0 shows progress; the others show only warnings about themselves. */
async function progressOf(terminal: Terminal, flags: TrainFlags, job: Job): Promise<Progress> {
  const quiet = flags.quiet ?? false;
  const { group } = job;
  if (!group.leads) {
    const name = group.nameOf(group.rank);
    const notice = (message: string) => terminal.say(`${name}: ${message}`);
    return quiet ? quietProgress(notice) : { ...silentProgress, notice };
  }
  const progress = createProgress(terminal, quiet);
  if (!flags.chart || quiet) return progress;
  const { chartProgress } = await import('../chart-progress.ts');
  return chartProgress(terminal, progress);
}

/** How to continue if training cannot finish. */
function describeSaved({ checkpoint, resume }: TrainFlags, epoch: number | undefined): string {
  if (checkpoint !== undefined && epoch !== undefined) {
    return `epoch ${epoch} is saved in ${checkpoint}: the same command with --resume ${checkpoint} continues from there`;
  }
  if (resume !== undefined) {
    return 'nothing new was saved: the same command resumes where this one did';
  }
  return checkpoint === undefined
    ? 'nothing was saved: use --checkpoint to be able to resume'
    : `nothing had been saved in ${checkpoint} yet`;
}

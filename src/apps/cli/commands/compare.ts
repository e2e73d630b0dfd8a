import { existsSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { UsageError } from '../../../errors.ts';
import {
  formatGap,
  formatNumber,
  formatPercent,
  formatSeconds,
  plural,
  visibleText,
} from '../../../reporting/format.ts';
import {
  clearReport,
  writeReport,
  writeResults,
} from '../../../reporting/pages/comparison-files.ts';
import { shellWord } from '../../../reporting/records/labels.ts';
import { comparisonTable, rankingOf } from '../../../reporting/text/comparison.ts';
import { solverByName } from '../../../solvers/index.ts';
import { type Competitor, compare, type Job } from '../../../train/compare/compare.ts';
import {
  type Comparison,
  describeOutcome,
  finalTestError,
  type Run,
  type RunKey,
  type RunState,
  readResults,
  trainingSeconds,
} from '../../../train/compare/comparison.ts';
import type { EpochEvent } from '../../../train/events.ts';
import { threadsOption } from '../../../train/options/data.ts';
import {
  isNegative,
  libraryValues,
  longFlag,
  type OptionTable,
  omit,
  pick,
} from '../../../train/options/option.ts';
import { stoppingOptions } from '../../../train/options/run.ts';
import type { Action } from '../command.ts';
import { checkFiles, outputProblem } from '../files.ts';
import { withProgress } from '../interrupts.ts';
import { type CompareFlags, compareOptions } from '../options.ts';
import { chooseLosses, choosePenalty } from '../problem.ts';
import type { Progress } from '../progress.ts';
import { DataReader } from '../reading.ts';
import { exitCodes, type Terminal } from '../terminal.ts';

const comparedOptions = {
  ...stoppingOptions,
  ...threadsOption,
  ...pick(compareOptions, 'lambda', 'intercept', 'holdout', 'auprc', 'grid', 'seed', 'title'),
};

export const compareCommand: Action<CompareFlags> = async ({ flags, terminal }, data) => {
  checkFiles([data, flags.test, flags.penaltyFactors]);
  const entrants = flags.solvers.map((name): Competitor => ({ name, solver: solverByName(name) }));
  const problem = { entrants, losses: await chooseLosses(flags), penalty: choosePenalty(flags) };
  checkFolder(flags.output);
  const previous = flags.fresh ? undefined : await readResults(flags.output);
  warmThreads(flags.threads);
  const stopping = 'stopping, to write the report; Ctrl-C again quits at once';
  const shown = { ...flags, lines: 'no epochs', stopping } as const;
  return withProgress(terminal, shown, async (progress, interrupts) => {
    const reader = new DataReader(flags, progress);
    const dataset = await reader.read(data);
    const files = await reader.fileOptions(dataset);
    interrupts.defer();
    const onNotice = (message: string) => progress.notice(message);
    const busy = busyNotice(loadavg()[0], availableParallelism());
    if (busy) onNotice(busy);
    const display = runDisplay(flags, progress, terminal);
    const write = reportWriter(flags, onNotice);
    const comparison = await compare(dataset, {
      ...problem,
      ...files,
      ...libraryValues(comparedOptions, flags),
      warmUp: flags.warmUp,
      ...(previous && { previous }),
      command: commandLine(data, flags),
      signal: interrupts.signal,
      ...display.listeners,
      onNotice,
      async onEnd(run, current) {
        display.ended(run, describeEnd(run));
        await write(current, 'results');
      },
    });
    // Also when nothing was left to run: an earlier command may have been stopped while writing.
    await write(comparison, 'report');
    progress.end();
    await printResult(comparison, flags, terminal);
    return interrupts.exitCode ?? (display.hasResult() ? exitCodes.done : exitCodes.failure);
  });
};

/** What a person sees of the runs of a comparison. */
function runDisplay(flags: CompareFlags, progress: Progress, terminal: Terminal) {
  const { tolerance, epochs, time: seconds, quiet } = flags;
  const { bold, dim } = terminal.colours;
  const states: RunState[] = [];
  const say = (line: string) => {
    progress.end();
    if (!quiet) terminal.say(line);
  };
  const ended = (run: Run, result: string) => {
    states.push(run.state);
    say(`${nameOf(run)}: ${result}`);
  };
  return {
    ended,
    listeners: {
      onSkip: (run: Run) => ended(run, 'done before'),
      onStart({ entrant, lossName, lambda, loss, place, count }: Job) {
        const name = nameOf({ solver: entrant.name, loss: lossName, lambda });
        say(`${bold(visibleText(name))} ${dim(`(${place} of ${count})`)}`);
        progress.start(loss.task, { tolerance, epochs, seconds });
      },
      onEpoch: (event: EpochEvent) => progress.epoch(event),
    },
    /** False if there were runs and all of them were refused or failed. */
    hasResult: () =>
      states.length === 0 || states.some((state) => state !== 'refused' && state !== 'failed'),
  };
}

/** Milliseconds between two reports: drawing takes about a second, quick runs less. */
const reportPause = 5000;

/** Writes the results after every run, and the report with its figures at intervals. */
function reportWriter({ output, fresh }: CompareFlags, onNotice: (message: string) => void) {
  let drawn = performance.now();
  // With --fresh, old results are removed once there are new ones.
  let isStale = fresh;
  return async (comparison: Comparison, least: 'results' | 'report'): Promise<void> => {
    if (isStale) await clearReport(output);
    isStale = false;
    if (least === 'results' && performance.now() - drawn <= reportPause) {
      await writeResults(output, comparison);
      return;
    }
    await writeReport(output, comparison, { onNotice });
    drawn = performance.now();
  };
}

async function printResult(
  comparison: Comparison,
  flags: CompareFlags,
  terminal: Terminal,
): Promise<void> {
  if (flags.json) {
    await terminal.printJson({ folder: flags.output, problems: rankingOf(comparison) });
  } else if (!flags.quiet) {
    const table = comparisonTable(comparison, terminal.outputColours);
    await terminal.print(
      `\n${table}\n\nreport in ${visibleText(join(flags.output, 'report.html'))}\n`,
    );
  }
}

/** Refuses a folder that could not be made, before any work is done for it. */
function checkFolder(folder: string): void {
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  const refuse = (reason: string): never => {
    throw new UsageError(`--output ${folder}: ${reason}`);
  };
  if (!statSync(existing).isDirectory()) refuse(`${existing} is a file; expected a folder`);
  // The name of the first folder that is to be made, or of any file in one that is there.
  const next = relative(existing, resolve(folder)).split(sep)[0] || 'file';
  const problem = outputProblem(join(existing, next));
  if (problem !== undefined) refuse(`it cannot be written: ${problem}`);
}

/** The command with all options that have a value, also by default. */
function commandLine(data: string, flags: CompareFlags): string {
  const table = omit(compareOptions, 'fresh', 'title', 'json', 'quiet');
  const words = Object.entries(table as OptionTable).flatMap(([name, entry]) => {
    const value = (flags as Record<string, unknown>)[name];
    if (value === undefined || (value === true && isNegative(entry))) return [];
    return typeof value === 'boolean'
      ? [longFlag(entry)]
      : [longFlag(entry), shellWord(`${value as string | number}`)];
  });
  return ['dso compare', shellWord(data), ...words].join(' ');
}

export function busyNotice(load: number, cores: number): string | undefined {
  if (!(load > cores / 2)) return undefined;
  return `the machine is busy (load ${load.toFixed(1)} on ${plural(cores, 'core')}): times will mean little`;
}

/** "dso λ=1e-5", with the loss where it is not the default. */
function nameOf({ solver, loss, lambda }: RunKey): string {
  return `${solver} ${loss === 'hinge' ? '' : `${loss} `}λ=${formatNumber(lambda)}`;
}

function describeEnd(run: Run): string {
  const { report } = run;
  if (!report) return describeOutcome(run);
  const error = finalTestError(run);
  const parts = [
    `${describeOutcome(run)} after ${formatSeconds(trainingSeconds(run) ?? 0)}`,
    plural(report.epochs, 'epoch'),
    `objective ${formatNumber(report.primal)}`,
    `gap ${formatGap(report.relativeGap)}`,
  ];
  if (error !== undefined) {
    const shown = run.task === 'classification' ? formatPercent(error) : formatNumber(error);
    parts.push(`test error ${shown}`);
  }
  return parts.join(', ');
}

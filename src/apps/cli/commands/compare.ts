import { existsSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { UsageError } from '../../../errors.ts';
import {
  formatGap,
  formatNumber,
  formatPercent,
  formatSeconds,
  plural,
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
import { checkFiles, isWritable } from '../files.ts';
import { Interrupts } from '../interrupts.ts';
import { type CompareFlags, compareOptions } from '../options.ts';
import { chooseLosses, choosePenalty } from '../problem.ts';
import { createProgress, type Progress } from '../progress.ts';
import { readData, readFileOptions } from '../reading.ts';
import { exitCodes, signalExitCodes, type Terminal } from '../terminal.ts';

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
  const display = new ComparisonDisplay(terminal, flags);
  const stopping = 'stopping, to write the report; Ctrl-C again quits at once';
  const interrupts = new Interrupts(terminal.io, display, stopping);
  const folder = new ReportFolder(flags, (message) => display.notice(message));
  try {
    const dataset = await readData(data, flags, display.progress);
    const files = await readFileOptions(flags, dataset, display.progress);
    interrupts.defer();
    const busy = busyNotice(loadavg()[0], availableParallelism());
    if (busy) display.notice(busy);
    const comparison = await compare(dataset, {
      ...problem,
      ...files,
      ...libraryValues(comparedOptions, flags),
      warmUp: flags.warmUp,
      ...(previous && { previous }),
      command: commandLine(data, flags),
      signal: interrupts.signal,
      onSkip: (run) => display.skipped(run),
      onStart: (job) => display.started(job),
      onEpoch: (event) => display.progress.epoch(event),
      onNotice: (message) => display.notice(message),
      async onEnd(run, current) {
        display.ended(run);
        await folder.update(current);
      },
    });
    // Also when nothing was left to run: an earlier command may have been stopped while writing.
    await folder.complete(comparison);
    display.end();
    await printResult(comparison, flags, terminal);
    if (interrupts.received) return signalExitCodes[interrupts.received];
    return display.isVain ? exitCodes.failure : exitCodes.done;
  } finally {
    display.end();
    interrupts.release();
  }
};

/** Milliseconds between two reports: drawing takes about a second, quick runs less. */
const reportPause = 5000;

/** The folder of the report. Results are stored after every run, figures now and then. */
class ReportFolder {
  readonly #path: string;
  /** With --fresh, what was there goes once there is something to replace it. */
  #stale: boolean;
  #drawn = performance.now();
  readonly #onNotice: (message: string) => void;

  constructor({ output, fresh }: CompareFlags, onNotice: (message: string) => void) {
    this.#onNotice = onNotice;
    this.#path = output;
    this.#stale = fresh ?? false;
  }

  async update(comparison: Comparison): Promise<void> {
    if (performance.now() - this.#drawn > reportPause) return this.complete(comparison);
    await this.#clear();
    await writeResults(this.#path, comparison);
  }

  async complete(comparison: Comparison): Promise<void> {
    await this.#clear();
    await writeReport(this.#path, comparison, { onNotice: this.#onNotice });
    this.#drawn = performance.now();
  }

  async #clear(): Promise<void> {
    if (this.#stale) await clearReport(this.#path);
    this.#stale = false;
  }
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
    await terminal.print(`\n${table}\n\nreport in ${join(flags.output, 'report.html')}\n`);
  }
}

/** Refuses a folder that could not be made, before any work is done for it. */
function checkFolder(folder: string): void {
  let existing = resolve(folder);
  while (!existsSync(existing)) existing = dirname(existing);
  const refuse = (reason: string): never => {
    throw new UsageError(`--output ${folder}: ${reason}`);
  };
  if (!statSync(existing).isDirectory()) refuse(`${existing} is a file; wanted a folder`);
  if (!isWritable(existing)) refuse(`no permission to write into the folder ${existing}`);
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

/** What a person sees of a comparison while it runs. */
class ComparisonDisplay {
  progress: Progress;
  readonly #terminal: Terminal;
  readonly #flags: CompareFlags;
  /** The states of the runs of this command. */
  readonly #states: RunState[] = [];

  constructor(terminal: Terminal, flags: CompareFlags) {
    this.#terminal = terminal;
    this.#flags = flags;
    this.progress = createProgress(terminal, flags.quiet ?? false, 'no epochs');
  }

  /** Whether there were runs, and all of them were refused or failed. */
  get isVain(): boolean {
    const vain = this.#states.every((state) => state === 'refused' || state === 'failed');
    return this.#states.length > 0 && vain;
  }

  notice(message: string): void {
    this.progress.notice(message);
  }

  skipped(run: Run): void {
    this.#states.push(run.state);
    this.#say(`${nameOf(run)}: done before`);
  }

  started({ entrant, lossName, lambda, loss, place, count }: Job): void {
    const { bold, dim } = this.#terminal.colours;
    const name = nameOf({ solver: entrant.name, loss: lossName, lambda });
    this.#say(`${bold(name)} ${dim(`(${place} of ${count})`)}`);
    const { tolerance, epochs, time } = this.#flags;
    this.progress.start(loss.task, { tolerance, epochs, seconds: time });
  }

  ended(run: Run): void {
    this.#states.push(run.state);
    this.#say(`${nameOf(run)}: ${describeEnd(run)}`);
  }

  end(): void {
    this.progress.end();
  }

  /** A line that stays. The live line below it is taken away and begun anew. */
  #say(line: string): void {
    this.progress.end();
    if (this.#flags.quiet) return;
    this.#terminal.say(line);
    this.progress = createProgress(this.#terminal, false, 'no epochs');
  }
}

/** What to say before timing anything on a machine that has other things to do. */
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

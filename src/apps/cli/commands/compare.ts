import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Dataset } from '../../../data/dataset.ts';
import { warmThreads } from '../../../engine/thread-pool.ts';
import { UsageError } from '../../../errors.ts';
import {
  clearReport,
  writeReport,
  writeResults,
} from '../../../reporting/pages/comparison-files.ts';
import { comparisonTable, rankingOf } from '../../../reporting/text/comparison.ts';
import { solverByName } from '../../../solvers/index.ts';
import { type CompareOptions, type Competitor, compare } from '../../../train/compare/compare.ts';
import { type Comparison, readResults } from '../../../train/compare/comparison.ts';
import {
  checkNeeds,
  isNegative,
  libraryValues,
  longFlag,
  type OptionTable,
  omit,
  pick,
} from '../../../train/options/option.ts';
import { busyNotice, ComparisonDisplay } from '../comparison-display.ts';
import { Interrupts } from '../interrupts.ts';
import { type CompareFlags, compareOptions } from '../options.ts';
import { chooseLosses, choosePenalty, readPenaltyFactors } from '../problem.ts';
import type { Progress } from '../progress.ts';
import { checkStandardInput, readData, schemaOfData } from '../reading.ts';
import { exitCodes, signalExitCodes, type Terminal } from '../terminal.ts';

export async function compareCommand(
  data: string,
  flags: CompareFlags,
  terminal: Terminal,
): Promise<number> {
  checkNeeds(compareOptions, flags);
  checkStandardInput([data, flags.test, flags.penaltyFactors]);
  const entrants = flags.solvers.map((name): Competitor => ({ name, solver: solverByName(name) }));
  const problem = {
    entrants,
    losses: await chooseLosses(flags),
    penalty: choosePenalty(flags),
  };
  checkFolder(flags.output);
  const previous = flags.fresh ? undefined : await readResults(flags.output);
  warmThreads(flags.threads);
  const display = new ComparisonDisplay(terminal, flags);
  const interrupts = new Interrupts(terminal.io, {
    onDeferred: () => display.notice('stopping, to write the report; Ctrl-C again quits at once'),
    onQuit: () => display.close(),
  });
  const folder = new ReportFolder(flags, (message) => display.notice(message));
  try {
    const input = await readInput(data, flags, display.progress);
    interrupts.defer();
    const busy = busyNotice(loadavg()[0], availableParallelism());
    if (busy) display.notice(busy);
    const comparison = await compare(input.dataset, {
      ...problem,
      ...input.options,
      ...libraryValues(
        pick(
          compareOptions,
          'lambda',
          'intercept',
          'holdout',
          'auprc',
          'tolerance',
          'epochs',
          'time',
          'grid',
          'seed',
          'threads',
          'title',
        ),
        flags,
      ),
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
    display.close();
    await printResult(comparison, flags, terminal);
    if (interrupts.received) return signalExitCodes[interrupts.received];
    return display.isVain ? exitCodes.failure : exitCodes.done;
  } finally {
    display.close();
    interrupts.release();
  }
}

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
    const result = { folder: flags.output, problems: rankingOf(comparison) };
    await terminal.print(`${JSON.stringify(result)}\n`);
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
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    refuse(`no permission to write into the folder ${existing}`);
  }
}

async function readInput(
  data: string,
  flags: CompareFlags,
  progress: Progress,
): Promise<{ dataset: Dataset; options: Pick<CompareOptions, 'test' | 'penaltyFactors'> }> {
  const dataset = await readData(data, flags, progress);
  const { test, penaltyFactors: factors } = flags;
  return {
    dataset,
    options: {
      ...(test !== undefined && {
        test: await readData(test, flags, progress, schemaOfData(dataset)),
      }),
      ...(factors !== undefined && {
        penaltyFactors: await readPenaltyFactors(factors, dataset.columns),
      }),
    },
  };
}

/** The command with all options that have a value, also by default. */
function commandLine(data: string, flags: CompareFlags): string {
  const table = omit(compareOptions, 'fresh', 'title', 'json', 'quiet');
  const words = Object.entries(table as OptionTable).flatMap(([name, entry]) => {
    const value = (flags as Record<string, unknown>)[name];
    if (value === undefined || (value === true && isNegative(entry))) return [];
    return typeof value === 'boolean'
      ? [longFlag(entry)]
      : [longFlag(entry), quoted(`${value as string | number}`)];
  });
  return ['dso compare', quoted(data), ...words].join(' ');
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { withoutUndefined } from '../../../cli/defined.ts';
import type { CompareFlags } from '../../../cli/definitions/compare.ts';
import type { ProblemFlags } from '../../../cli/definitions/train.ts';
import { exitCodes, signalExitCodes } from '../../../cli/exit-codes.ts';
import { checkStandardInput } from '../../../cli/outputs.ts';
import {
  chooseLoss,
  choosePenalty,
  lossParameters,
  readPenaltyFactors,
} from '../../../cli/problem.ts';
import { likenessOfData, readData } from '../../../cli/reading.ts';
import type { Terminal } from '../../../cli/terminal.ts';
import type { Comparison } from '../../../compare/comparison.ts';
import { readResults } from '../../../compare/results.ts';
import type { Dataset } from '../../../data/dataset.ts';
import { UsageError } from '../../../errors.ts';
import type { Loss } from '../../../problem/losses/loss.ts';
import {
  clearReport,
  writeReport,
  writeResults,
} from '../../../reporting/pages/comparison-files.ts';
import { comparisonTable, rankingOf } from '../../../reporting/text/comparison.ts';
import { solverByName } from '../../../solvers/index.ts';
import type { CompareOptions, Entrant } from '../../../train/compare/compare.ts';
import { compare } from '../../../train/compare/compare.ts';
import { warmThreads } from '../../../train/threads.ts';
import { busyNotice, ComparisonDisplay } from '../comparison-display.ts';
import { Interrupts } from '../interrupts.ts';
import type { Progress } from '../progress.ts';

export async function compareCommand(
  data: string,
  flags: CompareFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([data, flags.test, flags.penaltyFactors]);
  const entrants = flags.solvers.map((name): Entrant => ({ name, solver: solverByName(name) }));
  const problem = {
    entrants,
    losses: await chooseLosses(flags),
    penalty: choosePenalty(problemFlags(flags, 'hinge')),
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
      ...conditionsOf(flags),
      ...withoutUndefined({ previous, title: flags.title }),
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

/** The losses by name; a parameter goes to the loss whose it is, and one of none is an error. */
async function chooseLosses(flags: CompareFlags): Promise<Loss[]> {
  const used = new Set<string>();
  const losses: Loss[] = [];
  for (const name of flags.loss) {
    const plain = await chooseLoss(problemFlags(flags, name));
    const own = lossParameters.find((parameter) => parameter === plain.parameterName);
    const value = own && flags[own];
    if (own === undefined || value === undefined) {
      losses.push(plain);
      continue;
    }
    used.add(own);
    losses.push(await chooseLoss({ ...problemFlags(flags, name), [own]: value }));
  }
  for (const name of lossParameters) {
    if (flags[name] !== undefined && !used.has(name)) {
      throw new UsageError(
        `--${name} ${flags[name]}: not a setting of any of the losses ${flags.loss.join(', ')}`,
      );
    }
  }
  return losses;
}

function problemFlags(flags: CompareFlags, loss: string): ProblemFlags {
  const { penalty, l1Ratio, lower, upper, nonNegative } = flags;
  return { loss, penalty, ...withoutUndefined({ l1Ratio, lower, upper, nonNegative }) };
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
  const test =
    flags.test === undefined
      ? undefined
      : await readData(flags.test, flags, progress, likenessOfData(dataset));
  const penaltyFactors =
    flags.penaltyFactors === undefined
      ? undefined
      : await readPenaltyFactors(flags.penaltyFactors, dataset.columns);
  return { dataset, options: withoutUndefined({ test, penaltyFactors }) };
}

function conditionsOf(flags: CompareFlags) {
  const { tolerance, epochs, time, seed, warmUp, threads, grid, holdout } = flags;
  const { lambda: lambdas, auprc, intercept } = flags;
  const given = { lambdas, auprc, intercept, threads, grid, holdout };
  return { tolerance, epochs, time, seed, warmUp, ...withoutUndefined(given) };
}

/** The command with every setting that decides the result, those left to their default as well. */
function commandLine(data: string, flags: CompareFlags): string {
  const settings: Record<string, string | number | boolean | undefined> = {
    '--test': flags.test,
    '--holdout': flags.holdout,
    '--auprc': flags.auprc,
    '--solvers': flags.solvers.join(','),
    '--loss': flags.loss.join(','),
    '--lambda': flags.lambda?.join(','),
    '--penalty': flags.penalty,
    '--l1-ratio': flags.l1Ratio,
    '--non-negative': flags.nonNegative,
    '--lower': flags.lower,
    '--upper': flags.upper,
    '--penalty-factors': flags.penaltyFactors,
    '--intercept': flags.intercept,
    '--epsilon': flags.epsilon,
    '--delta': flags.delta,
    '--smoothing': flags.smoothing,
    '--quantile': flags.quantile,
    '--tolerance': flags.tolerance,
    '--time': flags.time,
    '--epochs': flags.epochs,
    '--grid': flags.grid,
    '--threads': flags.threads,
    '--seed': flags.seed,
    '--no-warm-up': flags.warmUp ? undefined : true,
    '--zero-based': flags.zeroBased,
    '--sum-duplicates': flags.sumDuplicates,
    '--output': flags.output,
  };
  const words = Object.entries(settings).flatMap(([option, value]) => {
    if (value === undefined) return [];
    return value === true ? [option] : [option, quoted(String(value))];
  });
  return ['dso compare', quoted(data), ...words].join(' ');
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

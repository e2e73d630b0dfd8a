import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Dataset } from '../../data/dataset.ts';
import { UsageError } from '../../errors.ts';
import { formatCount, formatNumber } from '../../math/format-number.ts';
import { textCell } from '../../model/export/text.ts';
import { errorOf } from '../../model/metrics/evaluate.ts';
import type { Task } from '../../problem/losses/loss.ts';
import type { Solver } from '../../solvers/registry.ts';
import type { EpochEvent } from '../events.ts';
import { pick } from '../options/option.ts';
import type { TrainOptions, TrainReport } from '../options/options.ts';

type Limits = Pick<TrainOptions, 'tolerance' | 'epochs' | 'threads' | 'grid' | 'seed'>;
type Choices = Pick<TrainOptions, 'intercept' | 'auprc' | 'testOn'>;

/** What all runs of a comparison share; serial solvers take a grid of 1. */
export interface Conditions extends Readonly<Required<Limits & Choices>> {
  readonly penalty: string;
  /** A hash of the penalty factors, if any. */
  readonly penaltyFactors: string | null;
  /** Seconds of training per run; null for no limit. */
  readonly time: number | null;
  /** Whether every solver ran a little, untimed, before its first run. */
  readonly warmUp: boolean;
}

export interface DataSummary extends Pick<Dataset, 'name' | 'rows' | 'columns' | 'nonzeros'> {
  /** Of all labels, indices and values. */
  readonly hash: string;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  /** Bytes. */
  readonly memory: number;
  readonly platform: string;
  readonly node: string;
}

/** One problem, λ times the penalty + mean loss, and the competitor that solved it. */
export interface RunKey {
  /** Name of the loss, with its parameter where it has one: `huber (delta 2)`. */
  readonly loss: string;
  readonly lambda: number;
  /** The competitor's name. */
  readonly solver: string;
}

/**
 * finished: ended by the tolerance or a limit. interrupted: ended by Ctrl-C, to be run again.
 * refused: the solver does not take this problem. failed: an error.
 */
export type RunState = 'finished' | 'interrupted' | 'refused' | 'failed';

export interface Run extends RunKey {
  readonly task: Task;
  readonly settings: Solver;
  readonly state: RunState;
  /** Why it was refused or failed. */
  readonly reason?: string;
  /** Notices of training: the solver chosen and why, memory. */
  readonly notices: readonly string[];
  /** When it began, in ISO form. */
  readonly started: string;
  readonly report?: TrainReport;
  readonly events: readonly EpochEvent[];
}

export interface Comparison {
  readonly format: 1;
  readonly title: string;
  /** The version of this program. */
  readonly version: string;
  /** How to repeat it: one command for each time that runs were added. */
  readonly commands: readonly string[];
  readonly machine: Machine;
  readonly data: DataSummary;
  readonly test: DataSummary | null;
  readonly conditions: Conditions;
  readonly runs: readonly Run[];
}

export function sameRun(a: RunKey, b: RunKey): boolean {
  return a.loss === b.loss && a.lambda === b.lambda && a.solver === b.solver;
}

/** A comparison in which the run has replaced an earlier one, or been added. */
export function withRun(comparison: Comparison, run: Run): Comparison {
  const { runs } = comparison;
  const known = runs.some((other) => sameRun(other, run));
  return {
    ...comparison,
    runs: known ? runs.map((other) => (sameRun(other, run) ? run : other)) : [...runs, run],
  };
}

/** The runs of one problem. */
export interface Problem extends Pick<Run, 'loss' | 'lambda' | 'task'> {
  readonly runs: readonly Run[];
}

/** The problems in the order of their first runs. */
export function problemsOf({ runs }: Comparison): Problem[] {
  const problems = Map.groupBy(runs, ({ loss, lambda }) => `${loss} ${lambda}`);
  return [...problems.values()].map((own) => ({
    ...pick(own[0], 'loss', 'lambda', 'task'),
    runs: own,
  }));
}

/** The competitors in the order of their first runs. */
export function competitorsOf({ runs }: Comparison): string[] {
  return [...new Set(runs.map((run) => run.solver))];
}

/** The largest lower bound on the optimum that any of the runs has proved; −Infinity for none. */
export function bestLowerBound({ runs }: Problem): number {
  return runs
    .flatMap((run) => [...run.events.map((event) => event.dual), run.report?.dual ?? -Infinity])
    .reduce((best, dual) => Math.max(best, dual), -Infinity);
}

/** What every run of a report must share, as names and values for people. */
function shared({ version, machine, data, test, conditions }: Comparison): [string, string][] {
  return [
    ['the training data', describe(data)],
    ['the test data', test === null ? 'none' : describe(test)],
    ['penalty', conditions.penalty],
    ['penalty factors', conditions.penaltyFactors ?? 'none'],
    ['intercept', String(conditions.intercept)],
    ['tolerance', formatNumber(conditions.tolerance)],
    ['epochs', formatCount(conditions.epochs)],
    ['time', conditions.time === null ? 'no limit' : formatNumber(conditions.time)],
    ['threads', String(conditions.threads)],
    ['grid', String(conditions.grid)],
    ['seed', String(conditions.seed)],
    ['auprc', String(conditions.auprc)],
    ['what is tested', conditions.testOn],
    ['warm-up', String(conditions.warmUp)],
    ['the version of dso', version],
    ['the version of Node', machine.node],
    ['the machine', `${machine.processor}, ${machine.cores} cores`],
  ];
}

function describe({ rows, columns, nonzeros, hash }: DataSummary): string {
  const counts = [rows, columns, nonzeros].map(formatCount);
  return `${counts[0]} rows × ${counts[1]} columns, ${counts[2]} non-zeros, hash ${hash}`;
}

/** In what the conditions of two comparisons differ: "tolerance was 0.001, is 1e-4". */
export function differences(earlier: Comparison, now: Comparison): string[] {
  const current = new Map(shared(now));
  return shared(earlier)
    .filter(([name, value]) => current.get(name) !== value)
    .map(([name, value]) => `${name} was ${value}, is ${current.get(name)}`);
}

export const resultsFile = 'results.json';

/** JSON of everything; an infinite number becomes null. */
export function encodeResults(comparison: Comparison): string {
  return `${JSON.stringify(comparison, undefined, 1)}\n`;
}

/** The results in a folder, or undefined where there are none. */
export async function readResults(folder: string): Promise<Comparison | undefined> {
  const path = join(folder, resultsFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${path}: ${(error as Error).message}`, { cause: error });
  }
  return decodeResults(text, path);
}

export function decodeResults(text: string, path: string): Comparison {
  const unusable = (found: string) =>
    new UsageError(
      `${path}: ${found}; expected the results of an earlier comparison ` +
        '(start over with --fresh, or choose another folder)',
    );
  let comparison: Comparison | null;
  try {
    comparison = JSON.parse(text, restoreNumber);
  } catch (error) {
    throw unusable(`not JSON (${(error as Error).message})`);
  }
  if (!comparison?.runs) throw unusable('not such results');
  if (comparison.format === 1) return comparison;
  throw unusable(`format ${String(comparison.format)}, which this version cannot read`);
}

/** No bound yet: P may be anything up to ∞, D anything from −∞. */
const unbounded: Readonly<Record<string, number>> = {
  primal: Infinity,
  dual: -Infinity,
  gap: Infinity,
  relativeGap: Infinity,
};

function restoreNumber(key: string, value: unknown): unknown {
  return value === null && Object.hasOwn(unbounded, key) ? unbounded[key] : value;
}

const csvHeader =
  'loss,lambda,solver,epoch,seconds,passes,primal,dual,relativeGap,testError,testAuprc,latestPrimal,latestDual,state';

/** A line per epoch of every run; a cell is empty where there is no finite number. */
export function encodeCsv({ runs }: Comparison): string {
  const columns = csvHeader.split(',');
  const lines = runs.flatMap((run) =>
    run.events.map(({ latest, ...event }) => {
      const ends = { latestPrimal: latest?.primal, latestDual: latest?.dual };
      const cells: Readonly<Record<string, unknown>> = { ...run, ...event, ...ends };
      return columns.map((name) => csvCell(cells[name])).join(',');
    }),
  );
  return `${[csvHeader, ...lines].join('\n')}\n`;
}

function csvCell(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  return typeof value === 'string' ? textCell(value) : '';
}

/** A run and its rank among those on the same problem. */
export interface RankedRun {
  readonly run: Run;
  /** From 1; none for a run that was refused, failed or was interrupted. */
  readonly rank?: number;
  /** Seconds of training until the tolerance was reached, if it was. */
  readonly reached?: number;
}

/** The rule of `rankRuns`, for what shows its result. */
export const rankingRule =
  'Solvers that reached the tolerance come first, the quickest at the top; the others follow by ' +
  'their objective, the least first.';

export function rankRuns(runs: readonly Run[], tolerance: number): RankedRun[] {
  const all = runs.map((run): RankedRun => {
    const reached = secondsToTolerance(run, tolerance);
    return reached === undefined ? { run } : { run, reached };
  });
  const isRanked = ({ run }: RankedRun) => run.state === 'finished';
  const ranked = all.filter(isRanked).toSorted(byMerit);
  const others = all.filter((one) => !isRanked(one));
  return [...ranked.map((one, index) => ({ ...one, rank: index + 1 })), ...others];
}

/** The first event within the tolerance, of a run whose final certificate is within it too. */
function secondsToTolerance({ report, events }: Run, tolerance: number): number | undefined {
  if (report === undefined || !(report.relativeGap <= tolerance)) return undefined;
  return events.find((event) => event.relativeGap <= tolerance)?.seconds;
}

function byMerit(a: RankedRun, b: RankedRun): number {
  if (a.reached !== undefined || b.reached !== undefined) {
    return compareNumbers(a.reached ?? Infinity, b.reached ?? Infinity);
  }
  const [first, second] = [a.run.report!, b.run.report!];
  // Lower bounds differ by run, so the objectives reached are compared.
  return (
    compareNumbers(first.primal, second.primal) ||
    compareNumbers(first.relativeGap, second.relativeGap)
  );
}

/** Also for infinities, whose difference is not a number. */
function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Why a run ended, in words. */
export function describeOutcome({ state, reason, report }: Run): string {
  if (state === 'refused' || state === 'failed') return `${state}: ${reason}`;
  return (report?.stopped ?? 'interrupted').replace('-', ' ');
}

/** Error rate or mean squared error on the test rows at the end. */
export function finalTestError({ report }: Run): number | undefined {
  return report?.test && errorOf(report.test);
}

export function finalAuprc({ report }: Run): number | undefined {
  const test = report?.test;
  return test?.task === 'classification' ? (test.auprc ?? undefined) : undefined;
}

/** Seconds of training on the clock of the events. */
export function trainingSeconds({ events, report }: Run): number | undefined {
  return events.at(-1)?.seconds ?? report?.seconds.train;
}

import { figure } from '../../bench/table.ts';
import { collectGarbage } from '../../src/engine/arena.ts';
import { threadPool } from '../../src/engine/thread-pool.ts';
import { solverByName } from '../../src/solvers/index.ts';
import { type CompareOptions, type Competitor, compare } from '../../src/train/compare/compare.ts';
import {
  type Comparison,
  type Problem,
  problemsOf,
  type Run,
} from '../../src/train/compare/comparison.ts';
import { describeShape, type Sample } from './data.ts';
import { duration } from './duration.ts';
import type { Setting } from './experiment.ts';
import {
  type Cost,
  costUntilError,
  costUntilPrimal,
  type Goals,
  goalsOf,
  lastEvent,
} from './progress.ts';
import { section } from './report.ts';

/** Solvers by the names they have on the command line, separated by commas. */
export function entrantsOf(names: string): Competitor[] {
  return names.split(',').map((name) => ({ name, solver: solverByName(name) }));
}

/** One problem of a contest, with what its runs are measured against. */
export interface Round {
  readonly sample: string;
  readonly problem: Problem;
  readonly goals: Goals;
  /** How the problem is called in text: `hinge, λ = 1e-5`. */
  readonly title: string;
}

/** Every solver on every problem of one data set, with a line about each run as it ends. */
export async function contest(
  sample: Sample,
  setting: Setting,
  options: CompareOptions,
): Promise<{ comparison: Comparison; rounds: Round[] }> {
  const { say, threads, time, seed } = setting;
  say(`\n${sample.name}: ${describeShape(sample.train)}`);
  const comparison = await compare(sample.train, {
    test: sample.test,
    threads,
    time,
    seed,
    tolerance: 1e-5,
    // Like the paper's: what the solver has at that moment, not the best it has seen.
    testOn: 'latest',
    title: sample.name,
    onEnd: async (run) => {
      say(`  ${describeRun(run)}`);
      await freeMemory(threads);
    },
    ...options,
  });
  const rounds = problemsOf(comparison).flatMap((problem): Round[] => {
    const goals = goalsOf(problem, sample.test.rows);
    const title = `${problem.loss}, λ = ${shortNumber(problem.lambda)}`;
    return goals ? [{ sample: sample.name, problem, goals, title }] : [];
  });
  return { comparison, rounds };
}

/** The memory of a run is shared: it is gone once no thread refers to it any more. */
async function freeMemory(threads: number): Promise<void> {
  await threadPool(threads).runAll('collect-garbage', threads, () => undefined);
  collectGarbage();
}

function shortNumber(value: number): string {
  return value.toExponential(2).replace(/\.?0*e/, 'e');
}

function describeRun(run: Run): string {
  const name = `${run.solver}, ${run.loss}, λ = ${shortNumber(run.lambda)}`;
  const last = lastEvent(run);
  if (!last) return `${name}: ${run.state}: ${run.reason}`;
  const gap = `relative gap ${last.relativeGap.toExponential(1)}`;
  return `${name}: ${last.epoch} epochs in ${duration(last.seconds)}, ${gap}`;
}

const missing = '–';

function costCells(cost: Cost | undefined): string[] {
  if (!cost) return [missing, missing, missing];
  return [String(cost.epochs), figure(cost.passes), duration(cost.seconds)];
}

/** A table of one problem: the end of each solver, and its cost to get near the best. */
export function roundTable({ sample, problem, goals, title }: Round): string {
  const head = ['solver', 'epochs', 'seconds', 'P', 'above best', 'gap', 'test error'];
  const targets = [
    'P within 1 %: epochs',
    'passes',
    'seconds',
    'error: epochs',
    'passes',
    'seconds',
  ];
  const rows = problem.runs.map((run) => {
    const last = lastEvent(run);
    if (!last) return [run.solver, run.state, ...Array<string>(11).fill('')];
    return [
      run.solver,
      String(last.epoch),
      duration(last.seconds),
      last.primal.toFixed(6),
      `${(100 * (last.primal / goals.best - 1)).toFixed(2)} %`,
      last.relativeGap.toExponential(1),
      last.testError === undefined ? missing : `${(100 * last.testError).toFixed(2)} %`,
      ...costCells(costUntilPrimal(run, goals)),
      ...costCells(costUntilError(run, goals)),
    ];
  });
  const refused = problem.runs.filter((run) => run.state !== 'finished');
  const reasons = refused.map((run) => `\n${run.solver} ${run.state}: ${run.reason ?? ''}`);
  return section(`${sample}, ${title}`, [...head, ...targets], rows) + reasons.join('');
}

/** The rows of a round's table, for results.json; the reports hold every epoch. */
export function roundSummary({ sample, problem, goals, title }: Round): unknown {
  return {
    sample,
    title,
    goals,
    runs: problem.runs.map((run) => ({
      solver: run.solver,
      state: run.state,
      reason: run.reason,
      last: lastEvent(run),
      untilPrimal: costUntilPrimal(run, goals),
      untilError: costUntilError(run, goals),
    })),
  };
}

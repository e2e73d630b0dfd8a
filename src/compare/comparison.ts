import type { Task } from '../problem/losses/loss.ts';
import type { Solver } from '../solvers/solver.ts';
import type { EpochEvent } from '../train/events.ts';
import type { TrainReport } from '../train/options/options.ts';

/** What all runs of a comparison share. */
export interface Conditions {
  readonly penalty: string;
  readonly intercept: boolean;
  /** A hash of the penalty factors, if any. */
  readonly penaltyFactors: string | null;
  /** Relative duality gap to reach. */
  readonly tolerance: number;
  readonly epochs: number;
  /** Seconds of training per run; null for no limit. */
  readonly time: number | null;
  readonly threads: number;
  /** Workers of the logical grid; serial solvers take 1. */
  readonly grid: number;
  readonly seed: number;
  readonly auprc: boolean;
  /** What is measured on the test rows: the best point so far, or every iterate as it comes. */
  readonly testOn: 'best' | 'latest';
  /** Whether every solver ran a little, untimed, before its first run. */
  readonly warmUp: boolean;
}

export interface DataSummary {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
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

/** One problem, λ times the penalty + mean loss, and who solved it. */
export interface RunKey {
  /** Name of the loss, with its parameter where it has one: `huber (delta 2)`. */
  readonly loss: string;
  readonly lambda: number;
  /** The entrant's name. */
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
  /** What training had to say: the plan chosen and why, memory. */
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

/** A comparison in which the run has taken the place of an earlier one, or been added. */
export function withRun(comparison: Comparison, run: Run): Comparison {
  const { runs } = comparison;
  const known = runs.some((other) => sameRun(other, run));
  return {
    ...comparison,
    runs: known ? runs.map((other) => (sameRun(other, run) ? run : other)) : [...runs, run],
  };
}

/** The runs of one problem. */
export interface Problem {
  readonly loss: string;
  readonly lambda: number;
  readonly task: Task;
  readonly runs: readonly Run[];
}

/** The problems in the order of their first runs. */
export function problemsOf({ runs }: Comparison): Problem[] {
  const problems: (Problem & { runs: Run[] })[] = [];
  for (const run of runs) {
    const { loss, lambda, task } = run;
    const known = problems.find((other) => other.loss === loss && other.lambda === lambda);
    if (known) known.runs.push(run);
    else problems.push({ loss, lambda, task, runs: [run] });
  }
  return problems;
}

/** The entrants in the order of their first runs. */
export function entrantsOf({ runs }: Comparison): string[] {
  return [...new Set(runs.map((run) => run.solver))];
}

/** The largest lower bound on the optimum that any of the runs has proved; −Infinity for none. */
export function bestLowerBound({ runs }: Problem): number {
  return runs
    .flatMap((run) => [...run.events.map((event) => event.dual), run.report?.dual ?? -Infinity])
    .reduce((best, dual) => Math.max(best, dual), -Infinity);
}

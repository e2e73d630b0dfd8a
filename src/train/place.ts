import { CallingThread } from '../engine/calling-thread.ts';
import { ThreadPool, threadPool } from '../engine/thread-pool.ts';
import { interiorCost } from '../solvers/interior/plan.ts';
import { entryOf, type SolverPlan } from '../solvers/registry.ts';
import type { ProblemSummary } from '../solvers/solver.ts';
import type { DataShard } from './shard.ts';
import { threadTasks } from './tasks.ts';

/** Where a training runs. */
export interface Place {
  /** Whether the calling thread does all of it, in less time than others take to start. */
  readonly callingThread: boolean;
}

const callingThread = new ThreadPool([new CallingThread(threadTasks)]);

export function poolOf({ callingThread: here }: Place, threads: number): ThreadPool {
  return here ? callingThread : threadPool(threads);
}

/** Numbers of all subproblems together up to which an epoch takes 20 ms at most: measured, see docs/bench.md. */
const fewNumbers = 2e5;
/**
 * The share of `fewNumbers` that a solver may have, if it is not 1: epochs of `working-set` may be
 * hundreds of passes, those of row mode are one.
 */
const shares: Readonly<Record<string, number>> = { 'working-set': 0.1, 'ring-rows': 5 };
/** Nanoseconds that a step of the interior point method may take. */
const briefStep = 4e6;
/** If another solver runs for this many passes first, `interior-point` is rarely needed. */
const manyPasses = 500;

/** Whether the calling thread can train without being away for long. */
export function isBrief(
  plan: SolverPlan,
  problem: ProblemSummary,
  { nonzeros, rows, columns, dataset, group }: DataShard,
  tasks: number,
): boolean {
  if (group.size > 1 || dataset.stored || entryOf(plan).asynchronous) return false;
  const share = shares[plan.name] ?? 1;
  if (tasks * (nonzeros + rows + columns) > share * fewNumbers) return false;
  return !hasInterior(plan) || (interiorCost(problem)?.time ?? Infinity) <= briefStep;
}

function hasInterior({ name, next }: SolverPlan): boolean {
  if (name === 'interior-point') return true;
  return next !== undefined && (next.after ?? 0) < manyPasses && hasInterior(next.plan);
}

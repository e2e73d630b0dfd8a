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
/** The share of `fewNumbers` that `working-set` may have: its epochs may be hundreds of passes. */
const workingSetShare = 0.1;
/** Nanoseconds that a step of the interior point method may take. */
const briefStep = 4e6;

/** Whether the calling thread can train without being away for long. */
export function isBrief(
  plan: SolverPlan,
  problem: ProblemSummary,
  { nonzeros, rows, columns, dataset, group }: DataShard,
  tasks: number,
): boolean {
  if (group.size > 1 || dataset.stored || entryOf(plan).asynchronous) return false;
  const share = plan.name === 'working-set' ? workingSetShare : 1;
  if (tasks * (nonzeros + rows + columns) > share * fewNumbers) return false;
  return !hasInterior(plan) || (interiorCost(problem)?.time ?? Infinity) <= briefStep;
}

function hasInterior({ name, next }: SolverPlan): boolean {
  return name === 'interior-point' || (next !== undefined && hasInterior(next.plan));
}

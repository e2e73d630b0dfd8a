import { totalmem } from 'node:os';
import type { Dataset } from '../data/dataset.ts';
import { UsageError } from '../errors.ts';
import { allocateProblem, layOutProblem, type Problem } from '../objective/problem.ts';
import { type Arena, Budget, createArena, separateArena } from '../parallel/arena.ts';
import { allocateGrid, canFillByRows, type Grid, offsetsFromCounts } from '../parallel/grid.ts';
import { type Partition, partition } from '../parallel/partition.ts';
import { engineOf, type Plan } from '../solvers/engines.ts';
import { allocateRun, type RunMemory } from '../solvers/run.ts';
import type { TrainOptions } from './options.ts';
import type { FillPayload } from './tasks.ts';
import { threadCount, threadPool, together } from './threads.ts';

/** Options with their defaults. */
export type Settings = Required<
  Pick<
    TrainOptions,
    | 'loss'
    | 'penalty'
    | 'lambda'
    | 'solver'
    | 'seed'
    | 'epochs'
    | 'tolerance'
    | 'time'
    | 'intercept'
  >
>;

/** The data of a run: what is trained on, what is tested on, and what the labels mean. */
export interface Input {
  readonly train: Dataset;
  readonly trainTargets: Float64Array;
  readonly test: Dataset | undefined;
  readonly testTargets: Float64Array | undefined;
  readonly classes: readonly [number, number] | undefined;
}

/** The problem in memory, laid out for all threads. */
export interface Run {
  readonly problem: Problem;
  readonly memory: RunMemory;
  readonly arena: Arena;
}

/** Partitions the data, reserves memory and copies the data into the grid, on all threads. */
export async function layOut(
  input: Input,
  options: TrainOptions,
  settings: Settings,
  plan: Plan,
  size: number,
  threads: number,
): Promise<Run> {
  const { intercept, penalty, lambda, seed } = settings;
  const parts = partition(input.train, size, seed, intercept);
  const custom = settings.loss.module !== undefined;
  const bytes = bytesOf(parts, plan, input, options);
  const arena = custom ? separateArena : createArena(bytes);
  const grid = allocateGrid(arena, parts, engineOf(plan).orientation);
  const memory = allocateRun(arena, parts, plan);
  const problemMemory = allocateProblem(arena, parts);
  await fillGrid(grid, input.train, intercept, threadCount(options.threads));
  const factors = options.penaltyFactors;
  const problem = layOutProblem(problemMemory, grid, input.trainTargets, {
    penalty,
    lambda,
    factors,
    intercept,
  });
  return { problem, memory, arena };
}

/** Copies the data into the grid: every thread some workers, or some rows of the only worker. */
async function fillGrid(
  grid: Grid,
  { parts, columns }: Dataset,
  intercept: boolean,
  threads: number,
): Promise<void> {
  const rows = grid.partition.rowOrder.length;
  const byRows = canFillByRows(grid);
  if (byRows) offsetsFromCounts(grid);
  const count = byRows ? threads : Math.min(threads, grid.size);
  const bound = (index: number) => Math.floor((index * rows) / count);
  const workers = Array.from({ length: grid.size }, (_, worker) => worker);
  await together(threadPool(count), 'fill', count, (index): FillPayload => {
    const share = byRows
      ? { rows: [bound(index), bound(index + 1)] as const }
      : { workers: workers.filter((worker) => worker % count === index) };
    return { grid, dataset: { parts, columns }, intercept, share };
  });
}

/** Adds up the memory of a run; warns when it is a large part of the machine's, refuses all of it. */
function bytesOf(parts: Partition, plan: Plan, input: Input, options: TrainOptions): number {
  const budget = new Budget();
  allocateGrid(budget, parts, engineOf(plan).orientation);
  allocateRun(budget, parts, plan);
  allocateProblem(budget, parts);
  const peak = budget.bytes + 8 * input.train.nonzeros;
  const gigabytes = (bytes: number) => (bytes / 2 ** 30).toFixed(1);
  if (budget.bytes > totalmem()) {
    throw new UsageError(
      `${plan.engine} on a grid of ${parts.size} needs ${gigabytes(budget.bytes)} GiB; this machine has ` +
        `${gigabytes(totalmem())} GiB (a smaller grid or another solver may need less)`,
    );
  }
  if (peak > totalmem() / 4) {
    options.onNotice?.(
      `memory forecast: ${gigabytes(budget.bytes)} GiB while training, ` +
        `${gigabytes(peak)} GiB while partitioning, of ${gigabytes(totalmem())} GiB`,
    );
  }
  return budget.bytes;
}

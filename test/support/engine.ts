import { type Dataset, rowWeights } from '../../src/data/dataset.ts';
import { classesOf, targetsOf } from '../../src/data/labels.ts';
import { type Arena, Budget, createArena, separateArena } from '../../src/engine/arena.ts';
import { allocateGrid, fillWorker } from '../../src/engine/grid.ts';
import { Ring } from '../../src/engine/ring.ts';
import { shareTeam, Team } from '../../src/engine/team.ts';
import { threadPool } from '../../src/engine/thread-pool.ts';
import type { Loss } from '../../src/problem/losses/loss.ts';
import type { Penalty } from '../../src/problem/penalties/index.ts';
import { choose } from '../../src/solvers/choose.ts';
import type { Limits, Outcome, Progress } from '../../src/solvers/epochs.ts';
import type { Kernels } from '../../src/solvers/kernels/kernels.ts';
import { plainKernels } from '../../src/solvers/kernels/plain/index.ts';
import { kernelModule, wasmKernels } from '../../src/solvers/kernels/wasm.ts';
import { allocateMoments, type MomentsMemory } from '../../src/solvers/objective/column-moments.ts';
import { Objective } from '../../src/solvers/objective/objective.ts';
import {
  allocateProblem,
  layOutProblem,
  type Problem,
} from '../../src/solvers/objective/problem.ts';
import type { Solver } from '../../src/solvers/registry.ts';
import { entryOf, loadSolver, type SolverPlan, solverEntries } from '../../src/solvers/registry.ts';
import { allocateRun, type RunMemory, type RunPayload } from '../../src/solvers/run.ts';
import type { SolverContext } from '../../src/solvers/solver.ts';
import { farArena } from './engine-arrays.ts';
import { partition } from './partition.ts';

// Tests make methods without waiting for their code.
for (const name of Object.keys(solverEntries))
  await loadSolver({ name: name as SolverPlan['name'] });

/** A problem laid out in memory, before any thread works on it. */
export interface Engine {
  readonly problem: Problem;
  readonly memory: RunMemory;
  readonly moments?: MomentsMemory;
  readonly plan: SolverPlan;
  readonly loss: Loss;
  readonly seed: number;
  readonly arena: Arena;
}

export interface EngineOptions {
  readonly dataset: Dataset;
  readonly loss: Loss;
  readonly penalty: Penalty;
  readonly solver: Solver;
  readonly lambda?: number;
  readonly grid?: number;
  readonly seed?: number;
  readonly intercept?: boolean;
  readonly factors?: Float64Array;
  /** Default: one WebAssembly memory for all arrays; `far`: beyond 4 GiB of it. */
  readonly kernels?: Kernels['name'] | 'far';
}

/** What train() does before it starts threads, with access to every intermediate step. */
export function prepare(options: EngineOptions): Engine {
  const { dataset, loss, penalty, solver, lambda = 0.01, grid: size = 1, seed = 1 } = options;
  const { intercept = false, factors, kernels = 'wasm' } = options;
  const plan = choose(solver, {
    loss,
    penalty,
    lambda,
    intercept,
    factors: factors !== undefined,
    shape: dataset,
  });
  const parts = partition(dataset, size, seed, intercept);
  const allocate = (arena: Arena) => ({
    grid: allocateGrid(arena, parts, entryOf(plan).orientation),
    memory: allocateRun(arena, parts, plan),
    problem: allocateProblem(arena, parts, penalty),
    moments: penalty.l1 > 0 ? allocateMoments(arena, parts) : undefined,
  });
  const budget = new Budget();
  allocate(budget);
  const arenas = { wasm: createArena, far: farArena, plain: () => separateArena };
  const arena = arenas[kernels](budget.bytes);
  const { grid, memory, moments, problem: room } = allocate(arena);
  for (let worker = 0; worker < size; worker++) fillWorker(grid, dataset, intercept, worker);
  const classes =
    loss.task === 'classification' ? { classes: classesOf(dataset), multiLabel: false } : undefined;
  const problem = layOutProblem(room, grid, targetsOf(dataset, classes).of(0), {
    penalty,
    lambda,
    factors,
    intercept,
    rowWeights: rowWeights(dataset),
    totalWeight: rowWeights(dataset)?.reduce((sum, weight) => sum + weight, 0),
  });
  return { problem, memory, ...(moments && { moments }), plan, loss, seed, arena };
}

export function kernelsOf({ arena, loss }: Engine): Kernels {
  return arena.memory
    ? wasmKernels(kernelModule(loss.name, arena.memory), arena.memory, loss.parameter)
    : plainKernels(loss);
}

/** A team of one, in this thread, that plays every worker. */
export function contextOf(engine: Engine): SolverContext {
  const { problem, memory, seed } = engine;
  const kernels = kernelsOf(engine);
  const team = new Team(shareTeam({ threads: 1, workers: problem.grid.size, cores: 1 }), 0);
  const ring = new Ring(team);
  const objective = new Objective(problem, kernels, team, ring, memory.objective);
  return { problem, kernels, team, ring, objective, seed, tolerance: 0 };
}

/** Enough threads that no later run of a test file needs a new pool. */
const mostThreads = 4;

/** Runs the solver on real worker threads; the arrays of `engine` then hold where it ended. */
export async function runOnThreads(
  engine: Engine,
  threads: number,
  limits: Partial<Limits>,
  trace?: Int32Array,
): Promise<{ outcome: Outcome; events: Progress[] }> {
  const { problem, memory, moments, plan, loss, seed, arena } = engine;
  const { memory: wasmMemory } = arena;
  const shared = shareTeam({ threads, workers: problem.grid.size, cores: threads, trace });
  const payload: Omit<RunPayload, 'index'> = {
    shared,
    problem,
    memory,
    ...(moments && { moments }),
    plan,
    loss: { name: loss.name, parameter: loss.parameter },
    seed,
    limits: { tolerance: 1e-300, epochs: 10, time: Infinity, ...limits },
    ...(wasmMemory && {
      wasm: { module: kernelModule(loss.name, wasmMemory), memory: wasmMemory },
    }),
  };
  const events: Progress[] = [];
  const outcomes = await threadPool(Math.max(threads, mostThreads)).runAll<Outcome>(
    'solve',
    threads,
    (index): RunPayload => ({ ...payload, index }),
    { onEvent: (event) => events.push(event as Progress) },
  );
  return { outcome: outcomes[0], events };
}

import type { Kernels } from '../kernels/kernels.ts';
import { plainKernels } from '../kernels/plain/index.ts';
import { wasmKernels } from '../kernels/wasm.ts';
import { loadLoss, lossByName } from '../losses/index.ts';
import type { Loss } from '../losses/loss.ts';
import { Mixture } from '../objective/mixture.ts';
import { allocateObjective, Objective, type ObjectiveMemory } from '../objective/objective.ts';
import type { Problem } from '../objective/problem.ts';
import type { Arena } from '../parallel/arena.ts';
import type { Partition } from '../parallel/partition.ts';
import { Ring } from '../parallel/ring.ts';
import { Team, type TeamShared } from '../parallel/team.ts';
import { drive, type Limits, type Outcome, type Progress } from './drive.ts';
import { engineOf, type Plan } from './engines.ts';
import type { Workplace } from './method.ts';
import { TestMeasure, type TestRows } from './test-measure.ts';

/** The arrays of a run; those of the method are known to its engine alone. */
export interface RunMemory {
  readonly objective: ObjectiveMemory;
  readonly best: Float64Array;
  readonly bestMargins: Float64Array;
  readonly method: unknown;
}

export function allocateRun(arena: Arena, partition: Partition, plan: Plan): RunMemory {
  return {
    objective: allocateObjective(arena, partition),
    best: arena.float64(partition.columnOrder.length),
    bestMargins: arena.float64(partition.rowOrder.length),
    method: engineOf(plan).allocate(arena, partition, plan.settings),
  };
}

/** Everything a thread is told to take part in a run. */
export interface RunPayload {
  readonly index: number;
  readonly shared: TeamShared;
  readonly problem: Problem;
  readonly memory: RunMemory;
  readonly plan: Plan;
  readonly loss: { readonly name: string; readonly parameter: number; readonly module?: string };
  readonly seed: number;
  readonly limits: Limits;
  readonly wasm?: { readonly module: WebAssembly.Module; readonly memory: WebAssembly.Memory };
  readonly test?: TestRows;
}

async function lossOf({ loss }: RunPayload): Promise<Loss> {
  if (loss.module) return { ...(await loadLoss(loss.module)), parameter: loss.parameter };
  const plain = lossByName(loss.name);
  return plain.parameterName ? lossByName(loss.name, loss.parameter) : plain;
}

/** One thread's part of a run, from start to outcome. Thread 0 reports. */
export async function runThread(
  payload: RunPayload,
  report: (progress: Progress) => void,
): Promise<Outcome> {
  const { problem, shared, index, memory, wasm, test, limits, seed } = payload;
  const loss = await lossOf(payload);
  // What a method does before its first epoch is part of its time.
  const started = performance.now();
  const kernels: Kernels = wasm
    ? wasmKernels(wasm.module, wasm.memory, loss.parameter)
    : plainKernels(loss);
  const team = new Team(shared, index);
  const ring = new Ring(team);
  const objective = new Objective(problem, kernels, team, ring, memory.objective);
  const place: Workplace = { problem, kernels, team, ring, objective, seed };
  const method = engineOf(payload.plan).create(place, memory.method, payload.plan.settings, loss);
  const measure = test && new TestMeasure(test, problem, team, loss.task);
  const best = new Mixture(memory.best, memory.bestMargins, objective, team);
  return drive(place, method, { ...limits, started }, best, measure, report);
}

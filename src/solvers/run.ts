import type { Dataset } from '../data/dataset.ts';
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
import type { Plan } from './choose.ts';
import { drive, type Limits, type Outcome, type Progress } from './drive.ts';
import { allocateDso, Dso, type DsoMemory } from './dso.ts';
import type { Method, Workplace } from './method.ts';
import { allocateRingColumns, RingColumns, type RingColumnsMemory } from './ring-columns.ts';
import { RingRows } from './ring-rows.ts';
import { allocateRingRows, type RingRowsMemory } from './ring-rows-state.ts';
import { TestError } from './test-error.ts';

/** The arrays of a run; which ones depends on the plan. */
export interface RunMemory {
  readonly objective: ObjectiveMemory;
  readonly best: Float64Array;
  readonly bestMargins: Float64Array;
  readonly method: RingRowsMemory | RingColumnsMemory | DsoMemory;
}

export function allocateRun(arena: Arena, partition: Partition, plan: Plan): RunMemory {
  const method =
    plan.solver === 'dso'
      ? allocateDso(arena, partition, plan.settings)
      : plan.mode === 'rows'
        ? allocateRingRows(arena, partition, plan.mapped)
        : allocateRingColumns(arena, partition);
  return {
    objective: allocateObjective(arena, partition),
    best: arena.float64(partition.columnOrder.length),
    bestMargins: arena.float64(partition.rowOrder.length),
    method,
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
  readonly test?: { readonly dataset: Dataset; readonly targets: Float64Array };
}

async function lossOf({ loss }: RunPayload): Promise<Loss> {
  if (loss.module) return { ...(await loadLoss(loss.module)), parameter: loss.parameter };
  const plain = lossByName(loss.name);
  return plain.parameterName ? lossByName(loss.name, loss.parameter) : plain;
}

function methodOf(place: Workplace, payload: RunPayload, loss: Loss): Method {
  const { plan, memory } = payload;
  if (plan.solver === 'dso') {
    return new Dso(place, memory.method as DsoMemory, plan.settings, loss);
  }
  return plan.mode === 'rows'
    ? new RingRows(place, memory.method as RingRowsMemory, plan)
    : new RingColumns(place, memory.method as RingColumnsMemory, plan);
}

/** One thread's part of a run, from start to outcome. Thread 0 reports. */
export async function runThread(
  payload: RunPayload,
  report: (progress: Progress) => void,
): Promise<Outcome> {
  const { problem, shared, index, memory, wasm, test, limits, seed } = payload;
  const loss = await lossOf(payload);
  const kernels: Kernels = wasm
    ? wasmKernels(wasm.module, wasm.memory, loss.parameter)
    : plainKernels(loss);
  const team = new Team(shared, index);
  const ring = new Ring(team);
  const objective = new Objective(problem, kernels, team, ring, memory.objective);
  const place: Workplace = { problem, kernels, team, ring, objective, seed };
  const method = methodOf(place, payload, loss);
  const testError = test && new TestError(test, problem, team, loss.task);
  const measure = testError && ((weights: Float64Array) => testError.measure(weights));
  const best = new Mixture(memory.best, memory.bestMargins, objective, team);
  return drive(place, method, limits, best, measure, report);
}

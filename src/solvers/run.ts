import type { MessagePort } from 'node:worker_threads';
import type { Workers } from '../checkpoint/names.ts';
import type { Arena } from '../engine/arena.ts';
import { type Generation, loadArrays } from '../engine/checkpoint/load.ts';
import { type StateArray, stateArrays } from '../engine/checkpoint/state.ts';
import { Keeper, type KeeperSettings } from '../engine/checkpoint/writer.ts';
import type { Partition } from '../engine/partition.ts';
import { Ring } from '../engine/ring.ts';
import { Team, type TeamShared } from '../engine/team.ts';
import { wasmKernels } from '../kernels/wasm.ts';
import { loadLoss, lossByName } from '../losses/index.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { type SavedStanding, Standing } from './convergence.ts';
import { EarlyStop } from './early-stop.ts';
import { engineOf, type Plan } from './engines.ts';
import { drive, type Keeping, type Limits, type Outcome, type Progress } from './epochs.ts';
import { Highlights } from './highlights.ts';
import type { Kernels } from './kernels/kernels.ts';
import { plainKernels } from './kernels/plain/index.ts';
import type { Method, Start, Workplace } from './method.ts';
import { Mixture } from './objective/best-point.ts';
import { allocateObjective, Objective, type ObjectiveMemory } from './objective/objective.ts';
import type { Problem } from './objective/problem.ts';
import { TestMeasure, type TestRows } from './test-error.ts';

/** The arrays of a run; those of the method are known to its engine alone. */
export interface RunMemory {
  readonly objective: ObjectiveMemory;
  readonly best: Float64Array;
  readonly bestMargins: Float64Array;
  /** The point that did best on the test rows, where it is kept: else of length 0. */
  readonly tested: Float64Array;
  readonly method: unknown;
}

export function allocateRun(
  arena: Arena,
  partition: Partition,
  plan: Plan,
  stopsEarly = false,
): RunMemory {
  return {
    objective: allocateObjective(arena, partition),
    best: arena.float64(partition.travelling),
    bestMargins: arena.float64(partition.rowOrder.length),
    tested: arena.float64(stopsEarly ? partition.travelling : 0),
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
  /** Measurements on test rows without a better one that end the run; needs room in `memory`. */
  readonly earlyStop?: number;
  /** Where to start, unless the run resumes. */
  readonly start?: Start;
  /** Whether somebody wants to know, now and then, what the threads do and which weights are large. */
  readonly samples?: boolean;
  readonly checkpoint?: KeeperSettings;
  readonly resume?: Resume;
  /** For the first thread of a process among others: where to tell the carrier what travels. */
  readonly carrier?: MessagePort;
}

/** The checkpoint a run goes on from. */
export interface Resume {
  readonly found: Generation;
  readonly sameTolerance: boolean;
  readonly sameTest: boolean;
}

/** What thread 0 says besides its progress. */
export interface Notice {
  readonly notice: string;
}

/** Also from thread 0: the run can be gone on with from this epoch. */
export interface Kept {
  readonly kept: number;
}

async function lossOf({ loss }: RunPayload): Promise<Loss> {
  if (loss.module) return { ...(await loadLoss(loss.module)), parameter: loss.parameter };
  const plain = lossByName(loss.name);
  return plain.parameterName ? lossByName(loss.name, loss.parameter) : plain;
}

/** One thread's part of a run, from start to outcome. Thread 0 reports. */
export async function runThread(
  payload: RunPayload,
  report: (message: Progress | Notice | Kept) => void,
): Promise<Outcome> {
  const { problem, shared, index, memory, wasm, test, limits, seed, resume, earlyStop } = payload;
  const loss = await lossOf(payload);
  // What a method does before its first epoch is part of its time.
  const started = performance.now();
  const kernels: Kernels = wasm
    ? wasmKernels(wasm.module, wasm.memory, loss.parameter)
    : plainKernels(loss);
  const team = new Team(shared, index);
  const ring = new Ring(team, payload.carrier);
  const objective = new Objective(problem, kernels, team, ring, memory.objective);
  const resumes = resume !== undefined;
  const start = resumes ? undefined : payload.start;
  const common = { problem, kernels, team, ring, objective, seed, resumes };
  const place: Workplace = { ...common, ...(start && { start }) };
  const method = engineOf(payload.plan).create(place, memory.method, payload.plan.settings, loss);
  const measure = test && new TestMeasure(test, place, loss);
  const best = new Mixture(memory.best, memory.bestMargins, objective, team);
  const early =
    earlyStop === undefined ? undefined : new EarlyStop(earlyStop, memory.tested, place);
  const atZero = objective.primalAtZero();
  const standing = new Standing(method, best, measure, limits.tolerance, atZero, early);
  if (start) {
    standing.begin(start.weights, start.alpha ? objective.dualWithin(start.alpha) : -Infinity);
  }
  const arrays = () => arraysOf(memory, method);
  const { partition } = problem.grid;
  if (resume) goOn(resume, team, partition, method, standing, arrays);
  const before = resume?.found.header;
  const notice = (message: string) => report({ notice: message });
  const { checkpoint } = payload;
  const keeper = checkpoint && new Keeper(checkpoint, partition, before?.epoch ?? 0, notice);
  return drive(place, method, standing, { ...limits, started, ...(before && { before }) }, report, {
    keeping: keeper && keepingOf(team, method, standing, keeper, arrays, report),
    highlights: payload.samples ? new Highlights(team, memory.best, partition) : undefined,
  });
}

function arraysOf({ best, bestMargins, tested }: RunMemory, method: Method): StateArray[] {
  // Where the best point is an iterate as it was, its margins follow from it.
  const row = method.mixes ? { bestMargins } : {};
  const result = stateArrays({ row, column: { best, tested } });
  return [...result, ...method.arrays()];
}

/** Puts a run where a checkpoint was taken. */
function goOn(
  { found, sameTolerance, sameTest }: Resume,
  team: Team,
  partition: Partition,
  method: Method,
  standing: Standing,
  arrays: () => StateArray[],
): void {
  const { saved } = found.header;
  method.restore(saved.method);
  // Threads may still be at their first point.
  team.barrier();
  if (team.index === 0) loadArrays(found, arrays(), partition);
  team.barrier();
  method.resume();
  standing.restore(saved.standing as SavedStanding, sameTolerance, sameTest);
}

/** All threads stand still while the first one of each process writes straight from shared memory. */
function keepingOf(
  team: Team,
  method: Method,
  standing: Standing,
  keeper: Keeper,
  arrays: () => StateArray[],
  report: (message: Kept) => void,
): Keeping {
  return {
    isDue: (epoch) => team.fromFirst(() => (keeper.isDue(epoch) ? 1 : 0)) === 1,
    keep(epoch, seconds) {
      const numbers = method.save();
      team.barrier();
      if (team.index === 0) {
        const saved = { standing: standing.save(), method: numbers };
        keeper.write({ epoch, seconds, saved }, arrays);
      }
      const failed = failedAnywhere(team, keeper);
      if (team.index === 0) {
        keeper.settle(epoch, failed, team.leads);
        if (keeper.newest !== undefined) report({ kept: keeper.newest });
      }
      team.barrier();
    },
  };
}

/** The workers, from the first to the last, whose part could not be written. */
function failedAnywhere(team: Team, keeper: Keeper): Workers | undefined {
  const { workers } = team.shared;
  const [end, fromBehind] = team.reduce(
    2,
    (_, values) => {
      if (keeper.failed) values.set([keeper.failed[1], workers - keeper.failed[0]]);
    },
    'max',
  );
  return end > 0 ? [workers - fromBehind, end] : undefined;
}

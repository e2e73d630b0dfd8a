import type { MessagePort } from 'node:worker_threads';
import { withName } from '../data/read/line-error.ts';
import type { Arena } from '../engine/arena.ts';
import type { Workers } from '../engine/checkpoint/folder.ts';
import { type CheckpointSet, loadArrays } from '../engine/checkpoint/resume.ts';
import { type StateArray, stateArrays } from '../engine/checkpoint/state.ts';
import { CheckpointWriter, type CheckpointWriterSettings } from '../engine/checkpoint/writer.ts';
import type { Partition } from '../engine/partition.ts';
import { Ring } from '../engine/ring.ts';
import { Team, type TeamShared } from '../engine/team.ts';
import type { Pause } from '../engine/thread.ts';
import { loadLoss, lossByName } from '../problem/losses/index.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { Convergence, type SavedConvergence } from './convergence.ts';
import { EarlyStop } from './early-stop.ts';
import {
  type CheckpointSchedule,
  type Limits,
  type Outcome,
  type Progress,
  runEpochs,
} from './epochs.ts';
import type { Kernels } from './kernels/kernels.ts';
import { plainKernels } from './kernels/plain/index.ts';
import { wasmKernels } from './kernels/wasm.ts';
import { BestPoint } from './objective/best-point.ts';
import { allocateCertificate, Certifier } from './objective/certificate.ts';
import type { MomentsMemory } from './objective/column-moments.ts';
import { allocateObjective, Objective } from './objective/objective.ts';
import { infimumIsZero, type Problem } from './objective/problem.ts';
import { ZeroWeights } from './objective/zero-weights.ts';
import { scaleRatio } from './progress-watch.ts';
import { loadSolver, type SolverPlan } from './registry.ts';
import { checkSavedMethod } from './saved-state.ts';
import { allocateMethod, createMethod } from './sequence.ts';
import type { Method, SolverContext, WarmStart } from './solver.ts';
import { LargestWeights } from './statistics.ts';
import { TestMeasure, type TestRows } from './test-error.ts';

/** The arrays of a run; those of the method are known to its code alone. */
export type RunMemory = ReturnType<typeof allocateRun>;

export function allocateRun(
  arena: Arena,
  partition: Partition,
  plan: SolverPlan,
  stopsEarly = false,
) {
  return {
    objective: allocateObjective(arena, partition),
    certificate: allocateCertificate(arena, partition),
    best: arena.float64(partition.bufferLength),
    bestMargins: arena.float64(partition.rowOrder.length),
    /** The point that did best on the test rows, where it is saved. */
    tested: arena.float64(stopsEarly ? partition.bufferLength : 0),
    ...allocateMethod(arena, partition, plan),
  };
}

/** Everything a thread needs to take part in a run. */
export interface RunPayload {
  readonly index: number;
  readonly shared: TeamShared;
  readonly problem: Problem;
  readonly memory: RunMemory;
  /** Where the penalty has an L1 part. */
  readonly moments?: MomentsMemory;
  readonly plan: SolverPlan;
  readonly loss: { readonly name: string; readonly parameter: number; readonly module?: string };
  readonly seed: number;
  readonly limits: Limits;
  readonly wasm?: { readonly module: WebAssembly.Module; readonly memory: WebAssembly.Memory };
  readonly test?: TestRows;
  /** Measurements on test rows without a lower error that end the run; needs `tested` in `memory`. */
  readonly earlyStop?: number;
  /** Where to start, unless the run resumes. */
  readonly start?: WarmStart;
  /** Whether nobody asks how the run comes along: then it reports no epochs, only the order of visits. */
  readonly quiet?: boolean;
  /** Whether the run is observed: now and then it reports what threads do and the largest weights. */
  readonly samples?: boolean;
  readonly checkpoint?: CheckpointWriterSettings;
  readonly resume?: Resume;
  /** For the first thread of a process among others: where it announces the fields of blocks. */
  readonly commPort?: MessagePort;
}

/** The checkpoint a run continues from. */
export interface Resume {
  readonly found: CheckpointSet;
  readonly sameTolerance: boolean;
  readonly sameTest: boolean;
}

/** Thread 0 also reports notices. */
export interface Notice {
  readonly notice: string;
  /** Whether the user must know it even if the rest is quiet. */
  readonly warning?: boolean;
}

/** From thread 0: the run can be resumed from this epoch. */
export interface CheckpointSaved {
  readonly saved: number;
}

async function lossOf({ loss }: RunPayload): Promise<Loss> {
  if (loss.module) return { ...(await loadLoss(loss.module)), parameter: loss.parameter };
  const plain = lossByName(loss.name);
  return plain.parameterName ? lossByName(loss.name, loss.parameter) : plain;
}

/** One thread's part of a run, from start to outcome. Thread 0 reports. */
export async function runThread(
  payload: RunPayload,
  report: (message: Progress | Notice | CheckpointSaved) => void,
  pause?: Pause,
): Promise<Outcome> {
  const { problem, shared, index, memory, wasm, test, limits, seed, resume, earlyStop } = payload;
  const loss = await lossOf(payload);
  await loadSolver(payload.plan);
  // What a method does before its first epoch is part of its time.
  const started = performance.now();
  const kernels: Kernels = wasm
    ? wasmKernels(wasm.module, wasm.memory, loss.parameter)
    : plainKernels(loss);
  const team = new Team(shared, index);
  const ring = new Ring(team, payload.commPort);
  const objective = new Objective(problem, kernels, team, ring, memory.objective);
  const resumes = resume !== undefined;
  const start = resumes ? undefined : payload.start;
  const { tolerance } = limits;
  const common = { problem, kernels, team, ring, objective, seed, tolerance, resumes };
  const context: SolverContext = { ...common, ...(start && { start }) };
  const method = createMethod(context, memory, payload.plan, loss);
  const measure = test && new TestMeasure(test, context, loss);
  const point = { weights: memory.best, margins: memory.bestMargins };
  const best = new BestPoint(point, objective, team);
  const early =
    earlyStop === undefined ? undefined : new EarlyStop(earlyStop, memory.tested, objective);
  const atZero = objective.primalAtZero();
  const { centre } = problem;
  const certifier = new Certifier(objective, team, ring, loss, memory.certificate);
  const judged = { method, best, test: measure, early, certifier };
  const convergence = new Convergence({
    ...judged,
    tolerance,
    atZero,
    centre,
    zeroWeights:
      payload.moments &&
      new ZeroWeights(context, loss, certifier, memory.certificate, payload.moments),
    scaleRatio: () => scaleRatio(objective, team),
    vanishes: infimumIsZero(problem, loss, team),
  });
  if (start) {
    const { weights, alpha } = start;
    convergence.begin(weights, alpha && { alpha, dual: objective.dualWithin(alpha) });
  }
  const { partition } = problem.grid;
  const run = { team, partition, method, convergence, arrays: () => arraysOf(memory, method) };
  if (resume) resumeRun(run, resume);
  const before = resume?.found.header;
  const warn = (message: string) => report({ notice: message, warning: true });
  const { checkpoint } = payload;
  const writer =
    checkpoint && new CheckpointWriter(checkpoint, partition, before?.epoch ?? 0, warn);
  const runLimits = { ...limits, started, ...(before && { before }) };
  const reportVisits = (progress: Progress) => {
    if (progress.visits) report(progress);
  };
  const epochs = runEpochs(context, method, convergence, runLimits, {
    report: payload.quiet ? reportVisits : report,
    checkpoints: writer && checkpointScheduleOf(run, writer, report),
    largest: payload.samples ? new LargestWeights(team, memory.best, partition) : undefined,
  });
  for (;;) {
    const { done, value } = epochs.next();
    if (done) return value;
    const others = pause?.();
    if (others) await others;
  }
}

/** One thread's part of a run. */
interface ThreadRun {
  readonly team: Team;
  readonly partition: Partition;
  readonly method: Method;
  readonly convergence: Convergence;
  readonly arrays: () => StateArray[];
}

function arraysOf(memory: RunMemory, method: Method): StateArray[] {
  const { best, bestMargins, tested } = memory;
  const { alpha: bestAlpha } = memory.certificate;
  // Where the best point is an iterate as it was, its margins follow from it.
  const row = { bestAlpha, ...(method.result !== 'best' && { bestMargins }) };
  const result = stateArrays({ row, column: { best, tested } });
  return [...result, ...method.arrays()];
}

/** Puts a run where a checkpoint was saved. */
function resumeRun(
  { team, partition, method, convergence, arrays }: ThreadRun,
  { found, sameTolerance, sameTest }: Resume,
): void {
  const { saved } = found.header;
  const naming = (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw withName(found.parts[0]?.path ?? 'checkpoint', error);
    }
  };
  naming(() => {
    checkSavedMethod(saved.method, method.save());
    method.restore(saved.method);
  });
  // Threads may still be at their first point.
  team.barrier();
  if (team.index === 0) loadArrays(found, arrays(), partition);
  team.barrier();
  naming(() => method.resume());
  convergence.restore(saved.convergence as SavedConvergence, sameTolerance, sameTest);
}

/** All threads wait while the first one of each process writes straight from shared memory. */
function checkpointScheduleOf(
  { team, method, convergence, arrays }: ThreadRun,
  writer: CheckpointWriter,
  report: (message: CheckpointSaved) => void,
): CheckpointSchedule {
  return {
    isDue: (epoch) => team.fromFirst(() => (writer.isDue(epoch) ? 1 : 0)) === 1,
    save(epoch, seconds) {
      const numbers = method.save();
      team.barrier();
      if (team.index === 0) {
        const saved = { convergence: convergence.save(), method: numbers };
        writer.write({ epoch, seconds, saved }, arrays);
      }
      const failed = failedAnywhere(team, writer);
      if (team.index === 0) {
        writer.settle(epoch, failed, team.leads);
        if (writer.newest !== undefined) report({ saved: writer.newest });
      }
      team.barrier();
    },
  };
}

/** The workers, from the first to the last, whose part could not be written. */
function failedAnywhere(team: Team, writer: CheckpointWriter): Workers | undefined {
  const { workers } = team.shared;
  const [end, fromEnd] = team.reduce(
    2,
    (_, values) => {
      if (writer.failed) values.set([writer.failed[1], workers - writer.failed[0]]);
    },
    'max',
  );
  return end > 0 ? [workers - fromEnd, end] : undefined;
}

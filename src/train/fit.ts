import { MessageChannel } from 'node:worker_threads';
import { fairCores } from '../engine/processes/process-group.ts';
import { blockPositions } from '../engine/ring.ts';
import { shareTeam } from '../engine/team.ts';
import { runTogether } from '../engine/thread-pool.ts';
import type { Outcome, Progress } from '../solvers/epochs.ts';
import { kernelModule } from '../solvers/kernels/wasm.ts';
import type { Gap } from '../solvers/objective/objective.ts';
import type { CheckpointSaved, Notice, RunPayload } from '../solvers/run.ts';
import type { Sample } from '../solvers/statistics.ts';
import { collectAlpha, collectWeights, concatenated, lossReference } from './assemble.ts';
import { type RunCheckpoint, visitedBefore } from './checkpoints.ts';
import type { SampleEvent } from './events.ts';
import {
  type LaidOutTraining,
  type ProblemBuffers,
  type Subproblem,
  setUpProblem,
} from './layout.ts';
import { poolOf } from './place.ts';
import { alphaByRow } from './warm-start.ts';

/**
 * Calls the caller's functions during a run, in a message handler, where an exception would end the
 * process. The first exception is stored, the run stops, and train() rejects with it.
 */
function guardCallbacks(stop: () => void) {
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    stop();
  };
  return {
    call<Event>(callback: ((event: Event) => unknown) | undefined, event: Event): void {
      try {
        const result = callback?.(event);
        if (result instanceof Promise) result.catch(fail);
      } catch (error) {
        fail(error);
      }
    },
    rethrow(): void {
      if (failure) throw failure.error;
    },
  };
}

export interface Fit {
  /** By column, the intercept last; only where the model is put together. */
  readonly weights: Float64Array | undefined;
  readonly outcome: Outcome;
  /** What it was solved by, where that is not the solver of the training. */
  readonly solver?: string;
  /** The checkpoint that the run continued from. */
  readonly resumed?: { readonly epoch: number; readonly seconds: number };
  readonly visits?: Int32Array | undefined;
  readonly bounds: readonly Gap[];
  /** The dual point by row, where the method has one. In one process. */
  readonly alpha?: Float64Array | undefined;
  /** The one that proves the bound, if it was asked for; at rank 0. */
  readonly proof?: { readonly alpha: Float64Array; readonly scale: number } | undefined;
}

/**
 * Works on tasks in parallel, each lane on its own threads and in its own workspace. When one fails,
 * the others are ended too; returns when all of them are over.
 */
export async function inLanes<Task>(
  { layout: { workspaces, halt } }: LaidOutTraining,
  tasks: readonly Task[],
  work: (task: Task, lane: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const follow = async (lane: number) => {
    while (next < tasks.length && !failure) {
      try {
        await work(tasks[next++], lane);
      } catch (error) {
        failure ??= { error };
        halt.abort();
      }
    }
  };
  await Promise.all(workspaces.map((_, lane) => follow(lane)));
  if (failure) throw failure.error;
}

/** Sets a subproblem up, solves it and collects its weights. */
export async function fitSubproblem(
  training: LaidOutTraining,
  subproblem: Subproblem,
  lane: number,
  time: number = training.settings.time,
): Promise<Fit> {
  const { layout, options, group, checkpoints, warmStarts } = training;
  const { release, ...checkpoint } = await checkpoints.begin(subproblem.vector);
  try {
    const buffers = setUpProblem(training, layout.workspaces[lane], subproblem);
    const { vector } = subproblem;
    const solved = await solve(training, buffers, { vector, lane, time, checkpoint });
    const weights = await collectWeights(buffers, layout.columnOrder, group);
    if (weights && layout.centre !== 0) weights[weights.length - 1] += layout.centre;
    const before = checkpoint.resume?.found.header;
    if (before && before.epoch === solved.outcome.epochs) {
      options.onNotice?.('the run was complete already: nothing was left to train');
    }
    const hasAlpha = group.size === 1 && (warmStarts || options.alpha);
    const alpha = hasAlpha ? alphaByRow(buffers, solved.outcome.dualPoint) : undefined;
    const proof = await proofOf(training, buffers, solved.outcome);
    const resumed = before && { epoch: before.epoch, seconds: before.seconds };
    return { weights, ...solved, alpha, proof, ...(resumed && { resumed }) };
  } finally {
    release();
  }
}

async function proofOf(
  { options, layout, group }: LaidOutTraining,
  buffers: ProblemBuffers,
  { dualScale: scale }: Outcome,
): Promise<Fit['proof']> {
  if (!options.keepDual || scale === undefined) return undefined;
  const alpha = await collectAlpha(buffers, layout.rowOrder, group);
  return alpha && { alpha, scale };
}

/** Solves a problem on the threads of a lane, in at most `time` seconds. */
async function solve(
  training: LaidOutTraining,
  buffers: ProblemBuffers,
  run: { vector: number; lane: number; time: number; checkpoint: RunCheckpoint },
): Promise<Pick<Fit, 'outcome' | 'visits' | 'bounds'>> {
  const { options, group, grid, vectors, layout } = training;
  const { threads, latest, halt } = layout;
  const cores = fairCores(group);
  const shared = shareTeam({ threads, workers: grid, cores, trace: options.trace, group });
  const interrupt = () => {
    Atomics.store(shared.interrupt, 0, 1);
  };
  const callbacks = guardCallbacks(interrupt);
  const { visits, bounds } = visitedBefore(run.checkpoint);
  const vector = vectors > 1 ? { vector: { index: run.vector, count: vectors } } : {};
  const report = (message: Progress | Notice | CheckpointSaved) => {
    if ('notice' in message) return options.onNotice?.(message.notice, message.warning);
    if ('saved' in message) return options.onCheckpoint?.(message.saved);
    const { visits: order, sample, ...progress } = message;
    if (order) {
      visits.push(order);
      bounds.push({ primal: progress.primal, dual: progress.dual });
    }
    callbacks.call(options.onEpoch, { ...progress, ...vector });
    if (!sample) return undefined;
    const event = sampleOf(training, sample, progress);
    return callbacks.call(options.onSample, { ...event, ...vector });
  };
  const signals = [halt.signal, ...(options.signal ? [options.signal] : [])];
  const positions = () => blockPositions(shared);
  latest.positions = positions;
  if (signals.some(({ aborted }) => aborted)) interrupt();
  for (const signal of signals) signal.addEventListener('abort', interrupt);
  const { port1, port2 } = new MessageChannel();
  const transfer = group.transferBlocks(shared.channel, port2);
  const payload = { ...payloadOf(training, buffers, run.time), ...run.checkpoint, shared };
  // Only the first thread of a process sends to the communication thread.
  const hasPort = (index: number) => shared.channel !== undefined && index === 0;
  try {
    const work = runTogether<Outcome>(
      poolOf(training, threads * layout.workspaces.length),
      'solve',
      threads,
      (index): RunPayload => ({ ...payload, index, ...(hasPort(index) && { commPort: port1 }) }),
      {
        onEvent: (event) => report(event as Progress | Notice | CheckpointSaved),
        transferOf: (index) => (hasPort(index) ? [port1] : []),
        first: run.lane * threads,
      },
    );
    const outcomes = await Promise.race([work, failureOf(transfer)]);
    group.endTransfer();
    await transfer;
    callbacks.rethrow();
    return {
      outcome: outcomes[0],
      visits: visits.length > 0 ? concatenated(Int32Array, visits) : undefined,
      bounds,
    };
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', interrupt);
    if (latest.positions === positions) latest.positions = undefined;
    port1.close();
  }
}

function payloadOf(
  { settings, layout, plan, options }: LaidOutTraining,
  { problem, memory, moments, test, start }: ProblemBuffers,
  time: number,
): Omit<RunPayload, 'index' | 'shared'> {
  const { loss, seed, tolerance, epochs } = settings;
  const { memory: wasmMemory } = layout.arena;
  return {
    problem,
    memory,
    ...(moments && { moments }),
    plan,
    loss: lossReference(loss),
    seed,
    limits: { tolerance, epochs, time },
    ...(wasmMemory && {
      wasm: { module: kernelModule(loss.name, wasmMemory), memory: wasmMemory },
    }),
    quiet: options.onEpoch === undefined && options.onSample === undefined,
    samples: options.onSample !== undefined,
    ...(test && { test }),
    ...(options.earlyStop !== undefined && { earlyStop: options.earlyStop }),
    ...(start && { start }),
  };
}

/** Columns instead of positions, weights as the model will have them. */
function sampleOf(
  { layout: { columnOrder }, factors, settings }: LaidOutTraining,
  { largest, memory, threads }: Sample,
  { epoch, seconds }: Progress,
): SampleEvent {
  const columns = columnOrder.length - (settings.intercept ? 1 : 0);
  const weights = largest.map(({ position, weight }) => {
    const column = columnOrder[position];
    return { column, weight: weight / (factors?.[column] ?? 1) };
  });
  const plain = weights.filter(({ column }) => column < columns);
  return { epoch, seconds, memory, threads, largest: plain };
}

/** Threads would wait forever for blocks that are no longer transferred. */
async function failureOf(transfer: Promise<void>): Promise<never> {
  await transfer;
  return new Promise(() => {});
}

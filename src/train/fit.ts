import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { hashShard, type RowHashes } from '../data/fingerprint.ts';
import { fillRows, fillWorker, type Grid } from '../engine/grid.ts';
import { fairCores } from '../engine/processes/process-group.ts';
import { blockPositions } from '../engine/ring.ts';
import { shareTeam, type TeamShared } from '../engine/team.ts';
import { runTogether, threadPool } from '../engine/thread-pool.ts';
import type { Outcome, Progress } from '../solvers/epochs.ts';
import { kernelModule } from '../solvers/kernels/wasm.ts';
import type { Gap } from '../solvers/objective/objective.ts';
import type { CheckpointSaved, Notice, RunPayload } from '../solvers/run.ts';
import type { Sample } from '../solvers/statistics.ts';
import { collectWeights } from './assemble.ts';
import { type RunCheckpoint, visitedBefore } from './checkpoints.ts';
import type { SampleEvent } from './events.ts';
import {
  type LaidOutTraining,
  type ProblemBuffers,
  type Subproblem,
  setUpProblem,
} from './layout.ts';
import { alphaByRow } from './warm-start.ts';

/**
 * Calls the caller's functions during a run, in a message handler, where an exception would end the
 * process. The first exception is remembered, the run is asked to stop, and train() rejects with it.
 */
export class CallbackGuard {
  readonly #stop: () => void;
  #failure: { readonly error: unknown } | undefined;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  call<Event>(callback: ((event: Event) => unknown) | undefined, event: Event): void {
    try {
      const result = callback?.(event);
      if (result instanceof Promise) result.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#stop();
  }

  rethrow(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

export interface Fit {
  /** By column, the intercept last; only where the model is put together. */
  readonly weights: Float64Array | undefined;
  readonly outcome: Outcome;
  /** The checkpoint that the run continued from. */
  readonly resumed?: { readonly epoch: number; readonly seconds: number };
  readonly visits?: Int32Array | undefined;
  readonly bounds: readonly Gap[];
  /** The dual point by row, where the method has one. In one process. */
  readonly alpha?: Float64Array | undefined;
}

/**
 * Runs at the same time, each on its own threads and in its own workspace. When one fails, the
 * others are ended too; returns when all of them are over.
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
    const run = new Run(training, subproblem.vector, lane, checkpoint);
    const solved = await run.solve(buffers, time);
    const weights = await collectWeights(buffers, layout.columnOrder, group);
    const before = checkpoint.resume?.found.header;
    if (before && before.epoch === solved.outcome.epochs) {
      options.onNotice?.('the run was complete already: nothing was left to train');
    }
    const wanted = group.size === 1 && (warmStarts || options.alpha);
    const alpha = wanted ? alphaByRow(buffers, solved.outcome.dualPoint) : undefined;
    const resumed = before && { epoch: before.epoch, seconds: before.seconds };
    return { weights, ...solved, alpha, ...(resumed && { resumed }) };
  } finally {
    release();
  }
}

/** One run of the threads of a lane. */
class Run {
  readonly #training: LaidOutTraining;
  readonly #lane: number;
  readonly #checkpoint: RunCheckpoint;
  readonly #shared: TeamShared;
  readonly #callbacks: CallbackGuard;
  /** Which vector of several an event is about. */
  readonly #vector: { vector?: { index: number; count: number } };
  readonly #visits: Int32Array[];
  readonly #bounds: Gap[];

  constructor(training: LaidOutTraining, vector: number, lane: number, checkpoint: RunCheckpoint) {
    const { options, group, grid, vectors, layout } = training;
    this.#training = training;
    this.#lane = lane;
    this.#checkpoint = checkpoint;
    const { trace } = options;
    const { threads } = layout;
    this.#shared = shareTeam({ threads, workers: grid, cores: fairCores(group), trace, group });
    this.#callbacks = new CallbackGuard(this.#interrupt);
    this.#vector = vectors > 1 ? { vector: { index: vector, count: vectors } } : {};
    const { visits, bounds } = visitedBefore(checkpoint);
    this.#visits = visits;
    this.#bounds = bounds;
  }

  readonly #interrupt = (): void => {
    Atomics.store(this.#shared.interrupt, 0, 1);
  };

  async solve(
    buffers: ProblemBuffers,
    time: number,
  ): Promise<Pick<Fit, 'outcome' | 'visits' | 'bounds'>> {
    const { options, layout, group } = this.#training;
    const signals = [layout.halt.signal, ...(options.signal ? [options.signal] : [])];
    const positions = () => blockPositions(this.#shared);
    layout.latest.positions = positions;
    if (signals.some(({ aborted }) => aborted)) this.#interrupt();
    for (const signal of signals) signal.addEventListener('abort', this.#interrupt);
    const { port1, port2 } = new MessageChannel();
    const transfer = group.transferBlocks(this.#shared.channel, port2);
    try {
      const work = this.#runThreads(buffers, time, port1);
      const outcomes = await Promise.race([work, failureOf(transfer)]);
      group.endTransfer();
      await transfer;
      this.#callbacks.rethrow();
      return { outcome: outcomes[0], visits: joined(this.#visits), bounds: this.#bounds };
    } finally {
      for (const signal of signals) signal.removeEventListener('abort', this.#interrupt);
      if (layout.latest.positions === positions) layout.latest.positions = undefined;
      port1.close();
    }
  }

  #runThreads(buffers: ProblemBuffers, time: number, port: MessagePort): Promise<Outcome[]> {
    const { threads, workspaces } = this.#training.layout;
    const payload = {
      ...payloadOf(this.#training, buffers, time),
      ...this.#checkpoint,
      shared: this.#shared,
    };
    // Only the first thread of a process among others has something to say to the communication thread.
    const hasPort = (index: number) => this.#shared.channel !== undefined && index === 0;
    return runTogether<Outcome>(
      threadPool(threads * workspaces.length),
      'solve',
      threads,
      (index): RunPayload => ({ ...payload, index, ...(hasPort(index) && { commPort: port }) }),
      {
        onEvent: (event) => this.#report(event as Progress | Notice | CheckpointSaved),
        transferOf: (index) => (hasPort(index) ? [port] : []),
        first: this.#lane * threads,
      },
    );
  }

  #report(message: Progress | Notice | CheckpointSaved): void {
    const { options } = this.#training;
    if ('notice' in message) {
      options.onNotice?.(message.notice);
      return;
    }
    if ('saved' in message) {
      options.onCheckpoint?.(message.saved);
      return;
    }
    const { visits, sample, ...progress } = message;
    if (visits) {
      this.#visits.push(visits);
      this.#bounds.push({ primal: progress.primal, dual: progress.dual });
    }
    this.#callbacks.call(options.onEpoch, { ...progress, ...this.#vector });
    if (!sample) return;
    const event = sampleOf(this.#training, sample, progress);
    this.#callbacks.call(options.onSample, { ...event, ...this.#vector });
  }
}

function payloadOf(
  { settings, layout, plan, options }: LaidOutTraining,
  { problem, memory, test, start }: ProblemBuffers,
  time: number,
): Omit<RunPayload, 'index' | 'shared'> {
  const { loss, seed, tolerance, epochs } = settings;
  const { name, parameter, module } = loss;
  const { memory: wasmMemory } = layout.arena;
  return {
    problem,
    memory,
    plan,
    loss: { name, parameter, ...(module && { module }) },
    seed,
    limits: { tolerance, epochs, time },
    ...(wasmMemory && { wasm: { module: kernelModule(name), memory: wasmMemory } }),
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
  const intercept = settings.intercept ? columnOrder.length - 1 : columnOrder.length;
  const weights = largest
    .map(({ position, weight }) => ({ column: columnOrder[position], weight }))
    .filter(({ column }) => column !== intercept)
    .map(({ column, weight }) => ({ column, weight: weight / (factors?.[column] ?? 1) }));
  return { epoch, seconds, memory, threads, largest: weights };
}

/** Threads would wait forever for blocks that are no longer transferred. */
async function failureOf(transfer: Promise<void>): Promise<never> {
  await transfer;
  return new Promise(() => {});
}

function joined(orders: readonly Int32Array[]): Int32Array | undefined {
  if (orders.length === 0) return undefined;
  const all = new Int32Array(orders.length * orders[0].length);
  for (const [epoch, order] of orders.entries()) all.set(order, epoch * order.length);
  return all;
}

export interface FillPayload {
  readonly grid: Grid;
  readonly dataset: Pick<Dataset, 'parts' | 'columns'>;
  readonly intercept: boolean;
  /** The workers to lay out, or with a single one the range of its rows. */
  readonly share:
    | { readonly workers: readonly number[] }
    | { readonly rows: readonly [number, number] };
}

/** Lays out some of the rows; the grid's memory is shared, so nothing is sent back. */
export function fill({ grid, dataset, intercept, share }: FillPayload): void {
  if ('rows' in share) fillRows(grid, dataset, intercept, share.rows);
  else for (const worker of share.workers) fillWorker(grid, dataset, intercept, worker);
}

export interface HashPayload {
  readonly part: DatasetPart;
  /** Which of all rows is the part's first. */
  readonly row: number;
}

export function hash({ part, row }: HashPayload): RowHashes {
  return hashShard({ parts: [part] }, row);
}

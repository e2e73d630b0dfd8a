import { MessageChannel } from 'node:worker_threads';
import { type Whereabouts, whereabouts } from '../engine/block-positions.ts';
import { type Company, fairCores } from '../engine/processes/process-group.ts';
import { shareTeam } from '../engine/team.ts';
import { kernelModule } from '../kernels/wasm.ts';
import { openTraffic } from '../parallel/traffic.ts';
import type { Sample } from '../solvers/effort.ts';
import type { Plan } from '../solvers/engines.ts';
import type { Outcome, Progress } from '../solvers/epochs.ts';
import type { Gap } from '../solvers/objective/objective.ts';
import type { Kept, Notice, RunPayload } from '../solvers/run.ts';
import { collectWeights } from './assemble.ts';
import { type Beginnings, type Continuation, visitedBefore } from './checkpoints.ts';
import type { SampleEvent } from './events.ts';
import { type Aim, type Ground, type Run, type Settings, setUp } from './lay-out.ts';
import { Listener } from './listener.ts';
import type { TrainOptions } from './options/options.ts';
import { alphaByRow } from './start.ts';
import { threadPool, together } from './threads.ts';

/** What stays as it is while one problem after the other is fitted to the same data. */
export interface Site {
  readonly ground: Ground;
  readonly options: TrainOptions;
  readonly settings: Settings;
  readonly plan: Plan;
  /** Of each run. */
  readonly threads: number;
  readonly company: Company | undefined;
  readonly beginnings: Beginnings;
  /** How many vectors the model has. */
  readonly vectors: number;
  /** What the columns were divided by for training, if they were. */
  readonly factors?: Float64Array | undefined;
  /** Looks at the run that was the last to begin, while it goes on. */
  readonly window: { look?: (() => Whereabouts) | undefined };
}

export interface Fit {
  /** By column, the intercept last; only where the model is put together. */
  readonly weights: Float64Array | undefined;
  readonly outcome: Outcome;
  /** The checkpoint that was gone on from. */
  readonly resumed?: { readonly epoch: number; readonly seconds: number };
  readonly visits?: Int32Array | undefined;
  readonly bounds: readonly Gap[];
  /** The dual point by row, where the method has one. In one process. */
  readonly alpha?: Float64Array | undefined;
}

/**
 * Runs at the same time, each on its own threads and in its own room. When one fails, the others are
 * ended too, and it is over when all of them are.
 */
export async function inLanes<Task>(
  { ground: { rooms, halt } }: Site,
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
  await Promise.all(rooms.map((_, lane) => follow(lane)));
  if (failure) throw failure.error;
}

/** Fits one problem: sets it up, solves it and brings its weights together. */
export async function fitProblem(
  site: Site,
  aim: Aim,
  lane: number,
  time: number = site.settings.time,
): Promise<Fit> {
  const { ground, options, settings, plan, company } = site;
  const { course, release } = await site.beginnings(aim.vector);
  try {
    const run = setUp(ground, ground.rooms[lane], aim, options, settings, plan);
    const solved = await solve(site, run, aim, lane, time, course);
    const weights = await collectWeights(run, ground.columnOrder, company);
    const before = course.resume?.found.header;
    if (before && before.epoch === solved.outcome.epochs) {
      options.onNotice?.('the run had come to its end before: nothing was left to train');
    }
    const wanted = !company && (ground.starts || options.alpha);
    const alpha = wanted ? alphaByRow(run, solved.outcome.dualPoint) : undefined;
    const resumed = before && { epoch: before.epoch, seconds: before.seconds };
    return { weights, ...solved, alpha, ...(resumed && { resumed }) };
  } finally {
    release();
  }
}

async function solve(
  site: Site,
  run: Run,
  aim: Aim,
  lane: number,
  time: number,
  course: Continuation,
): Promise<Pick<Fit, 'outcome' | 'visits' | 'bounds'>> {
  const { options, threads, company, ground, vectors } = site;
  const { grid } = run.problem;
  const shared = shareTeam({
    threads,
    workers: grid.size,
    cores: fairCores(company),
    trace: options.trace,
    ...(company && {
      open: (tokens) => openTraffic(company.rank, company.size, grid.size, tokens),
    }),
  });
  const payload = { ...payloadOf(site, run, time), shared, ...course };
  const interrupt = () => Atomics.store(shared.interrupt, 0, 1);
  const listener = new Listener(interrupt);
  const { visits, bounds } = visitedBefore(course);
  const signals = [ground.halt.signal, ...(options.signal ? [options.signal] : [])];
  const look = () => whereabouts(shared);
  site.window.look = look;
  if (signals.some(({ aborted }) => aborted)) interrupt();
  for (const signal of signals) signal.addEventListener('abort', interrupt);
  const { port1, port2 } = new MessageChannel();
  const carrying = company && shared.traffic && company.carry(shared.traffic, port2);
  const several = vectors > 1 && { vector: { index: aim.vector, count: vectors } };
  try {
    const work = together<Outcome>(
      threadPool(threads * ground.rooms.length),
      'solve',
      threads,
      (index): RunPayload => ({
        ...payload,
        index,
        ...(company && index === 0 && { carrier: port1 }),
      }),
      (event) => {
        const message = event as Progress | Notice | Kept;
        if ('notice' in message) {
          options.onNotice?.(message.notice);
          return;
        }
        if ('kept' in message) {
          options.onCheckpoint?.(message.kept);
          return;
        }
        const { visits: order, sample, ...progress } = message;
        if (order) {
          visits.push(order);
          bounds.push({ primal: progress.primal, dual: progress.dual });
        }
        listener.tell(options.onEpoch, { ...progress, ...several });
        if (!sample) return;
        listener.tell(options.onSample, { ...sampleOf(site, sample, progress), ...several });
      },
      (index) => (company && index === 0 ? [port1] : []),
      lane * threads,
    );
    const outcomes = await (carrying ? Promise.race([work, failureOf(carrying)]) : work);
    company?.endCarrying();
    await carrying;
    listener.rethrow();
    return { outcome: outcomes[0], visits: joined(visits), bounds };
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', interrupt);
    if (site.window.look === look) site.window.look = undefined;
    port1.close();
  }
}

function payloadOf(
  { settings, ground, plan, options }: Site,
  run: Run,
  time: number,
): Omit<RunPayload, 'index' | 'shared'> {
  const { loss, seed, tolerance, epochs } = settings;
  const { memory } = ground.arena;
  return {
    problem: run.problem,
    memory: run.memory,
    plan,
    loss: {
      name: loss.name,
      parameter: loss.parameter,
      ...(loss.module && { module: loss.module }),
    },
    seed,
    limits: { tolerance, epochs, time },
    ...(memory && { wasm: { module: kernelModule(loss.name), memory } }),
    samples: options.onSample !== undefined,
    ...(run.test && { test: run.test }),
    ...(options.earlyStop !== undefined && { earlyStop: options.earlyStop }),
    ...(run.start && { start: run.start }),
  };
}

/** Columns in place of places, weights as the model will have them. */
function sampleOf(
  { ground, factors, settings }: Site,
  { largest, memory, threads }: Sample,
  { epoch, seconds }: Progress,
): SampleEvent {
  const { columnOrder } = ground;
  const intercept = settings.intercept ? columnOrder.length - 1 : columnOrder.length;
  const weights = largest
    .map(({ place, weight }) => ({ column: columnOrder[place], weight }))
    .filter(({ column }) => column !== intercept)
    .map(({ column, weight }) => ({ column, weight: weight / (factors?.[column] ?? 1) }));
  return { epoch, seconds, memory, threads, largest: weights };
}

/** Threads would wait forever for what is no longer carried. */
async function failureOf(carrying: Promise<void>): Promise<never> {
  await carrying;
  return new Promise(() => {});
}

function joined(orders: readonly Int32Array[]): Int32Array | undefined {
  if (orders.length === 0) return undefined;
  const all = new Int32Array(orders.length * orders[0].length);
  for (const [epoch, order] of orders.entries()) all.set(order, epoch * order.length);
  return all;
}

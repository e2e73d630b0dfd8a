import { availableParallelism } from 'node:os';
import type { Dataset, DatasetPart } from '../data/dataset.ts';
import { classesOf, targets } from '../data/labels.ts';
import { splitDataset } from '../data/split.ts';
import { DataError } from '../errors.ts';
import { kernelModule } from '../kernels/wasm.ts';
import { losses } from '../losses/index.ts';
import { evaluate } from '../metrics/evaluate.ts';
import type { Model } from '../model/model.ts';
import type { Gap } from '../objective/objective.ts';
import { collectGarbage } from '../parallel/collect-garbage.ts';
import { imbalance } from '../parallel/grid.ts';
import { shareTeam } from '../parallel/team.ts';
import { penalties } from '../penalties/index.ts';
import { choose, gridFor } from '../solvers/choose.ts';
import type { Outcome, Progress } from '../solvers/drive.ts';
import type { Plan } from '../solvers/engines.ts';
import { solvers } from '../solvers/index.ts';
import type { Notice, RunPayload } from '../solvers/run.ts';
import { checkMemory, checkOptions } from './check-options.ts';
import { type Continuation, continuation, visitedBefore } from './checkpoints.ts';
import { type Input, layOut, type Run, type Settings } from './lay-out.ts';
import { Listener } from './listener.ts';
import type { TrainOptions, TrainReport, TrainResult } from './options.ts';
import { threadCount, threadPool, together } from './threads.ts';

/** Trains a model and certifies how far from the optimum it is at most. */
export async function train(dataset: Dataset, options: TrainOptions = {}): Promise<TrainResult> {
  const started = performance.now();
  checkOptions(dataset, options);
  const defaults = withDefaults(options);
  const input = prepareInput(dataset, options, defaults);
  checkMemory(input.train);
  const settings: Settings = { ...defaults, lambda: options.lambda ?? 1 / input.train.rows };
  const plan = choose(settings.solver, {
    ...settings,
    factors: options.penaltyFactors !== undefined,
    shape: input.train,
  });
  const grid = gridFor(plan, options.grid, input.train);
  const threads = isReplay(plan) ? 1 : Math.min(threadCount(options.threads), grid);
  options.onNotice?.(describe(plan, grid, threads));
  const course = continuation(dataset, options, { ...settings, plan, grid });
  const run = await layOut(input, options, settings, plan, grid, threads);
  if (options.consume) await release(threads, dataset, input.train);
  const laidOut = performance.now();
  const solved = await solve(run, input, options, settings, plan, threads, course);
  const { outcome, visits, bounds } = solved;
  const before = course.resume?.found.header;
  if (before && before.epoch === outcome.epochs) {
    options.onNotice?.('the run had come to its end before: nothing was left to train');
  }
  const ended = performance.now();
  const model = makeModel(run, input, settings, plan, grid, outcome);
  const test = input.test && evaluate(model, input.test);
  const report: TrainReport = {
    solver: model.solver,
    loss: settings.loss.name,
    penalty: settings.penalty.name,
    lambda: model.lambda,
    rows: model.rows,
    columns: model.columns,
    nonzeros: model.nonzeros,
    ...(model.classes && { classes: model.classes }),
    grid,
    threads,
    seed: settings.seed,
    epochs: outcome.epochs,
    passes: outcome.passes,
    ...(before && { resumed: { epoch: before.epoch, seconds: before.seconds } }),
    seconds: {
      read: 0,
      partition: (laidOut - started) / 1000,
      train: (ended - laidOut) / 1000,
      total: (performance.now() - started) / 1000,
    },
    primal: model.certificate.primal,
    dual: model.certificate.dual,
    gap: model.certificate.gap,
    relativeGap: model.certificate.relativeGap,
    stopped: outcome.stopped,
    imbalance: imbalance(run.problem.grid),
    ...(test && { test }),
  };
  return { model, report, ...(visits && { visits, bounds }) };
}

/** A recorded order is a serial one. */
function isReplay({ engine, settings }: Plan): boolean {
  return engine === 'dso-async' && settings.order !== undefined;
}

function withDefaults(options: TrainOptions): Omit<Settings, 'lambda'> {
  return {
    loss: options.loss ?? losses.hinge(),
    penalty: options.penalty ?? penalties.l2(),
    solver: options.solver ?? solvers.auto(),
    seed: options.seed ?? 1,
    epochs: options.epochs ?? 10_000,
    tolerance: options.tolerance ?? 1e-3,
    time: options.time ?? Infinity,
    intercept: options.intercept ?? false,
  };
}

function prepareInput(
  dataset: Dataset,
  options: TrainOptions,
  settings: Omit<Settings, 'lambda'>,
): Input {
  const { task } = settings.loss;
  const split =
    options.holdout === undefined
      ? { train: dataset, test: options.test }
      : splitDataset(dataset, options.holdout, settings.seed);
  const classes = task === 'classification' ? classesOf(split.train) : undefined;
  return {
    train: split.train,
    trainTargets: targets(split.train, task, classes),
    test: split.test,
    testTargets: split.test && targets(split.test, task, classes),
    classes,
  };
}

function describe(plan: Plan, grid: number, threads: number): string {
  const [name, mode] = plan.engine.split(/^(ring)-/).filter(Boolean);
  const workers = `grid ${grid} × ${grid} on ${threads} thread${threads === 1 ? '' : 's'}`;
  return `solver ${mode ? `${name} (${mode})` : name}: ${plan.reason}; ${workers}`;
}

/** From so many non-zeros on, memory is worth the few milliseconds it takes to get it back. */
const worthCollecting = 2e6;

/** Lets go of the data set's own arrays, here and in every thread: the grid holds the data now. */
async function release(threads: number, dataset: Dataset, trained: Dataset): Promise<void> {
  for (const { parts } of [dataset, trained]) (parts as DatasetPart[]).length = 0;
  if (dataset.nonzeros < worthCollecting) return;
  const pool = threadPool(threads);
  collectGarbage();
  await pool.runAll('collect-garbage', pool.threads, () => undefined);
}

function testRows(
  { test, testTargets }: Input,
  { auprc = false, testOn = 'best' }: TrainOptions,
): Pick<RunPayload, 'test'> {
  if (!test || !testTargets) return {};
  const scores = new Float64Array(new SharedArrayBuffer(auprc ? 8 * test.rows : 0));
  const latest = testOn === 'latest';
  return { test: { dataset: test, targets: testTargets, latest, ...(auprc && { scores }) } };
}

interface Solved {
  readonly outcome: Outcome;
  readonly visits: Int32Array | undefined;
  readonly bounds: Gap[];
}

async function solve(
  run: Run,
  input: Input,
  options: TrainOptions,
  settings: Settings,
  plan: Plan,
  threads: number,
  course: Continuation,
): Promise<Solved> {
  const { loss, seed, tolerance, epochs, time } = settings;
  const size = run.problem.grid.size;
  const shared = shareTeam(threads, size, availableParallelism(), options.trace);
  const { memory } = run.arena;
  const payload: Omit<RunPayload, 'index'> = {
    shared,
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
    ...testRows(input, options),
    ...course,
  };
  const interrupt = () => Atomics.store(shared.interrupt, 0, 1);
  const listener = new Listener(options.onEpoch, interrupt);
  const { visits, bounds } = visitedBefore(course);
  if (options.signal?.aborted) interrupt();
  options.signal?.addEventListener('abort', interrupt);
  try {
    const outcomes = await together<Outcome>(
      threadPool(threads),
      'solve',
      threads,
      (index): RunPayload => ({ ...payload, index }),
      (event) => {
        const message = event as Progress | Notice;
        if ('notice' in message) {
          options.onNotice?.(message.notice);
          return;
        }
        const { visits: order, ...progress } = message;
        if (order) {
          visits.push(order);
          bounds.push({ primal: progress.primal, dual: progress.dual });
        }
        listener.hear(progress);
      },
    );
    listener.rethrow();
    return { outcome: outcomes[0], visits: joined(visits), bounds };
  } finally {
    options.signal?.removeEventListener('abort', interrupt);
  }
}

function joined(orders: readonly Int32Array[]): Int32Array | undefined {
  if (orders.length === 0) return undefined;
  const all = new Int32Array(orders.length * orders[0].length);
  for (const [epoch, order] of orders.entries()) all.set(order, epoch * order.length);
  return all;
}

function makeModel(
  run: Run,
  input: Input,
  settings: Settings,
  plan: Plan,
  grid: number,
  outcome: Outcome,
): Model {
  const { columnPlace } = run.problem.grid.partition;
  const { columns, rows, nonzeros } = input.train;
  const weights = new Float64Array(columns);
  for (let j = 0; j < columns; j++) weights[j] = run.memory.best[columnPlace[j]];
  const { interceptPlace } = run.problem;
  const { primal, dual } = outcome;
  const { loss, penalty } = settings;
  if (!weights.every(Number.isFinite)) {
    throw new DataError(`${input.train.name}: training produced weights that are not finite`);
  }
  return {
    task: loss.task,
    loss: {
      name: loss.name,
      parameter: loss.parameter,
      ...(loss.module && { module: loss.module }),
    },
    penalty: { name: penalty.name, l1: penalty.l1, l2: penalty.l2 },
    lambda: settings.lambda,
    ...(input.classes && { classes: input.classes }),
    columns,
    rows,
    nonzeros,
    solver: plan.engine,
    grid,
    seed: settings.seed,
    certificate: {
      primal,
      dual,
      gap: Math.max(0, primal - dual),
      relativeGap: outcome.relativeGap,
      epochs: outcome.epochs,
      stopped: outcome.stopped,
    },
    weights,
    intercept: interceptPlace >= 0 ? run.memory.best[interceptPlace] : 0,
  };
}

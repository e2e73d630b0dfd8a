import type { Dataset } from '../../src/data/dataset.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { EpochEvent } from '../../src/train/events.ts';
import { train } from '../../src/train/train.ts';
import type { Sample } from './data.ts';
import { median } from './fit.ts';

export interface EpochTimes {
  readonly grid: number;
  readonly threads: number;
  /** Seconds of each epoch but the first, in which the engine compiles. */
  readonly seconds: readonly number[];
  readonly median: number;
  /** After each epoch. */
  readonly primals: readonly number[];
  readonly testErrors: readonly number[];
}

/** Never reached, so that every run does the same number of epochs. */
const outOfReach = 1e-15;

/** Times epochs of DSO, each with the evaluation of P and D that follows it. */
export async function timeEpochs(
  sample: Sample,
  request: {
    grid: number;
    threads: number;
    epochs: number;
    lambda: number;
    seed: number;
    time: number;
  },
): Promise<EpochTimes> {
  const events: EpochEvent[] = [];
  await train(sample.train, {
    ...request,
    test: sample.test,
    solver: solvers.dso(),
    tolerance: outOfReach,
    onEpoch: (event) => {
      events.push(event);
    },
  });
  const seconds = events.slice(1).map((event, index) => event.seconds - events[index].seconds);
  const { grid, threads } = request;
  return {
    grid,
    threads,
    seconds,
    median: median(seconds),
    primals: events.map(({ primal }) => primal),
    testErrors: events.map(({ testError = Number.NaN }) => testError),
  };
}

/** The largest number of workers for a data set. */
export function mostWorkers({ rows, columns }: Dataset): number {
  return Math.min(rows, columns);
}

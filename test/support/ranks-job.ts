/**
 * Trains by every solver, and with every kind of option, on the same rows, in this process alone or,
 * started by an MPI launcher, together with the others. Arguments: rows to train on, rows to test
 * on, the number of threads. Rank 0 prints a line for each run.
 */
import { createHash } from 'node:crypto';
import type { Dataset } from '../../src/data/dataset.ts';
import { launchOf } from '../../src/engine/processes/launch.ts';
import { MpiGroup } from '../../src/engine/processes/mpi-group.ts';
import { singleProcess } from '../../src/engine/processes/process-group.ts';
import { encodeModel } from '../../src/model/file.ts';
import { losses } from '../../src/problem/losses/index.ts';
import { penalties } from '../../src/problem/penalties/index.ts';
import { solvers } from '../../src/solvers/index.ts';
import type { EpochEvent } from '../../src/train/events.ts';
import type { TrainOptions } from '../../src/train/options/options.ts';
import { readShard } from '../../src/train/read.ts';
import { trainInGroup } from '../../src/train/train.ts';

export interface RankRun {
  readonly name: string;
  readonly hash: string;
  /** What the report says of the model, but for times. */
  readonly found: unknown;
}

type Case = Omit<TrainOptions, 'test'> & {
  readonly tested?: true;
  /** Whole labels below this number in place of the two of the data. */
  readonly classes?: number;
};

const mixed = { penalty: penalties.elasticNet({ l1Ratio: 0.5 }), intercept: true };
const grid = 4;
const setAside = { holdout: 0.2, auprc: true };

const columns = 120;
const numbers = (count: number) => Float64Array.from({ length: count }, (_, k) => (k % 7) / 20);

const cases: Readonly<Record<string, Case>> = {
  'ring, rows': { solver: solvers.ring({ mode: 'rows' }), grid, tested: true },
  'ring, rows, pipelined': { solver: solvers.ring({ mode: 'rows', rotations: 40 }), grid },
  'ring, rows, elastic net': {
    solver: solvers.ring({ mode: 'rows' }),
    loss: losses.logistic(),
    ...mixed,
    ...setAside,
    grid,
  },
  'ring, columns': {
    solver: solvers.ring({ mode: 'columns' }),
    loss: losses.logistic(),
    intercept: true,
    ...setAside,
    grid,
  },
  'ring, columns, one worker': {
    solver: solvers.ring({ mode: 'columns' }),
    loss: losses.logistic(),
    ...setAside,
    grid: 1,
  },
  'ring, rows, few rotations': {
    solver: solvers.ring({ mode: 'rows', rotations: 2 }),
    intercept: true,
    grid,
    tested: true,
  },
  'ring, rows, bounded': {
    solver: solvers.ring({ mode: 'rows' }),
    ...mixed,
    penalty: penalties.bounded(mixed.penalty, { low: 0, high: 0.5 }),
    grid,
  },
  'psgd, non-negative': {
    solver: solvers.psgd(),
    penalty: penalties.nonNegative(mixed.penalty),
    intercept: true,
    grid,
  },
  dso: { solver: solvers.dso(), intercept: true, grid, tested: true, auprc: true },
  lbfgs: { solver: solvers.lbfgs(), loss: losses.logistic(), ...setAside, grid },
  newton: { solver: solvers.newton(), loss: losses.logistic(), intercept: true, grid },
  bmrm: { solver: solvers.bmrm(), ...setAside, grid },
  'proximal-point': { solver: solvers.proximalPoint(), intercept: true, ...setAside, grid },
  psgd: { solver: solvers.psgd(), ...setAside, grid },
  admm: { solver: solvers.admm(), loss: losses.logistic(), grid, tested: true },
  sgd: { solver: solvers.sgd(), ...setAside },
  dcd: { solver: solvers.dcd(), tested: true },
  'two classes, balanced': { classWeights: 'balanced', loss: losses.logistic(), grid },
  'three classes, balanced': {
    classes: 3,
    classWeights: 'balanced',
    solver: solvers.ring({ mode: 'columns' }),
    loss: losses.logistic(),
    ...setAside,
    grid,
  },
  'three classes, in a box, from a point': {
    classes: 3,
    penalty: penalties.bounded(mixed.penalty, { low: -0.1, high: 0.2 }),
    intercept: true,
    start: { weights: numbers(3 * columns), intercepts: numbers(3) },
    classWeights: { 2: 0.3 },
    grid,
  },
  'three classes, early stop': {
    classes: 3,
    solver: solvers.dso(),
    ...setAside,
    earlyStop: 2,
    epochs: 40,
    grid,
  },
  'lbfgs, from a point': {
    solver: solvers.lbfgs(),
    loss: losses.squaredHinge(),
    start: { weights: numbers(columns) },
    grid,
  },
};

/** Labels that depend on the row alone, whoever reads it. */
function withClasses(dataset: Dataset, count: number): Dataset {
  const parts = dataset.parts.map((part) => ({
    ...part,
    labels: part.labels.map((_, row) => part.indices[part.rowOffsets[row]] % count),
  }));
  return { ...dataset, parts };
}

const [data, testData, threadCount] = process.argv.slice(2);
const threads = Number(threadCount);
const launch = launchOf(process.env);
const joined = launch && (await MpiGroup.join(launch, { peerTimeout: 300, version: 'test' }));
const group = joined ?? singleProcess;
const { rank, size: ranks } = group;

for (const [name, { tested, classes, ...options }] of Object.entries(cases)) {
  const { dataset: read } = await readShard(data, { rank, ranks, threads });
  const dataset = classes ? withClasses(read, classes) : read;
  const test = tested && (await readShard(testData, { rank, ranks, threads })).dataset;
  const limits = { lambda: 1e-3, epochs: 4, tolerance: 1e-9 };
  // By vector: several may be trained at the same time.
  const auprcs: (number | undefined)[][] = Array.from({ length: classes ?? 1 }, () => []);
  const onEpoch = ({ testAuprc, vector }: EpochEvent) => auprcs[vector?.index ?? 0].push(testAuprc);
  const keepDual = options.solver?.name !== 'bmrm';
  const all = { ...limits, ...options, keepDual, threads, onEpoch, ...(test && { test }) };
  const result = await trainInGroup(dataset, all, group);
  if (!result) continue;
  const { model, report, dual: point } = result;
  const { primal, dual, passes, rows, nonzeros, imbalance, stopped, test: metrics } = report;
  const hash = createHash('sha256').update(encodeModel(model)).digest('hex');
  const alpha = point && createHash('sha256').update(point.alpha).digest('hex');
  const figures = { primal, dual, passes, rows, nonzeros, imbalance, stopped, metrics, auprcs };
  const found = { ...figures, alpha, scales: point?.scales };
  console.log(JSON.stringify({ name, hash, found } satisfies RankRun));
}
await joined?.finalize();

import type {
  BeginLine,
  EpochLine,
  ReportLine,
  RunSummary,
} from '../../../src/reporting/records/record.ts';

export const start: RunSummary['start'] = {
  event: 'start',
  format: 1,
  id: '20261115-212345-3f9c',
  started: '2026-11-15T21:23:45.000Z',
  version: '0.1.0',
  pid: 1,
  host: 'here',
  data: 'data/train.svm',
  model: 'model.json',
  task: 'classification',
  loss: 'hinge',
  penalty: 'l2',
  tolerance: 1e-4,
  options: {},
};

export const latest: EpochLine = {
  event: 'epoch',
  epoch: 17,
  seconds: 2.1,
  passes: 17,
  primal: 0.5,
  dual: 0.49,
  relativeGap: 0.02,
};

export const report: ReportLine = {
  event: 'report',
  seconds: 3,
  rows: 1000,
  loss: 0.4,
  recentLoss: 0.3,
  error: 0.125,
  recentError: 0.1,
};

export function begin(more: Partial<BeginLine> = {}): BeginLine {
  return {
    event: 'begin',
    solver: 'ring-rows',
    lambda: 1e-3,
    rows: 1000,
    columns: 50,
    nonzeros: 9000,
    vectors: 1,
    grid: 2,
    threads: 2,
    loads: { rows: [4500, 4500], columns: [4000, 5000] },
    imbalance: { rows: 0, columns: 0.1, nonzeros: 0.1 },
    seconds: { read: 0.1, partition: 0.2 },
    ...more,
  };
}

export function summary(more: Partial<RunSummary> = {}): RunSummary {
  return { id: start.id, status: 'running', start, ...more };
}

export function result(more: Partial<NonNullable<RunSummary['result']>> = {}) {
  return {
    event: 'result',
    ended: '2026-11-15T21:24:00.000Z',
    code: 0,
    model: 'model.json',
    stopped: 'converged',
    epochs: 17,
    relativeGap: 0.00092,
    seconds: { read: 1, partition: 0.1, train: 2.1, total: 3.2 },
    ...more,
  } as const satisfies RunSummary['result'];
}

import type {
  BeginLine,
  EpochLine,
  ReportLine,
  RunSummary,
} from '../../../src/reporting/records/record.ts';
import { beginLine, epochLine, resultLine, startLine } from '../../support/run-lines.ts';

export const start = startLine({
  id: '20261115-212345-3f9c',
  version: '0.1.0',
  pid: 1,
  host: 'here',
  data: 'data/train.svm',
  model: 'model.json',
  tolerance: 1e-4,
  options: {},
});

export const latest: EpochLine = epochLine(17, {
  seconds: 2.1,
  primal: 0.5,
  dual: 0.49,
  relativeGap: 0.02,
});

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
  return beginLine({
    lambda: 1e-3,
    rows: 1000,
    nonzeros: 9000,
    loads: { rows: [4500, 4500], columns: [4000, 5000] },
    ...more,
  });
}

export function summary(more: Partial<RunSummary> = {}): RunSummary {
  return { id: start.id, status: 'running', start, ...more };
}

export function result(more: Partial<NonNullable<RunSummary['result']>> = {}) {
  return {
    ...resultLine,
    model: 'model.json',
    stopped: 'converged',
    epochs: 17,
    relativeGap: 0.00092,
    seconds: { read: 1, partition: 0.1, train: 2.1, total: 3.2 },
    ...more,
  } as const satisfies RunSummary['result'];
}

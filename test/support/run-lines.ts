/** Lines of run records, for all tests of records and of what shows them. */
import { hostname } from 'node:os';
import { newRunId } from '../../src/reporting/records/folder.ts';
import type {
  BeginLine,
  EpochLine,
  FailureLine,
  ReportLine,
  ResultLine,
  RunLine,
  SampleLine,
  StartLine,
} from '../../src/reporting/records/record.ts';

/** The name of a run that began N seconds after a fixed moment. */
export function runId(seconds = 0): string {
  return newRunId(new Date(Date.UTC(2026, 10, 15, 21, 23, 45) + 1000 * seconds));
}

/** A first line. The process is this one, so that the run counts as running until it ends. */
export function startLine(changes: Partial<StartLine> = {}): StartLine {
  return {
    event: 'start',
    format: 1,
    id: runId(),
    started: '2026-11-15T21:23:45.000Z',
    version: '1.2.3',
    pid: process.pid,
    host: hostname(),
    data: 'mail.train.svm',
    model: 'mail.model',
    task: 'classification',
    loss: 'hinge',
    penalty: 'l2',
    tolerance: 1e-3,
    options: { lambda: 1e-5 },
    ...changes,
  };
}

export function beginLine(changes: Partial<BeginLine> = {}): BeginLine {
  return {
    event: 'begin',
    solver: 'ring-rows',
    lambda: 1e-5,
    rows: 100,
    columns: 50,
    nonzeros: 900,
    vectors: 1,
    grid: 2,
    threads: 2,
    loads: { rows: [450, 450], columns: [400, 500] },
    imbalance: { rows: 0, columns: 0.1, nonzeros: 0.1 },
    seconds: { read: 0.1, partition: 0.2 },
    ...changes,
  };
}

export function epochLine(epoch: number, changes: Partial<EpochLine> = {}): EpochLine {
  return {
    event: 'epoch',
    epoch,
    seconds: epoch / 8,
    passes: epoch,
    primal: 0.5 + 1 / epoch,
    dual: 0.5 - 1 / epoch,
    relativeGap: 2 / epoch,
    ...changes,
  };
}

export function sampleLine(epoch: number, changes: Partial<SampleLine> = {}): SampleLine {
  return {
    event: 'sample',
    epoch,
    seconds: epoch / 8,
    memory: 1e8 + epoch,
    threads: [{ first: 0, computing: epoch / 10, waiting: 0, communicating: 0, bytes: 0 }],
    features: [{ name: 'free', weight: 0.25 }],
    ...changes,
  };
}

export function reportLine(rows: number): ReportLine {
  return {
    event: 'report',
    seconds: rows / 1000,
    rows,
    loss: 0.5,
    recentLoss: 0.4,
    error: 0.2,
    recentError: 0.1,
  };
}

export const resultLine: ResultLine = {
  event: 'result',
  ended: '2026-11-15T21:24:00.000Z',
  code: 0,
  model: 'mail.model',
};

export const failureLine: FailureLine = {
  event: 'failure',
  ended: '2026-11-15T21:24:00.000Z',
  message: 'the disk is on fire',
};

/** The text of a record. */
export function recordText(lines: readonly RunLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

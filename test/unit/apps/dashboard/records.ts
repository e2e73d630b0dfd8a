import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type {
  BeginLine,
  EpochLine,
  ResultLine,
  RunLine,
  SampleLine,
  StartLine,
} from '../../../../src/reporting/records/record.ts';

export const firstId = '20261115-212345-3f9c';
export const secondId = '20261115-213000-00ab';

/** A first line; the process is this one, so that the run goes on until it says otherwise. */
export function startLine(id: string, changes: Partial<StartLine> = {}): StartLine {
  return {
    event: 'start',
    format: 1,
    id,
    started: '2026-11-15T21:23:45.000Z',
    version: '0.1.0',
    pid: process.pid,
    host: hostname(),
    data: 'data/real-sim.svm',
    model: 'real-sim.model',
    task: 'classification',
    loss: 'hinge',
    penalty: 'l2',
    tolerance: 0.001,
    options: { loss: 'hinge' },
    ...changes,
  };
}

export function beginLine(changes: Partial<BeginLine> = {}): BeginLine {
  return {
    event: 'begin',
    solver: 'ring-rows',
    lambda: 1e-4,
    rows: 1000,
    columns: 200,
    nonzeros: 50_000,
    vectors: 1,
    grid: 2,
    threads: 2,
    loads: { rows: [25_000, 25_000], columns: [26_000, 24_000] },
    imbalance: { rows: 0, columns: 0.04, nonzeros: 0.05 },
    seconds: { read: 0.1, partition: 0.05 },
    ...changes,
  };
}

export function epochLine(epoch: number, changes: Partial<EpochLine> = {}): EpochLine {
  return {
    event: 'epoch',
    epoch,
    seconds: epoch / 10,
    passes: epoch,
    primal: 0.3 + 1 / epoch,
    dual: 0.3 - 1 / epoch,
    relativeGap: 2 / (0.3 * epoch + 1),
    testError: 0.05 + 0.1 / epoch,
    testAuprc: 0.95 - 0.1 / epoch,
    ...changes,
  };
}

export function sampleLine(epoch: number): SampleLine {
  return {
    event: 'sample',
    epoch,
    seconds: epoch / 10,
    memory: (100 + epoch) * 2 ** 20,
    threads: [],
    features: [],
  };
}

export const resultLine: ResultLine = {
  event: 'result',
  ended: '2026-11-15T21:24:00.000Z',
  code: 0,
  model: 'real-sim.model',
};

/** Epochs 1 to `count`. */
export function epochLines(count: number): EpochLine[] {
  return Array.from({ length: count }, (_, index) => epochLine(index + 1));
}

export function writeRecord(folder: string, id: string, lines: readonly RunLine[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), textOf(lines));
}

export function appendLines(folder: string, id: string, lines: readonly RunLine[]): void {
  appendFileSync(join(folder, `${id}.jsonl`), textOf(lines));
}

function textOf(lines: readonly RunLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  BeginLine,
  EpochLine,
  ResultLine,
  RunLine,
  SampleLine,
  StartLine,
} from '../../../../src/reporting/records/record.ts';
import * as lines from '../../../support/run-lines.ts';

export const firstId = '20261115-212345-3f9c';
export const secondId = '20261115-213000-00ab';

export function startLine(id: string, changes: Partial<StartLine> = {}): StartLine {
  const own = { id, version: '0.1.0', data: 'data/real-sim.svm', model: 'real-sim.model' };
  return lines.startLine({ ...own, options: { loss: 'hinge' }, ...changes });
}

export function beginLine(changes: Partial<BeginLine> = {}): BeginLine {
  return lines.beginLine({
    lambda: 1e-4,
    rows: 1000,
    columns: 200,
    nonzeros: 50_000,
    loads: { rows: [25_000, 25_000], columns: [26_000, 24_000] },
    imbalance: { rows: 0, columns: 0.04, nonzeros: 0.05 },
    seconds: { read: 0.1, partition: 0.05 },
    ...changes,
  });
}

export function epochLine(epoch: number, changes: Partial<EpochLine> = {}): EpochLine {
  return lines.epochLine(epoch, {
    seconds: epoch / 10,
    primal: 0.3 + 1 / epoch,
    dual: 0.3 - 1 / epoch,
    relativeGap: 2 / (0.3 * epoch + 1),
    testError: 0.05 + 0.1 / epoch,
    testAuprc: 0.95 - 0.1 / epoch,
    ...changes,
  });
}

export function sampleLine(epoch: number): SampleLine {
  const memory = (100 + epoch) * 2 ** 20;
  return lines.sampleLine(epoch, { seconds: epoch / 10, memory, threads: [], features: [] });
}

export const resultLine: ResultLine = { ...lines.resultLine, model: 'real-sim.model' };

/** Epochs 1 to `count`. */
export function epochLines(count: number): EpochLine[] {
  return Array.from({ length: count }, (_, index) => epochLine(index + 1));
}

export function writeRecord(folder: string, id: string, written: readonly RunLine[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), lines.recordText(written));
}

export function appendLines(folder: string, id: string, written: readonly RunLine[]): void {
  appendFileSync(join(folder, `${id}.jsonl`), lines.recordText(written));
}

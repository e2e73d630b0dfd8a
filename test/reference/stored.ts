import { readFileSync } from 'node:fs';
import type { ReferenceProblem } from './reference.ts';

/** An optimum found by another program; see generate.py. */
export interface StoredOptimum {
  readonly data: 'small.svm' | 'regression.svm' | 'counts.svm' | 'wide.svm';
  readonly loss: { readonly name: string; readonly parameter?: number };
  readonly penalty: { readonly name: string; readonly l1: number; readonly l2: number };
  readonly lambda: number;
  readonly intercept: boolean;
  readonly value: number;
  /** How far the value is above the optimum at most, relative to it. */
  readonly tolerance: number;
  /** Weights that are not 0. */
  readonly nonzero: number;
  readonly weights: readonly number[];
  readonly interceptValue?: number;
  /** With its version. */
  readonly tool: string;
  readonly call: string;
}

const columns = (name: string) => (name === 'wide.svm' ? 60 : 10);

export function storedFile(name: string): URL {
  return new URL(name, import.meta.url);
}

export function readStored(): readonly StoredOptimum[] {
  return JSON.parse(readFileSync(storedFile('stored.json'), 'utf8'));
}

/** A file of LIBSVM text as dense rows, read in the plainest way. */
export function readDense(name: string): { rows: number[][]; labels: number[] } {
  const lines = readFileSync(storedFile(name), 'utf8').trim().split('\n');
  const labels = lines.map((line) => Number(line.split(' ')[0]));
  const rows = lines.map((line) => {
    const row = new Array<number>(columns(name)).fill(0);
    for (const pair of line.split(' ').slice(1)) {
      const [index, value] = pair.split(':').map(Number);
      row[index - 1] = value;
    }
    return row;
  });
  return { rows, labels };
}

export function problemOf(stored: StoredOptimum): ReferenceProblem {
  const { loss, penalty, lambda, intercept } = stored;
  return { ...readDense(stored.data), loss, penalty, lambda, intercept };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchProblem } from './objective.ts';
import { type ProcessResult, runProcess } from './processes.ts';
import { cacheFolder, type Sample } from './samples.ts';

export const liblinear = 'liblinear-train';
export const noLiblinear = `${liblinear} is not installed (Debian: liblinear-tools)`;

/** LIBLINEAR's dual solver for the SVM with hinge loss; C = 1 is our λ = 1/m. */
export function runLiblinear(
  data: string,
  model: string,
  options?: { watchMemory?: boolean },
): Promise<ProcessResult> {
  return runProcess(liblinear, ['-s', '3', '-c', '1', data, model], options);
}

const l1Model = join(cacheFolder, 'liblinear-l1.model');

/** What LIBLINEAR prints when its training has ended, before it writes the model. */
const trainingEnded = 'optimization finished';

interface L1Run {
  /** From its start to the end of training; Infinity: not within the limit. */
  readonly seconds: number;
  readonly weights: Float64Array;
}

/** The arguments of LIBLINEAR's L1 solver for a problem with `rows` rows: C = 1/(λ m). */
function l1Arguments({ loss, lambda }: BenchProblem, rows: number, stop: number): string[] {
  const solver = loss.name === 'logistic' ? '6' : '5';
  return ['-s', solver, '-c', String(1 / (lambda * rows)), '-e', String(stop)];
}

/** Logistic loss or squared hinge with L1, stopped by `-e`. */
export async function trainLiblinearL1(
  { path }: Sample,
  problem: BenchProblem,
  { rows, stop, limit }: { readonly rows: number; readonly stop: number; readonly limit: number },
): Promise<L1Run> {
  const argv = [...l1Arguments(problem, rows, stop), path, l1Model];
  const { marked } = await runProcess(liblinear, argv, { mark: trainingEnded, limit });
  if (marked === undefined) return { seconds: Infinity, weights: new Float64Array(0) };
  return { seconds: marked, weights: readLiblinearWeights(l1Model) };
}

/**
 * The part of such a run that is not training: with so small a C that all weights stay 0, it stops
 * after one pass over the data that it has read and ordered by columns.
 */
export async function readLiblinear(
  { path }: Sample,
  problem: BenchProblem,
  rows: number,
): Promise<number> {
  const nothing = { ...problem, lambda: 1e12 };
  const argv = [...l1Arguments(nothing, rows, 1e9), path, l1Model];
  return (await runProcess(liblinear, argv, { mark: trainingEnded })).marked ?? 0;
}

/** The weights of a two-class model, so that a positive score means the larger label. */
export function readLiblinearWeights(path: string): Float64Array {
  const [head, body] = readFileSync(path, 'utf8').split('\nw\n');
  const labels = /^label (\S+) (\S+)$/m.exec(head);
  if (!labels || body === undefined) throw new Error(`${path}: not a two-class LIBLINEAR model`);
  // The weights point to the label that is named first.
  const sign = Number(labels[1]) > Number(labels[2]) ? 1 : -1;
  return Float64Array.from(body.trim().split(/\s+/), (weight) => sign * Number(weight));
}

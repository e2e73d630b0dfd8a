import { readFileSync } from 'node:fs';
import { type ProcessResult, runProcess } from './processes.ts';

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

/** The weights of a two-class model, so that a positive score means the larger label. */
export function readLiblinearWeights(path: string): Float64Array {
  const [head, body] = readFileSync(path, 'utf8').split('\nw\n');
  const labels = /^label (\S+) (\S+)$/m.exec(head);
  if (!labels || body === undefined) throw new Error(`${path}: not a two-class LIBLINEAR model`);
  // The weights point to the label that is named first.
  const sign = Number(labels[1]) > Number(labels[2]) ? 1 : -1;
  return Float64Array.from(body.trim().split(/\s+/), (weight) => sign * Number(weight));
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { EpochEvent } from '../train/events.ts';
import type { Comparison, Run } from './comparison.ts';

export const resultsFile = 'results.json';

/** JSON of everything; an infinite number becomes null. */
export function encodeResults(comparison: Comparison): string {
  return `${JSON.stringify(comparison, undefined, 1)}\n`;
}

/** The results in a folder, or undefined where there are none. */
export async function readResults(folder: string): Promise<Comparison | undefined> {
  const path = join(folder, resultsFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${path}: ${(error as Error).message}`, { cause: error });
  }
  return decodeResults(text, path);
}

export function decodeResults(text: string, path: string): Comparison {
  const refusal = (found: string) =>
    new UsageError(
      `${path}: ${found}; wanted the results of an earlier comparison ` +
        '(start over with --fresh, or choose another folder)',
    );
  let found: unknown;
  try {
    found = JSON.parse(text, restoreNumber);
  } catch (error) {
    throw refusal(`not JSON (${(error as Error).message})`);
  }
  if (typeof found !== 'object' || found === null || !('runs' in found)) {
    throw refusal('not such results');
  }
  const comparison = found as Comparison;
  if (comparison.format !== 1) {
    throw refusal(`format ${String(comparison.format)}, which this version cannot read`);
  }
  return comparison;
}

/** No bound yet: P may be anything up to ∞, D anything from −∞. */
const unbounded: Readonly<Record<string, number>> = {
  primal: Infinity,
  dual: -Infinity,
  gap: Infinity,
  relativeGap: Infinity,
};

function restoreNumber(key: string, value: unknown): unknown {
  return value === null && Object.hasOwn(unbounded, key) ? unbounded[key] : value;
}

const columns = [
  'loss',
  'lambda',
  'solver',
  'epoch',
  'seconds',
  'passes',
  'primal',
  'dual',
  'relativeGap',
  'testError',
  'testAuprc',
  'latestPrimal',
  'latestDual',
  'state',
] as const;

/** A line per epoch of every run; a cell is empty where there is no finite number. */
export function encodeCsv({ runs }: Comparison): string {
  const lines = runs.flatMap((run) => run.events.map((event) => csvLine(run, event)));
  return `${[columns.join(','), ...lines].join('\n')}\n`;
}

function csvLine({ loss, lambda, solver, state }: Run, event: EpochEvent): string {
  const { epoch, seconds, passes, primal, dual, relativeGap, testError, testAuprc, latest } = event;
  const numbers = [epoch, seconds, passes, primal, dual, relativeGap, testError, testAuprc];
  const cells = [loss, lambda, solver, ...numbers, latest?.primal, latest?.dual, state];
  return cells.map(csvCell).join(',');
}

function csvCell(value: string | number | undefined): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const text = value ?? '';
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

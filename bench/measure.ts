import type { Solver } from '../src/solvers/index.ts';

/** What a part can be told. */
export interface PartOptions {
  /** Ours. */
  readonly solver: Solver;
  /** Names of data sets; none: all that a part has. */
  readonly files: readonly string[];
  /** The part was not named: it runs with all others, and only its most telling cells. */
  readonly brief: boolean;
}

/** One measurement and its target, if it has one. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  /** What follows the number: `×`, ` MB/s`. */
  readonly unit: string;
  /** Digits behind the point; default: as many as three significant digits need. */
  readonly decimals?: number;
  readonly target?: { readonly kind: 'at most' | 'at least'; readonly limit: number };
}

/** What a part of the bench found. */
export interface PartReport {
  readonly measures: readonly Measure[];
  /** Everything measured, for the file of results. */
  readonly details: unknown;
  /** What could not be measured, and why. */
  readonly skipped: readonly string[];
}

/** Whether the target is met; undefined if there is none. */
export function isMet({ value, target }: Measure): boolean | undefined {
  if (!target) return undefined;
  return target.kind === 'at most' ? value <= target.limit : value >= target.limit;
}

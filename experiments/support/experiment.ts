import type { NamedChart } from '../../src/reporting/charts/comparison.ts';
import type { Comparison } from '../../src/train/compare/comparison.ts';

/** An option of one experiment, in addition to the common ones. Its default says its type. */
export interface ExtraOption {
  readonly default: number | string;
  readonly text: string;
}

/** Settings of an experiment. */
export interface Setting {
  /** Multiplies the size of the data; 1 is for a machine with two cores. */
  readonly scale: number;
  readonly threads: number;
  /** Seconds of training per run. */
  readonly time: number;
  readonly seed: number;
  /** The folder with real data; it need not exist. */
  readonly data: string;
  /** The folder of the results; it need not exist. */
  readonly folder: string;
  readonly numberOf: (option: string) => number;
  readonly textOf: (option: string) => string;
  readonly say: (text: string) => void;
}

export type Verdict = 'holds' | 'partly holds' | 'does not hold' | 'not measured';

/** A sentence of the paper and what was measured here. */
export interface Claim {
  readonly claim: string;
  readonly measured: string;
  readonly verdict: Verdict;
}

export interface Outcome {
  /** Everything measured, for results.json. */
  readonly results: unknown;
  readonly claims: readonly Claim[];
  readonly figures: readonly NamedChart[];
  /** Comparisons of solvers; each gets a report in a folder of its name. */
  readonly comparisons: readonly { readonly name: string; readonly comparison: Comparison }[];
  /** What could not be measured, and why. */
  readonly skipped: readonly string[];
}

/** One figure or table of the paper. */
export interface Experiment {
  readonly name: string;
  /** What of the paper it repeats. */
  readonly summary: string;
  /** Default of --time. */
  readonly time: number;
  readonly extras: Readonly<Record<string, ExtraOption>>;
  readonly run: (setting: Setting) => Promise<Outcome>;
}

import type { Random } from '../../src/math/random.ts';

/** What an input did wrong, and a command that shows it again with the smallest input found. */
export interface Failure {
  readonly what: string;
  /** By default the one that attacks with this input again. */
  readonly command?: string;
}

/** A target that is set up. */
export interface Attack {
  /** Tries one input, which the generator alone decides; returns what went wrong, if anything. */
  attempt(random: Random): Promise<Failure | undefined>;
  /** How often each outcome came up, for the closing line: accepted, refused, … */
  readonly counts: ReadonlyMap<string, number>;
  close?(): Promise<void>;
}

export interface Target {
  readonly summary: string;
  /** Inputs in every run of the tests. */
  readonly quick: number;
  /** An input that takes the processors this long fails, and ends the run. */
  readonly mostSeconds?: number;
  /** Why it cannot run here, if it cannot: no MPI launcher, say. */
  unavailable?(): string | undefined;
  /** `folder` is empty, and kept if there is a failure: its files are named in commands. */
  open(folder: string): Promise<Attack>;
}

/** Counts outcomes by name. */
export class Counts extends Map<string, number> {
  add(outcome: string): void {
    this.set(outcome, (this.get(outcome) ?? 0) + 1);
  }
}

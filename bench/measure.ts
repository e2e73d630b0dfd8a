/** One figure of the bench and, where there is one, the bar it has to meet. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  /** What stands behind the number: `×`, ` MB/s`. */
  readonly unit: string;
  /** Digits behind the point; default: as many as three significant digits need. */
  readonly decimals?: number;
  readonly bar?: { readonly kind: 'at most' | 'at least'; readonly limit: number };
}

/** What a part of the bench found. */
export interface PartReport {
  readonly measures: readonly Measure[];
  /** Everything measured, for the file of results. */
  readonly details: unknown;
  /** What could not be measured, and why. */
  readonly skipped: readonly string[];
}

/** Whether the bar is met; undefined where there is none. */
export function isMet({ value, bar }: Measure): boolean | undefined {
  if (!bar) return undefined;
  return bar.kind === 'at most' ? value <= bar.limit : value >= bar.limit;
}

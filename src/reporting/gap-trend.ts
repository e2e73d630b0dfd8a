import type { EpochEvent } from '../train/events.ts';

export interface Limits {
  /** Relative gap to reach. */
  readonly tolerance: number;
  readonly epochs?: number | undefined;
  /** Seconds of training. */
  readonly seconds?: number | undefined;
}

/** Below this a relative gap is rounding noise; replaces a tolerance of 0. */
const smallestGap = 1e-15;

/** How far a run has come and how long it may still take, judged from the decay of the gap. */
export class GapTrend {
  readonly #limits: Limits;
  /** ln of the tolerance. */
  readonly #goal: number;
  readonly #seconds: number[] = [];
  /** ln of the smallest relative gap so far, one per epoch that had a finite one. */
  readonly #logGaps: number[] = [];
  #last: EpochEvent | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#goal = Math.log(Math.max(limits.tolerance, smallestGap));
  }

  add(event: EpochEvent): void {
    this.#last = event;
    if (!Number.isFinite(event.relativeGap)) return;
    const logGap = Math.log(Math.max(event.relativeGap, smallestGap));
    this.#seconds.push(event.seconds);
    this.#logGaps.push(Math.min(logGap, this.#logGaps.at(-1) ?? Infinity));
  }

  /** Part of the way from the first gap to the tolerance on a log scale, 0 … 1. */
  get fraction(): number {
    const first = this.#logGaps[0];
    const latest = this.#logGaps.at(-1);
    if (first === undefined || latest === undefined) return 0;
    if (latest <= this.#goal) return 1;
    return Math.max(0, (first - latest) / (first - this.#goal));
  }

  /** Until the first of the limits, from the trend of the run's latter half; undefined without one. */
  secondsLeft(now: number): number | undefined {
    const last = this.#last;
    const converged = this.#convergenceTime();
    if (last === undefined || converged === undefined) return undefined;
    const { epochs = Infinity, seconds = Infinity } = this.#limits;
    const lastEpoch = (last.seconds / last.epoch) * epochs;
    return Math.max(0, Math.min(converged, lastEpoch, seconds) - now);
  }

  #convergenceTime(): number | undefined {
    const latest = this.#logGaps.length - 1;
    if (latest < 1) return undefined;
    const start = Math.floor(latest / 2);
    const drop = this.#logGaps[start] - this.#logGaps[latest];
    const duration = this.#seconds[latest] - this.#seconds[start];
    const missing = this.#logGaps[latest] - this.#goal;
    if (drop <= 0 || duration <= 0 || missing <= 0) return undefined;
    return this.#seconds[latest] + (missing * duration) / drop;
  }
}

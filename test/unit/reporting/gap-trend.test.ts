import { describe, expect, test } from 'vitest';
import { GapTrend } from '../../../src/reporting/gap-trend.ts';
import type { EpochEvent } from '../../../src/train/events.ts';

function event(epoch: number, seconds: number, relativeGap: number): EpochEvent {
  const effort = { computing: 1, waiting: 0, communicating: 0, bytes: 0 };
  return { epoch, seconds, passes: epoch, primal: 1, dual: 1 - relativeGap, relativeGap, effort };
}

describe('fraction', () => {
  test('is the way to the tolerance on a log scale', () => {
    const trend = new GapTrend({ tolerance: 1e-4 });
    expect(trend.fraction).toBe(0);
    trend.add(event(1, 1, 1));
    expect(trend.fraction).toBe(0);
    trend.add(event(2, 2, 0.1));
    expect(trend.fraction).toBeCloseTo(0.25, 12);
    trend.add(event(3, 3, 1e-2));
    expect(trend.fraction).toBeCloseTo(0.5, 12);
  });

  test('does not go back when the gap grows, and ends at 1', () => {
    const trend = new GapTrend({ tolerance: 1e-4 });
    for (const gap of [1, 1e-2, 5e-2]) trend.add(event(1, 1, gap));
    expect(trend.fraction).toBeCloseTo(0.5, 12);
    trend.add(event(4, 4, 1e-5));
    expect(trend.fraction).toBe(1);
  });

  test('copes with a missing bound and with tolerance 0', () => {
    const trend = new GapTrend({ tolerance: 0 });
    trend.add(event(1, 1, Infinity));
    expect(trend.fraction).toBe(0);
    expect(trend.secondsLeft(1)).toBeUndefined();
    trend.add(event(2, 2, 1));
    trend.add(event(3, 3, 0));
    expect(trend.fraction).toBe(1);
  });
});

describe('time left', () => {
  test('continues the decay of the gap', () => {
    const trend = new GapTrend({ tolerance: 1e-4 });
    trend.add(event(1, 1, 1));
    expect(trend.secondsLeft(1)).toBeUndefined();
    for (const epoch of [2, 3]) trend.add(event(epoch, epoch, 10 ** (1 - epoch)));
    // A factor 10 per second: from 1e-2 at second 3 to 1e-4 at second 5.
    expect(trend.secondsLeft(3)).toBeCloseTo(2, 12);
    expect(trend.secondsLeft(3.5)).toBeCloseTo(1.5, 12);
    expect(trend.secondsLeft(9)).toBe(0);
  });

  test('is bounded by the limits on epochs and time', () => {
    const limited = (limits: object): number | undefined => {
      const trend = new GapTrend({ tolerance: 1e-8, ...limits });
      trend.add(event(1, 2, 1));
      trend.add(event(2, 4, 0.5));
      return trend.secondsLeft(4);
    };
    expect(limited({})).toBeGreaterThan(40);
    expect(limited({ epochs: 5 })).toBeCloseTo(6, 12);
    expect(limited({ epochs: 5, seconds: 7 })).toBeCloseTo(3, 12);
  });

  test('is unknown while the gap does not shrink', () => {
    const trend = new GapTrend({ tolerance: 1e-4 });
    for (const epoch of [1, 2, 3]) trend.add(event(epoch, epoch, 0.5));
    expect(trend.secondsLeft(3)).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import type { RunSeries } from '../../../../src/reporting/records/record.ts';
import { type Progress, progressOf } from '../../../../ui/src/runs/progress.ts';
import { begin, latest, start, summary } from '../summaries.ts';

/** One epoch a second with these gaps. */
function courseOf(relativeGap: readonly (number | null)[], reached: readonly number[] = []) {
  const epochs = relativeGap.map((_, index) => index + 1);
  const series: RunSeries = {
    epoch: epochs,
    seconds: epochs,
    passes: epochs,
    primal: epochs,
    dual: epochs,
    relativeGap,
  };
  return { series, reached: new Set(reached) };
}

const from = (count: number, gap: (epoch: number) => number) =>
  courseOf(Array.from({ length: count }, (_, index) => gap(index + 1)));
const limited = (more: object) => summary({ latest, start: { ...start, ...more } });
const left = ({ secondsLeft }: Progress) => secondsLeft;

describe('progress', () => {
  test('is measured on a log scale', () => {
    const { fraction } = progressOf(summary({ latest }), courseOf([null, 1, 0.1, 0.01, 0.001]));
    expect(fraction).toBeCloseTo(0.75, 9);
  });

  test('continues as fast as the gap has fallen', () => {
    const course = from(8, (epoch) => 10 ** (-epoch / 4));
    // From 1e-2 to 1e-4 at a quarter of a digit a second.
    expect(left(progressOf(summary({ latest }), course))).toBeCloseTo(8, 9);
  });

  test('takes a fall that has become slower for a power of the time', () => {
    // 1/t² is 1e-4 at 100 s.
    expect(
      left(
        progressOf(
          summary({ latest }),
          from(64, (epoch) => epoch ** -2),
        ),
      ),
    ).toBeCloseTo(100 - 64, 6);
  });

  test('does not guess far ahead', () => {
    const never = limited({ tolerance: 1e-15, epochs: 10_000 });
    const slow = from(1000, (epoch) => 0.14 * (1000 / epoch) ** 0.5);
    expect(progressOf(never, slow)).not.toHaveProperty('secondsLeft');
    // Nor where nothing moves.
    expect(
      progressOf(
        never,
        from(50, () => 0.5),
      ),
    ).not.toHaveProperty('secondsLeft');
  });

  test('heeds the limits of the run', () => {
    const course = from(8, (epoch) => 10 ** (-epoch / 4));
    expect(progressOf(limited({ time: 10 }), course)).toMatchObject({ secondsLeft: 2 });
    expect(progressOf(limited({ time: 10 }), course)).not.toHaveProperty('atMost');
    expect(left(progressOf(limited({ epochs: 9 }), course))).toBeCloseTo(1, 9);
    const still = from(8, () => 0.5);
    expect(progressOf(limited({ time: 60, epochs: 10_000 }), still)).toMatchObject({
      secondsLeft: 52,
      atMost: true,
    });
  });

  test('is the same however close the points of the last stretch are', () => {
    const gap = (epoch: number) => 10 ** (-epoch / 4000);
    const all = from(8000, gap).series;
    const chosen = all.epoch.flatMap((epoch, index) =>
      epoch > 7000 || index % 50 === 49 ? [index] : [],
    );
    const column = (values: readonly (number | null)[]) => chosen.map((index) => values[index]);
    const series = Object.fromEntries(
      Object.entries(all).map(([name, values]) => [name, column(values)]),
    ) as unknown as RunSeries;
    const run = limited({ tolerance: 1e-3 });
    const course = { series, reached: new Set<number>() };
    expect(left(progressOf(run, course)) ?? 0).toBeCloseTo(4000, -1);
  });

  test('counts the vectors that are done where there are several', () => {
    const run = summary({ begin: begin({ vectors: 4 }), latest: { ...latest, vector: 3 } });
    expect(progressOf(run, courseOf([1, 0.1], [0, 2, 3]))).toEqual({ fraction: 0.75, done: 3 });
    expect(progressOf(run, undefined)).toEqual({ fraction: 0 });
  });

  test('is none before there is anything', () => {
    expect(progressOf(summary(), undefined)).toEqual({ fraction: 0 });
    expect(progressOf(summary(), courseOf([]))).toEqual({ fraction: 0 });
  });
});

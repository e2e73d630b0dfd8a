import { describe, expect, test } from 'vitest';
import type { EpochLine, RunDetail, SampleLine } from '../../../../src/reporting/records/record.ts';
import { Track } from '../../../../ui/src/runs/track.ts';
import { summary } from '../summaries.ts';

const epoch = (number: number, more: Partial<EpochLine> = {}): EpochLine => ({
  event: 'epoch',
  epoch: number,
  seconds: number / 10,
  passes: number * 2,
  primal: 1 + 1 / number,
  dual: 1 - 1 / number,
  relativeGap: 2 / (number + 1),
  ...more,
});

const sample = (seconds: number): SampleLine => ({
  event: 'sample',
  epoch: seconds,
  seconds,
  memory: 1,
  threads: [],
  features: [],
});

const empty: RunDetail = {
  summary: summary(),
  vector: 0,
  epochs: 0,
  series: { epoch: [], seconds: [], passes: [], primal: [], dual: [], relativeGap: [] },
  samples: [],
  reports: [],
  notices: [],
};

describe('a track', () => {
  test('takes newer lines and no line twice', () => {
    const track = new Track(empty, 100);
    expect(track.append([epoch(1), epoch(2)])).toBe(true);
    expect(track.append([epoch(1), epoch(2)])).toBe(false);
    expect(track.append([epoch(2), epoch(3, { dual: null, relativeGap: null })])).toBe(true);
    expect(track.series).toEqual({
      epoch: [1, 2, 3],
      seconds: [0.1, 0.2, 0.3],
      passes: [2, 4, 6],
      primal: [2, 1.5, 4 / 3],
      dual: [0, 0.5, null],
      relativeGap: [1, 2 / 3, null],
    });
    expect(track.epochs).toBe(3);
  });

  test('takes only lines of its own vector', () => {
    const track = new Track({ ...empty, vector: 1 }, 100);
    expect(track.append([epoch(1), epoch(1, { vector: 0 })])).toBe(false);
    expect(track.append([epoch(1, { vector: 1 })])).toBe(true);
  });

  test('knows which vectors have come to the tolerance, of all of them', () => {
    const track = new Track({ ...empty, reached: [4] }, 100);
    expect([...track.reached]).toEqual([4]);
    expect(track.append([epoch(1, { vector: 2, relativeGap: 1e-4 })])).toBe(true);
    expect(track.append([epoch(2, { vector: 2, relativeGap: 1e-5 })])).toBe(false);
    track.append([epoch(1, { vector: 3, relativeGap: 2e-4 }), epoch(5, { relativeGap: 0 })]);
    expect([...track.reached]).toEqual([4, 2, 0]);
    expect(track.length).toBe(1);
  });

  test('has the newest epoch as a line', () => {
    const track = new Track({ ...empty, vector: 1 }, 100);
    expect(track.newest).toBeUndefined();
    const second = epoch(2, { vector: 1, testError: 0.25, bytes: 7 });
    track.append([epoch(1, { vector: 1 }), second, epoch(9)]);
    expect(track.newest).toEqual(second);
    track.append([epoch(3, { vector: 1 })]);
    expect(track.newest).not.toHaveProperty('testError');
  });

  test('has null where a column was not there from the beginning', () => {
    const track = new Track(empty, 100);
    track.append([epoch(1), epoch(2, { testError: 0.5, bytes: 10 }), epoch(3, { bytes: 15 })]);
    expect(track.series.testError).toEqual([null, 0.5, null]);
    expect(track.series.bytes).toEqual([0, 10, 15]);
    expect(track.series.testAuprc).toBeUndefined();
  });

  test('stays around the points asked for, evenly, with the newest', () => {
    const track = new Track(empty, 10);
    for (let number = 1; number <= 1000; number++) track.append([epoch(number)]);
    expect(track.length).toBeLessThanOrEqual(20);
    expect(track.length).toBeGreaterThanOrEqual(10);
    expect(track.series.epoch.at(-1)).toBe(1000);
    expect(track.series.primal.at(-1)).toBe(1.001);
    expect(track.epochs).toBe(1000);
  });

  test('leaves what it was made from as it is', () => {
    const detail = structuredClone(empty);
    new Track(detail, 10).append([epoch(1)]);
    expect(detail).toEqual(empty);
  });

  test('knows when more points are worth a request', () => {
    const track = new Track({ ...empty, epochs: 5000 }, 1000);
    expect(track.isCoarserThan(1500)).toBe(false);
    expect(track.isCoarserThan(4000)).toBe(true);
    expect(new Track(empty, 1000).isCoarserThan(4000)).toBe(false);
  });

  test('takes samples of vectors that are trained side by side', () => {
    const track = new Track(empty, 10);
    for (const [vector, number] of [
      [0, 5],
      [1, 3],
      [0, 6],
      [1, 3],
    ]) {
      track.append([{ ...sample(number), vector }]);
    }
    expect(track.samples.map(({ vector, epoch: at }) => [vector, at])).toEqual([
      [0, 5],
      [1, 3],
      [0, 6],
    ]);
  });

  test('keeps samples, reports and notices in order and bounded', () => {
    const track = new Track(empty, 10);
    for (let second = 1; second <= 2000; second++) track.append([sample(second)]);
    track.append([sample(2000), { event: 'notice', message: 'slow' }]);
    track.append([{ event: 'notice', message: 'slow' }]);
    const times = track.samples.map(({ seconds }) => seconds);
    expect(times.at(-1)).toBe(2000);
    expect(times.length).toBeLessThanOrEqual(600);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(track.notices).toEqual(['slow']);
  });
});

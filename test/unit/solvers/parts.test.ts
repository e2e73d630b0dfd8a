/** The small parts the solvers are made of. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../../src/math/random.ts';
import { Batches } from '../../../src/solvers/batches.ts';
import { Damping, rotationsFor } from '../../../src/solvers/damping.ts';
import { Schedule } from '../../../src/solvers/schedule.ts';
import { extrapolate, interpolate } from '../../../src/solvers/segment.ts';

describe('Batches', () => {
  const never = () => true;

  function batchesOf(units: number, run: number, seed = 1) {
    const active = new Int32Array(units);
    return new Batches(active, new Int32Array(1), run, stream(seed, 1));
  }

  test.each([
    [10, 1],
    [10, 4],
    [33, 16],
    [0, 4],
  ])('%i units in runs of %i: each once, in a new order every epoch', (units, run) => {
    const batches = batchesOf(units, run);
    const orders = [1, 2, 3].map(() => {
      batches.deal(new Uint8Array(units), never);
      expect(batches.count).toBe(units);
      return [...batches.active];
    });
    const all = Array.from({ length: units }, (_, k) => k);
    for (const order of orders) expect([...order].sort((a, b) => a - b)).toEqual(all);
    if (units > 30) expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
  });

  test('runs stay together', () => {
    const batches = batchesOf(40, 8);
    batches.deal(new Uint8Array(40), never);
    for (let k = 0; k < 40; k += 8) {
      const first = batches.active[k];
      expect(first % 8).toBe(0);
      expect([...batches.active.subarray(k, k + 8)]).toEqual(
        Array.from({ length: 8 }, (_, step) => first + step),
      );
    }
  });

  test('a unit rests as long as its skip count says, unless it has moved', () => {
    const batches = batchesOf(5, 1);
    const skip = Uint8Array.from([0, 2, 0, 1, 0]);
    batches.deal(skip, () => true);
    expect(new Set(batches.active.subarray(0, batches.count))).toEqual(new Set([0, 2, 4]));
    expect([...skip]).toEqual([0, 1, 0, 0, 0]);
    batches.deal(skip, (unit) => unit !== 1);
    expect(batches.count).toBe(5);
    expect([...skip]).toEqual([0, 0, 0, 0, 0]);
  });

  test('cuts what is active into batches of equal size', () => {
    const batches = batchesOf(11, 1);
    batches.deal(new Uint8Array(11), never);
    const starts = [0, 1, 2, 3, 4].map((batch) => batches.begin(batch, 4));
    expect(starts).toEqual([0, 2, 5, 8, 11]);
  });
});

describe('Damping', () => {
  test('grows by half when an epoch overshoots, up to eight times', () => {
    const damping = new Damping(100);
    const before = damping.value;
    damping.learn(0.5, 1);
    expect(damping.value).toBeCloseTo(1.5 * before, 12);
    for (let k = 0; k < 20; k++) damping.learn(0.5, 1);
    expect(damping.value).toBeCloseTo(8 * before, 12);
  });

  test('falls slowly when an epoch undershoots, down to a half', () => {
    const damping = new Damping(100);
    const before = damping.value;
    damping.learn(2, 1);
    expect(damping.value).toBeCloseTo(0.95 * before, 12);
    for (let k = 0; k < 100; k++) damping.learn(2, 1);
    expect(damping.value).toBeCloseTo(0.5 * before, 12);
  });

  test('does not soon fall below where it had to rise to', () => {
    const damping = new Damping(100);
    const before = damping.value;
    damping.learn(0.5, 1);
    for (let k = 0; k < 5; k++) damping.learn(2, 1);
    expect(damping.value).toBeGreaterThan(1.3 * before);
  });

  test('is in proportion to the batch and to the units that still move', () => {
    expect(new Damping(200).value).toBeCloseTo(2 * new Damping(100).value, 12);
    const damping = new Damping(100);
    const before = damping.value;
    damping.learn(1, 0.25);
    expect(damping.value).toBeCloseTo(0.25 * before, 12);
    damping.learn(1, 0);
    expect(damping.value).toBeCloseTo(0.02 * before, 12);
  });
});

describe('rotationsFor', () => {
  test('grows with collisions, from 1 to the number of units', () => {
    expect(rotationsFor(10_000, 0, 1e6, 4)).toBe(1);
    expect(rotationsFor(20, 1, 1e9, 4)).toBe(20);
    const some = rotationsFor(100_000, 0.001, 1e9, 4);
    expect(rotationsFor(100_000, 0.01, 1e9, 4)).toBeGreaterThan(some);
  });

  test('leaves a visit enough entries', () => {
    const entries = 1e8;
    const size = 4;
    const rotations = rotationsFor(1e6, 1, entries, size);
    expect(entries / (rotations * size * size)).toBeGreaterThanOrEqual(1000);
  });
});

describe('segment', () => {
  test('extrapolate adds momentum and remembers where it was', () => {
    const now = Float64Array.of(3, -1);
    const start = new Float64Array(2);
    const previous = Float64Array.of(1, 1);
    extrapolate(now, start, previous, 0.5);
    expect([...now]).toEqual([4, -2]);
    expect([...start]).toEqual([3, -1]);
    expect([...previous]).toEqual([3, -1]);
  });

  test('interpolate goes part of the way back, or beyond', () => {
    const now = Float64Array.of(4, 0);
    interpolate(now, Float64Array.of(2, 2), 0.25);
    expect([...now]).toEqual([2.5, 1.5]);
    interpolate(now, Float64Array.of(2, 2), 2);
    expect([...now]).toEqual([3, 1]);
  });
});

describe('Schedule', () => {
  test('evaluates the first epoch and every one after while nothing can be foretold', () => {
    const schedule = new Schedule(1e-3);
    expect(schedule.isDue(1)).toBe(true);
    schedule.note(1, 0.5);
    expect(schedule.isDue(2)).toBe(true);
    // A gap that does not fall tells nothing.
    schedule.note(2, 0.6);
    expect(schedule.isDue(3)).toBe(true);
  });

  test('waits while the tolerance is far, never past where it should be met', () => {
    const schedule = new Schedule(1e-6);
    schedule.note(20, 1);
    schedule.note(21, 0.5);
    expect(schedule.isDue(22)).toBe(false);
    // Halving every epoch, 1e-6 is 19 epochs away.
    expect(schedule.isDue(40)).toBe(true);
    schedule.note(39, 2e-6);
    expect(schedule.isDue(40)).toBe(true);
  });
});

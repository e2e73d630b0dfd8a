/** The small parts the solvers are made of. */
import { describe, expect, test } from 'vitest';
import { stream } from '../../../src/math/random.ts';
import { losses } from '../../../src/problem/losses/index.ts';
import { EvaluationSchedule } from '../../../src/solvers/evaluation-schedule.ts';
import { plainKernels } from '../../../src/solvers/kernels/plain/index.ts';
import { Batches } from '../../../src/solvers/orders.ts';
import { Damping, InterceptStep, rotationsFor } from '../../../src/solvers/ring/damping.ts';

describe('Batches', () => {
  const kernels = plainKernels(losses.hinge());

  function batchesOf(units: number, run: number, seed = 1) {
    const active = new Int32Array(units);
    const runs = new Int32Array(units);
    const count = new Int32Array(1);
    return new Batches({ active, count, runs, run, random: stream(seed, 1) });
  }

  /** Shuffles where nothing has moved. */
  function shuffle(batches: Batches, skip: Uint8Array): void {
    const still = new Float64Array(skip.length);
    batches.shuffle(kernels, skip, still, still);
  }

  test.each([
    [10, 1],
    [10, 4],
    [33, 16],
    [0, 4],
  ])('%i units in runs of %i: each once, in a new order every epoch', (units, run) => {
    const batches = batchesOf(units, run);
    const orders = [1, 2, 3].map(() => {
      shuffle(batches, new Uint8Array(units));
      expect(batches.count).toBe(units);
      return [...batches.active];
    });
    const all = Array.from({ length: units }, (_, k) => k);
    for (const order of orders) expect([...order].sort((a, b) => a - b)).toEqual(all);
    if (units > 30) expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
  });

  test('runs stay together', () => {
    const batches = batchesOf(40, 8);
    shuffle(batches, new Uint8Array(40));
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
    shuffle(batches, skip);
    expect(new Set(batches.active.subarray(0, batches.count))).toEqual(new Set([0, 2, 4]));
    expect([...skip]).toEqual([0, 1, 0, 0, 0]);
    const start = Float64Array.of(0, 1, 0, 0, 0);
    batches.shuffle(kernels, skip, new Float64Array(5), start);
    expect(batches.count).toBe(5);
    expect([...skip]).toEqual([0, 0, 0, 0, 0]);
  });

  test('cuts what is active into batches of equal size', () => {
    const batches = batchesOf(11, 1);
    shuffle(batches, new Uint8Array(11));
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

describe('InterceptPace', () => {
  const factors = (clock: InterceptStep, pulls: readonly number[]) =>
    pulls.map((pull) => clock.observe(pull));
  const steady = new Array<number>(8).fill(1);
  const turning = [1, -1, 1, -1, 1, -1, 1, -1];

  test('eases after 8 epochs of a pull that neither turns nor fades', () => {
    const clock = new InterceptStep(64, 1);
    expect(factors(clock, steady)).toEqual([1, 1, 1, 1, 1, 1, 1, 0.25]);
    expect(factors(clock, [-1, -1, -1, -1, -1, -1, -1, -1])[7]).toBe(1);
  });

  test('leaves a pull alone that fades by half, and one that turns now and then', () => {
    const clock = new InterceptStep(64, 1);
    expect(factors(clock, [8, 7, 6, 5, 4.5, 4.25, 4.125, 4])).toEqual(steady);
    expect(factors(clock, [8, 7, 6, 5, 4.5, 4.25, 4.125, 4.0625])[7]).toBe(0.25);
    expect(factors(clock, [1, 1, 1, -1, -1, -1, 1, 1])).toEqual(steady);
  });

  test('restores by doubling when the pull turns in half of the epochs', () => {
    const clock = new InterceptStep(64, 1);
    factors(clock, steady);
    expect(factors(clock, turning)).toEqual([1, 1, 1, 1, 1, 1, 1, 2]);
    expect(factors(clock, [-1, -1, 1, 1, -1, -1, 1, -1])[7]).toBe(2);
  });

  test('swings when the pull turns after five epochs one way, not sooner', () => {
    const clock = new InterceptStep(64, 1);
    factors(clock, [1, 1, 1, 1, -1, -1, -1, -1]);
    expect(clock.swings(1)).toBe(false);
    factors(clock, [-1]);
    expect(clock.swings(-1)).toBe(false);
    expect(clock.swings(1)).toBe(true);
    const again = new InterceptStep(64, 1);
    again.restore(clock.save());
    expect(again.swings(1)).toBe(true);
  });

  test('stays between the lightest and the first weight', () => {
    const clock = new InterceptStep(64, 10);
    const weights = [64];
    const follow = (pulls: readonly number[]) => {
      const product = factors(clock, pulls).reduce((one, factor) => one * factor, 1);
      weights.push(weights[weights.length - 1] * product);
    };
    for (let k = 0; k < 4; k++) follow(steady);
    for (let k = 0; k < 4; k++) follow(turning);
    expect(weights).toEqual([64, 16, 10, 10, 10, 20, 40, 64, 64]);
  });

  test('a weight below the lightest stays as it is', () => {
    const clock = new InterceptStep(4, 10);
    expect(factors(clock, steady)).toEqual(steady);
    expect(factors(clock, turning)).toEqual(steady);
  });
});

describe('Schedule', () => {
  /** The first epoch after `epoch` that is due. */
  function dueAfter(schedule: EvaluationSchedule, epoch: number): number {
    for (let next = epoch + 1; ; next++) if (schedule.isDue(next)) return next;
  }

  test('evaluates the first epoch and every one after while the gap cannot be predicted', () => {
    const schedule = new EvaluationSchedule(1e-3);
    expect(schedule.isDue(1)).toBe(true);
    schedule.note(1, 0.5, 1);
    expect(schedule.isDue(2)).toBe(true);
    // A gap that does not fall says nothing.
    schedule.note(2, 0.6, 2);
    expect(schedule.isDue(3)).toBe(true);
  });

  test('waits a third of the epochs that remain', () => {
    // Halving every epoch from ½, the tolerance is 9 epochs away.
    const schedule = new EvaluationSchedule(0.5 ** 10);
    schedule.note(20, 1, 20);
    schedule.note(21, 0.5, 21);
    expect(dueAfter(schedule, 21)).toBe(24);
    schedule.note(24, 0.5 ** 9, 24);
    expect(dueAfter(schedule, 24)).toBe(25);
  });

  test('waits at most 5 epochs and at most half of those that have been', () => {
    const far = (epoch: number) => {
      const schedule = new EvaluationSchedule(1e-100);
      schedule.note(epoch - 1, 1, epoch - 1);
      schedule.note(epoch, 0.5, epoch);
      return dueAfter(schedule, epoch) - epoch;
    };
    expect([2, 3, 4, 7, 10, 11, 12, 100].map(far)).toEqual([1, 1, 2, 3, 5, 5, 5, 5]);
  });

  test('waits at most 5 epochs until a slack promises the tolerance', () => {
    const schedule = new EvaluationSchedule(1e-3);
    expect(schedule.isDue(1, 1)).toBe(true);
    schedule.note(1, 0.5, 1, 0.6);
    // The gap is taken to be half the slack, or less where the last one was.
    expect([2, 3, 4, 5, 6].filter((epoch) => schedule.isDue(epoch, 2.1e-3))).toEqual([6]);
    expect(schedule.isDue(2, 2e-3)).toBe(true);
    const later = new EvaluationSchedule(1e-3);
    later.note(20, 1e-2, 20, 1e-1);
    expect(dueAfter(later, 20)).toBe(21);
    expect([21, 22, 23, 24, 25].filter((epoch) => later.isDue(epoch, 1.1e-2))).toEqual([25]);
    expect(later.isDue(21, 0.9e-2)).toBe(true);
    // A gap that does not fall promises nothing.
    later.note(30, 1e-1, 30, 1e-1);
    expect(later.isDue(31, 1)).toBe(true);
  });

  test.each([-1e-17, 0, 1e-300])('a slack that is nothing but rounding, %d', (slack) => {
    const schedule = new EvaluationSchedule(1e-3);
    schedule.note(1, 1e-9, 1, slack);
    const { ofSlack } = schedule.save();
    expect(ofSlack).toBe(0.5);
    expect(dueAfter(schedule, 1)).toBe(2);
  });

  test('waits until the epochs have cost what an evaluation does', () => {
    const waitWith = (passesPerEpoch: number) => {
      const schedule = new EvaluationSchedule(1e-3);
      schedule.note(30, 1, 30);
      schedule.note(40, 2, 30 + 10 * passesPerEpoch);
      return dueAfter(schedule, 40) - 40;
    };
    expect([1, 0.5, 0.25, 0.01, 3, 0].map(waitWith)).toEqual([1, 2, 4, 5, 1, 1]);
  });
});

import { expect, test } from 'vitest';
import { stream } from '../../../../src/math/random.ts';
import { EvaluationSchedule } from '../../../../src/solvers/evaluation-schedule.ts';
import { InterceptStep } from '../../../../src/solvers/ring/damping.ts';
import { BundleProgram } from '../../../../src/solvers/rivals/bundle-program.ts';

test('a generator goes on from its stored words', () => {
  const words = new Int32Array(4);
  const one = stream(3, 5);
  for (let k = 0; k < 10; k++) one.nextUint32();
  one.store(words);
  const next = Array.from({ length: 20 }, () => one.nextUint32());
  const two = stream(1, 1);
  two.load(words);
  expect(Array.from({ length: 20 }, () => two.nextUint32())).toEqual(next);
});

test("the intercept's pace goes on from any epoch, through changes of its weight", () => {
  const pulls = Array.from({ length: 60 }, (_, k) => (k < 30 ? 1 : (-1) ** k) * (1 + (k % 3)));
  const whole = new InterceptStep(8, 0.1);
  const factors = pulls.map((pull) => whole.observe(pull));
  expect(new Set(factors).size).toBeGreaterThan(2);
  for (let stop = 0; stop < pulls.length; stop++) {
    const before = new InterceptStep(8, 0.1);
    for (const pull of pulls.slice(0, stop)) before.observe(pull);
    const after = new InterceptStep(8, 0.1);
    after.restore(before.save());
    expect(pulls.slice(stop).map((pull) => after.observe(pull))).toEqual(factors.slice(stop));
  }
});

test('a schedule goes on from any epoch', () => {
  const slackAt = (epoch: number) => 3 * 0.85 ** epoch;
  const dueUntil = (schedule: EvaluationSchedule, from: number): number[] => {
    const due: number[] = [];
    for (let epoch = from; epoch <= 60; epoch++) {
      if (!schedule.isDue(epoch, slackAt(epoch))) continue;
      schedule.note(epoch, 0.9 ** epoch, 0.3 * epoch, slackAt(epoch));
      due.push(epoch);
    }
    return due;
  };
  const all = dueUntil(new EvaluationSchedule(1e-3), 1);
  for (let stop = 1; stop < 60; stop++) {
    const before = new EvaluationSchedule(1e-3);
    for (const epoch of all.filter((at) => at <= stop)) {
      before.note(epoch, 0.9 ** epoch, 0.3 * epoch, slackAt(epoch));
    }
    const after = new EvaluationSchedule(1e-3);
    after.restore(before.save());
    expect(dueUntil(after, stop + 1)).toEqual(all.filter((at) => at > stop));
  }
});

/** Planes of which some are merged and removed, so that G is no longer made of products alone. */
function grow(program: BundleProgram, from: number, to: number): number[] {
  const planes = Array.from({ length: to }, (_, k) => {
    const random = stream(9, k);
    return Array.from({ length: 6 }, () => random.normal());
  });
  const gaps: number[] = [];
  for (let k = from; k < to; k++) {
    if (program.size === program.capacity) {
      const used = [...program.shares.keys()].filter((plane) => program.shares[plane] > 0);
      if (used.length < program.size) {
        program.remove([...program.shares.keys()].find((plane) => !used.includes(plane)) as number);
      } else program.merge(0, 1);
    }
    const products = Array.from({ length: program.size + 1 }, (_, other) =>
      planes[k].reduce((sum, x, j) => sum + x * planes[other % to][j] * 0.1, other === 0 ? 1 : 0),
    );
    products[program.size] = planes[k].reduce((sum, x) => sum + x * x, 1);
    program.add(products, -0.1 * k);
    gaps.push(program.solve(1e-12));
  }
  return gaps;
}

test('a bundle program goes on from what it saved, through JSON, to the same bits', () => {
  const whole = new BundleProgram(5);
  grow(whole, 0, 9);
  const saved = JSON.parse(JSON.stringify(whole.save())) as ReturnType<BundleProgram['save']>;
  const resumed = new BundleProgram(5);
  resumed.restore(saved);
  expect(resumed.size).toBe(whole.size);
  expect(grow(resumed, 9, 16)).toEqual(grow(whole, 9, 16));
  expect(resumed.shares).toEqual(whole.shares);
  expect(resumed.save()).toEqual(whole.save());
});

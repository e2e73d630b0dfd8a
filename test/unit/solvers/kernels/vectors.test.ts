/** Loops over whole vectors, worked out by hand; no step rounds. */
import { describe, expect, test } from 'vitest';
import { losses } from '../../../../src/problem/losses/index.ts';
import { Desk } from './desk.ts';

describe.each(['plain', 'wasm'] as const)('%s kernels', (name) => {
  const setUp = () => {
    const desk = new Desk();
    return { desk, kernels: desk.kernels(name, losses.hinge()) };
  };

  test('extrapolate adds momentum and remembers where it was', () => {
    const { desk, kernels } = setUp();
    const now = desk.doubles(3, -1);
    const start = desk.doubles(0, 0);
    const previous = desk.doubles(1, 1);
    kernels.extrapolate(now, start, previous, 0.5);
    expect([...now]).toEqual([4, -2]);
    expect([...start]).toEqual([3, -1]);
    expect([...previous]).toEqual([3, -1]);
  });

  test('interpolate goes part of the way, or beyond, into either end as well', () => {
    const { desk, kernels } = setUp();
    const from = desk.doubles(2, 2);
    const to = desk.doubles(4, 0);
    const target = desk.doubles(9, 9);
    kernels.interpolate(target, from, to, 0.25);
    expect([...target]).toEqual([2.5, 1.5]);
    kernels.interpolate(target, target, to, 2);
    expect([...target]).toEqual([5.5, -1.5]);
    kernels.interpolate(to, from, to, 0.5);
    expect([...to]).toEqual([3, 1]);
    expect([...from]).toEqual([2, 2]);
  });

  test('scaleInto multiplies, in place as well', () => {
    const { desk, kernels } = setUp();
    const source = desk.doubles(3, -2);
    const target = desk.doubles(0, 0);
    kernels.scaleInto(source, target, 0.5);
    expect([...source, ...target]).toEqual([3, -2, 1.5, -1]);
    kernels.scaleInto(source, source, -2);
    expect([...source]).toEqual([-6, 4]);
  });

  test('penaltySum is Σ l1 |w| + (l2/2) w²', () => {
    const { desk, kernels } = setUp();
    const sum = kernels.penaltySum(
      desk.doubles(2, -4, 5),
      desk.doubles(1, 0.5, 0),
      desk.doubles(3, 0, 0),
    );
    expect(sum).toBe(2 + 6 + 2);
  });

  test('penaltyConjugateSum is Σ soft(v, l1)²/(2 l2) where l2 is not zero', () => {
    const { desk, kernels } = setUp();
    const sum = kernels.penaltyConjugateSum(
      desk.doubles(3, -2, 0.5, 100),
      desk.doubles(1, 0, 1, 1),
      desk.doubles(0.5, 4, 1, 0),
    );
    // 2²/1, 2²/8, a weight held at 0, a column without a quadratic part
    expect(sum).toBe(4 + 0.5);
  });

  test('penaltySlope is the derivative along the segment, at a corner to the right', () => {
    const { desk, kernels } = setUp();
    const from = desk.doubles(1, -1, 7);
    const to = desk.doubles(3, 1, 7);
    const l1 = desk.doubles(0.5, 2, 9);
    const l2 = desk.doubles(1, 1, 9);
    // changes 2, 2, 0; at ½ the weights are 2, 0, 7
    expect(kernels.penaltySlope(from, to, l1, l2, 0.5)).toBe(1 + 4 + 4);
    // at ¼: 1.5 and −½, where |w| still falls
    expect(kernels.penaltySlope(from, to, l1, l2, 0.25)).toBe(1 + 3 - 4 - 1);
    // Downwards through 0 the modulus rises again behind the corner.
    expect(kernels.penaltySlope(to, from, l1, l2, 0.5)).toBe(-1 - 4 + 4);
  });

  test('changeAlong and changeSquare are ⟨a, b − a⟩ and |b − a|²', () => {
    const { desk, kernels } = setUp();
    const from = desk.doubles(1, -2, 5);
    const to = desk.doubles(4, 2, 5);
    expect(kernels.changeAlong(from, to)).toBe(3 - 8);
    expect(kernels.changeSquare(from, to)).toBe(9 + 16);
  });

  test('mapWeights thresholds the shifted image; mappedSlope weighs its change', () => {
    const { desk, kernels } = setUp();
    const map = {
      image: desk.doubles(3, -3, 1),
      threshold: desk.doubles(1, 0.5, 2),
      inverse: desk.doubles(2, 4, 8),
      shift: desk.doubles(0.5, 0, 0),
    };
    const weights = desk.doubles(7, 7, 7);
    kernels.mapWeights(map, weights);
    expect([...weights]).toEqual([5, -10, 0]);
    const start = desk.doubles(1, -3, 9);
    // Half way the image is (2, −3, 5): w = (3, −10, 24), and it changes by (2, 0, −8).
    expect(kernels.mappedSlope(map, start, 0.5)).toBe(6 - 192);
    expect(kernels.mappedSlope(map, start, 1)).toBe(10);
  });

  test('a box clips what the map makes of the image, and the slope follows', () => {
    const { desk, kernels } = setUp();
    const map = {
      image: desk.doubles(3, -3, 1),
      threshold: desk.doubles(1, 0.5, 2),
      inverse: desk.doubles(2, 4, 8),
      shift: desk.doubles(0.5, 0, 0),
      box: { low: desk.doubles(-1, -2, 0), high: desk.doubles(4, 9, Infinity) },
    };
    const weights = desk.doubles(7, 7, 7);
    kernels.mapWeights(map, weights);
    // 5, −10 and 0 without the box
    expect([...weights]).toEqual([4, -2, 0]);
    const start = desk.doubles(1, -2, 9);
    // Half way the image is (2, −2.5, 5): w = (3, −8, 24), clipped (3, −2, 24), times (2, −1, −8).
    expect(kernels.mappedSlope(map, start, 0.5)).toBe(6 + 2 - 192);
  });

  test('boundedConjugateSum is Σ of the greatest scale v w − l1 |w| − (l2/2) w² in the box', () => {
    const { desk, kernels } = setUp();
    const image = desk.doubles(3, 3, -3, -3, 9, 9, 0.5);
    const l1 = desk.doubles(1, 1, 1, 1, 1, 0, 1);
    const l2 = desk.doubles(0.5, 0.5, 0.5, 0, 0, 0, 0);
    const low = desk.doubles(-1, -1, -1, -2, 0, -Infinity, -1);
    const high = desk.doubles(Infinity, 2, 2, 2, Infinity, Infinity, 1);
    // 2²/1; at the upper end 2 (2 − ½); at the lower 1 (2 − ¼); 2·2 with l1 alone; a side without
    // an end; the intercept; a weight held at 0.
    const box = { low, high };
    expect(kernels.boundedConjugateSum(image, l1, l2, box, 1)).toBe(4 + 3 + 1.75 + 4);
    // At half of v the excess is ½: ¼/1 in the first three, ½·2 in the fourth.
    expect(kernels.boundedConjugateSum(image, l1, l2, box, 0.5)).toBe(0.25 * 3 + 1);
  });

  test('listUnits lists runs in their order, without units that rest where they were', () => {
    const { desk, kernels } = setUp();
    // Runs of 3 over 8 units: {0 1 2}, {3 4 5}, {6 7}
    const runs = desk.ints(2, 0, 1);
    const skip = desk.bytes(0, 7, 1, 2, 0, 1, 0, 1);
    const now = desk.doubles(0, 1, 2, 3, 4, 5, 6, 7);
    const start = desk.doubles(9, 1, 9, 3, 9, 5, 6, 7);
    const active = desk.ints(-1, -1, -1, -1, -1, -1, -1, -1);
    expect(kernels.listUnits(runs, 3, skip, now, start, active)).toBe(4);
    expect([...active]).toEqual([6, 0, 2, 4, -1, -1, -1, -1]);
    expect([...skip]).toEqual([0, 6, 0, 1, 0, 0, 0, 0]);
    expect(kernels.listUnits(runs, 3, skip, now, start, active)).toBe(6);
    expect([...active.subarray(0, 6)]).toEqual([6, 7, 0, 2, 4, 5]);
    expect([...skip]).toEqual([0, 5, 0, 0, 0, 0, 0, 0]);
  });
});

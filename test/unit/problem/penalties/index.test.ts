import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/errors.ts';
import { losses } from '../../../../src/problem/losses/index.ts';
import {
  type Penalty,
  penalties,
  penaltyByName,
  penaltyIncompatibility,
  penaltyNames,
} from '../../../../src/problem/penalties/index.ts';
import {
  type Bounds,
  boundsOf,
  describePenalty,
  finiteBounds,
} from '../../../../src/problem/penalties/separable.ts';
import { train } from '../../../../src/train/train.ts';
import { sampleFor } from '../../../support/data.ts';

describe('penalties as values', () => {
  test('each can be had by name and is frozen', () => {
    for (const name of penaltyNames) {
      expect(penaltyByName(name).name).toBe(name);
      expect(Object.isFrozen(penaltyByName(name))).toBe(true);
    }
  });

  test('their two numbers', () => {
    expect(penalties.l2()).toMatchObject({ l1: 0, l2: 1 });
    expect(penalties.l1()).toMatchObject({ l1: 1, l2: 0 });
    expect(penalties.elasticNet({ l1Ratio: 0.25 })).toMatchObject({ l1: 0.25, l2: 0.75 });
    expect(penaltyByName('elastic-net')).toMatchObject({ l1: 0.5, l2: 0.5 });
    expect(penaltyByName('elastic-net', { l1Ratio: 0.75 })).toMatchObject({ l1: 0.75, l2: 0.25 });
  });

  test('values worked out by hand', () => {
    expect(penalties.l2().value(-3)).toBe(4.5);
    expect(penalties.l1().value(-3)).toBe(3);
    const net = penalties.elasticNet({ l1Ratio: 0.5 });
    expect(net.value(-2)).toBe(2);
    expect(net.subgradient(-2)).toBe(-1.5);
    expect(net.prox(4, 2)).toBe(1.5);
    expect(net.conjugate(-1.5)).toBe(1);
    expect(penalties.l1().prox(-3, 1)).toBe(-2);
    expect(penalties.l1().conjugate(1.5)).toBe(Infinity);
    expect(penalties.l2().prox(3, 2)).toBe(1);
  });
});

describe('bounds on weights', () => {
  const box = { low: -0.5, high: 2 };

  test('values worked out by hand', () => {
    const ridge = penalties.bounded(penalties.l2(), box);
    expect(Object.isFrozen(ridge)).toBe(true);
    expect(ridge).toMatchObject({ name: 'l2', l1: 0, l2: 1, ...box });
    expect([ridge.value(2), ridge.value(2.1), ridge.value(-0.6)]).toEqual([2, Infinity, Infinity]);
    expect([ridge.prox(3, 2), ridge.prox(30, 2), ridge.prox(-30, 2)]).toEqual([1, 2, -0.5]);
    // s w − w²/2 at w = 1, 2 and −½
    expect([1, 4, -3].map(ridge.conjugate)).toEqual([0.5, 6, 1.375]);
    const lasso = penalties.nonNegative(penalties.l1());
    expect(lasso).toMatchObject({ name: 'l1', low: 0, high: Infinity });
    expect([0.5, 1, 1.5, -100].map(lasso.conjugate)).toEqual([0, 0, Infinity, 0]);
    expect(penalties.bounded(lasso, { high: 3 }).conjugate(1.5)).toBe(1.5);
    expect([lasso.prox(3, 1), lasso.prox(-3, 1)]).toEqual([2, 0]);
  });

  test('a box without ends is none', () => {
    expect(penalties.bounded(penalties.l2(), {})).not.toHaveProperty('low');
    const open = { low: -Infinity, high: Infinity };
    expect(penalties.bounded(penalties.l2(), open)).not.toHaveProperty('high');
    expect(boundsOf(penalties.l2())).toBeUndefined();
    expect(finiteBounds(penalties.l2())).toEqual({});
  });

  test('in words and for files', () => {
    const described = (bounds: Bounds) =>
      describePenalty(penalties.bounded(penalties.l1(), bounds));
    expect(described({})).toBe('l1');
    expect(described({ low: 0 })).toBe('l1 (w ≥ 0)');
    expect(described({ high: 1.5 })).toBe('l1 (w ≤ 1.5)');
    expect(described(box)).toBe('l1 (-0.5 ≤ w ≤ 2)');
    expect(finiteBounds(penalties.nonNegative(penalties.l1()))).toEqual({ low: 0 });
    expect(finiteBounds(penalties.bounded(penalties.l1(), { low: -0 }))).toEqual({ low: 0 });
    expect(finiteBounds(penalties.bounded(penalties.l1(), box))).toEqual(box);
  });
});

describe('what is refused', () => {
  test('an unknown name, with the one that was meant', () => {
    expect(() => penaltyByName('elasticnet')).toThrow(UsageError);
    expect(() => penaltyByName('elasticnet')).toThrow("did you mean 'elastic-net'?");
    expect(() => penaltyByName('lasso-of-groups')).toThrow(
      "unknown penalty 'lasso-of-groups' (penalties: l2, l1, elastic-net)",
    );
  });

  test('the group LASSO, with the reason', () => {
    expect(() => penaltyByName('group-lasso')).toThrow(UsageError);
    expect(() => penaltyByName('group-lasso')).toThrow(
      /a sum over single weights, and the norm of a group is not; use elastic-net, .* or l1$/,
    );
  });

  test.each([
    { low: 0.5 },
    { high: -1e-9 },
    { low: 1, high: -1 },
    { low: Number.NaN },
    { high: Number.NaN },
  ])('a box without 0: %j', (bounds) => {
    expect(() => penalties.bounded(penalties.l2(), bounds)).toThrow(UsageError);
    expect(() => penalties.bounded(penalties.l2(), bounds)).toThrow(
      /^weights are bounded to \[\S+, \S+\], without 0, /,
    );
  });

  test.each([0, 1, -0.5, Number.NaN])('a ratio of %d', (l1Ratio) => {
    expect(() => penalties.elasticNet({ l1Ratio })).toThrow(UsageError);
    expect(() => penaltyByName('elastic-net', { l1Ratio })).toThrow(`l1Ratio is ${l1Ratio}`);
  });

  test('a ratio where there is none', () => {
    expect(() => penaltyByName('l1', { l1Ratio: 0.5 })).toThrow(
      "penalty 'l1' takes no l1Ratio, but was given 0.5; use 'elastic-net'",
    );
  });
});

describe('a penalty that solvers cannot compute with', () => {
  const mcp: Penalty = {
    ...penalties.l1(),
    name: 'mcp',
    value: (w) => (Math.abs(w) < 3 ? Math.abs(w) - (w * w) / 6 : 1.5),
  };

  test('is answered as not compatible', () => {
    expect(penaltyIncompatibility(mcp)).toBe(
      "penalty 'mcp' is not compatible with any solver: solvers compute with l1 |w| + (l2/2) w² " +
        'and a box, which is 100 at w = -100 where its value is 1.5',
    );
    expect(penaltyIncompatibility({ ...mcp, l1: -1 })).toContain('its l1 is -1 and its l2 is 0');
  });

  test('does not come to training', async () => {
    const { dataset } = sampleFor(losses.square());
    const training = train(dataset, { loss: losses.square(), penalty: mcp, threads: 1 });
    await expect(training).rejects.toThrow("penalty 'mcp' is not compatible");
  });

  test('is none of the registered ones, in a box or not', () => {
    for (const name of penaltyNames) {
      const penalty = penaltyByName(name);
      expect(penaltyIncompatibility(penalty)).toBeUndefined();
      expect(penaltyIncompatibility(penalties.nonNegative(penalty))).toBeUndefined();
    }
  });
});

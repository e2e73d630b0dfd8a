import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { penalties, penaltyByName, penaltyNames } from '../../../src/penalties/index.ts';

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
    expect(penaltyByName('elastic-net', 0.75)).toMatchObject({ l1: 0.75, l2: 0.25 });
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

describe('what is refused', () => {
  test('an unknown name, with the one that was meant', () => {
    expect(() => penaltyByName('elasticnet')).toThrow(UsageError);
    expect(() => penaltyByName('elasticnet')).toThrow("did you mean 'elastic-net'?");
    expect(() => penaltyByName('group-lasso')).toThrow(
      "unknown penalty 'group-lasso' (penalties: l2, l1, elastic-net)",
    );
  });

  test.each([0, 1, -0.5, Number.NaN])('a ratio of %d', (l1Ratio) => {
    expect(() => penalties.elasticNet({ l1Ratio })).toThrow(UsageError);
    expect(() => penaltyByName('elastic-net', l1Ratio)).toThrow(`l1Ratio is ${l1Ratio}`);
  });

  test('a ratio where there is none', () => {
    expect(() => penaltyByName('l1', 0.5)).toThrow(
      "penalty 'l1' takes no l1Ratio, but was given 0.5; use 'elastic-net'",
    );
  });
});

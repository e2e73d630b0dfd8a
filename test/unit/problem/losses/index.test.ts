import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/errors.ts';
import { lossByName, losses, lossNames } from '../../../../src/problem/losses/index.ts';

describe('losses as values', () => {
  test('each can be had by name and is frozen', () => {
    for (const name of lossNames) {
      const loss = lossByName(name);
      expect(loss.name).toBe(name);
      expect(Object.isFrozen(loss)).toBe(true);
    }
    expect(Object.values(losses).map((make) => make().name)).toEqual([...lossNames]);
  });

  test('each is a file of its own', () => {
    const files = readdirSync(new URL('../../../../src/problem/losses', import.meta.url));
    const others = ['custom.ts', 'index.ts', 'loss.ts'];
    const expected = [...lossNames.map((name) => `${name}.ts`), ...others];
    expect(files.sort()).toEqual(expected.sort());
  });

  test('tasks and smoothness', () => {
    const regression = lossNames.filter((name) => lossByName(name).task === 'regression');
    expect(regression).toEqual([
      'square',
      'huber',
      'absolute',
      'squared-absolute',
      'quantile',
      'poisson',
    ]);
    const kinked = lossNames.filter((name) => !lossByName(name).smooth);
    expect(kinked).toEqual(['hinge', 'absolute', 'quantile']);
  });

  test('parameters have names and defaults', () => {
    expect(losses.smoothedHinge()).toMatchObject({ parameterName: 'smoothing', parameter: 1 });
    expect(losses.huber()).toMatchObject({ parameterName: 'delta', parameter: 1 });
    expect(losses.absolute()).toMatchObject({ parameterName: 'epsilon', parameter: 0 });
    expect(losses.squaredAbsolute()).toMatchObject({ parameterName: 'epsilon', parameter: 0 });
    expect(losses.quantile()).toMatchObject({ parameterName: 'quantile', parameter: 0.5 });
    expect(losses.huber({ delta: 3 }).parameter).toBe(3);
    expect(lossByName('absolute', 0.1).parameter).toBe(0.1);
    expect('parameterName' in losses.hinge()).toBe(false);
  });
});

describe('what is refused', () => {
  test('an unknown name, with the one that was meant', () => {
    expect(() => lossByName('hing')).toThrow(UsageError);
    expect(() => lossByName('hing')).toThrow("unknown loss 'hing'; did you mean 'hinge'?");
    expect(() => lossByName('cauchy')).toThrow(/^unknown loss 'cauchy' \(losses: hinge, /);
    expect(() => lossByName('toString')).toThrow(UsageError);
  });

  test('a parameter out of range', () => {
    const message =
      "loss 'smoothed-hinge': smoothing is 2; it must be a number above 0 and at most 1";
    expect(() => losses.smoothedHinge({ smoothing: 2 })).toThrow(message);
    expect(() => losses.smoothedHinge({ smoothing: 0 })).toThrow(UsageError);
    expect(() => losses.huber({ delta: 0 })).toThrow(
      'delta is 0; it must be a finite number above 0',
    );
    expect(() => losses.huber({ delta: Infinity })).toThrow(UsageError);
    expect(() => losses.absolute({ epsilon: -1 })).toThrow('epsilon is -1');
    expect(() => losses.absolute({ epsilon: Number.NaN })).toThrow('epsilon is NaN');
    expect(() => losses.squaredAbsolute({ epsilon: -1 })).toThrow('epsilon is -1');
    for (const quantile of [0, 1, Number.NaN]) {
      expect(() => losses.quantile({ quantile })).toThrow('must be a number above 0 and below 1');
    }
    expect(() => lossByName('huber', '2' as unknown as number)).toThrow('delta is 2');
  });

  test('a parameter where there is none', () => {
    expect(() => lossByName('hinge', 0.5)).toThrow(
      "loss 'hinge' takes no parameter, but was given 0.5",
    );
  });
});

import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { lossByName, losses, lossNames } from '../../../src/problem/losses/index.ts';
import type { Loss } from '../../../src/problem/losses/loss.ts';
import { type Penalty, penalties } from '../../../src/problem/penalties/index.ts';
import { defaultGrid } from '../../../src/solvers/auto.ts';
import { choose as chooseFor, gridFor } from '../../../src/solvers/choose.ts';
import { solverByName, solvers } from '../../../src/solvers/index.ts';
import type { Solver } from '../../../src/solvers/registry.ts';
import { entryOf } from '../../../src/solvers/registry.ts';
import type { DataShape } from '../../../src/solvers/solver.ts';

const l2 = penalties.l2();
const tall = { rows: 50_000, columns: 100, nonzeros: 500_000 };
const wide = { rows: 100, columns: 5000, nonzeros: 50_000 };
const table = { rows: 20_000, columns: 8, nonzeros: 160_000 };
const text = { rows: 50_000, columns: 40_000, nonzeros: 2_000_000 };

function choose(
  solver: Solver,
  loss: Loss,
  penalty: Penalty,
  lambda: number,
  factors: boolean,
  shape: DataShape,
) {
  const plan = chooseFor(solver, { loss, penalty, lambda, factors, shape, intercept: false });
  return { ...plan, orientation: entryOf(plan).orientation };
}

describe('choose', () => {
  test.each(lossNames)(
    'auto finds a way for %s with every penalty and shape, and says why',
    (name) => {
      const loss = lossByName(name);
      const bounded = penalties.nonNegative(l2);
      for (const penalty of [l2, penalties.l1(), penalties.elasticNet(), bounded]) {
        for (const shape of [tall, wide, text, table]) {
          const plan = choose(solvers.auto(), loss, penalty, 0.1, false, shape);
          expect(plan.reason).toContain(name);
          const refused = entryOf(plan).incompatible?.(
            { loss, penalty, lambda: 0.1, intercept: false, factors: false, shape },
            plan.settings,
          );
          expect(refused).toBeUndefined();
        }
      }
    },
  );

  test('takes what is given', () => {
    const rows = choose(solvers.ring({ mode: 'rows' }), losses.square(), l2, 0.1, false, tall);
    expect(rows).toMatchObject({ name: 'ring-rows', orientation: 'rows' });
    const columns = choose(
      solvers.ring({ mode: 'columns' }),
      losses.square(),
      l2,
      0.1,
      false,
      tall,
    );
    expect(columns).toMatchObject({ name: 'ring-columns', orientation: 'columns' });
    const turned = choose(solvers.ring({ rotations: 7 }), losses.square(), l2, 0.1, false, tall);
    expect(turned).toMatchObject({ settings: { rotations: 7 } });
    expect(choose(solvers.dso(), losses.hinge(), l2, 0.1, false, tall).orientation).toBe('rows');
  });

  const { logistic, square, huber, squaredHinge, hinge, absolute } = losses;
  const [l1, mixed, boxed] = [penalties.l1(), penalties.elasticNet(), penalties.nonNegative(l2)];
  test.each<[string, Loss, Penalty, DataShape, string, string?]>([
    ['a curvature that is never 0', logistic(), l2, text, 'newton'],
    ['and the same on a table', square(), l2, table, 'newton', 'interior-point'],
    ['a loss with straight parts on text', squaredHinge(), l2, text, 'ring-rows'],
    ['on a table', squaredHinge(), l2, table, 'newton', 'interior-point'],
    ['in regression', huber(), l2, text, 'newton'],
    ['L1 on text', logistic(), l1, text, 'working-set'],
    ['both penalties on text', squaredHinge(), mixed, text, 'working-set'],
    ['L1 on a table', huber(), l1, table, 'interior-point', 'ring-rows'],
    ['a kink on text', hinge(), l2, text, 'ring-rows'],
    ['a kink on a table', hinge(), l2, table, 'ring-rows', 'interior-point'],
    ['a kink with both penalties', absolute(), mixed, table, 'ring-rows', 'interior-point'],
    ['a linear program on a table', absolute(), l1, table, 'interior-point', 'ring-rows'],
    ['a linear program on text', hinge(), l1, text, 'interior-point', 'ring-rows'],
    ['bounds on a table', square(), boxed, table, 'interior-point', 'ring-rows'],
    ['bounds on text', square(), boxed, text, 'ring-rows'],
  ])('auto, %s', (_, loss, penalty, shape, name, next) => {
    const plan = choose(solvers.auto(), loss, penalty, 0.1, false, shape);
    expect(plan.name).toBe(name);
    expect(plan.next?.plan.name).toBe(next);
    if (plan.next?.after !== undefined) expect(plan.next.after).toBeGreaterThan(0);
  });

  test('auto takes what reads from disk where memory is limited, or the data is large', () => {
    const request = { lambda: 0.1, intercept: false, factors: false };
    const large = { rows: 1e7, columns: 1e4, nonzeros: 1e9 };
    for (const loss of [logistic(), squaredHinge(), hinge()]) {
      for (const penalty of [l2, l1, mixed]) {
        const plans = [
          chooseFor(solvers.auto(), { ...request, loss, penalty, shape: table, fromDisk: true }),
          chooseFor(solvers.auto(), { ...request, loss, penalty, shape: large }),
        ];
        for (const plan of plans) {
          expect(entryOf(plan).readsFromDisk).toBe(true);
          expect(entryOf(plan).inMemoryOnly?.(plan.settings, 4)).toBeUndefined();
          expect(plan.next).toBeUndefined();
        }
      }
    }
  });

  test('auto takes what can keep weights in a box, others refuse it in words', () => {
    const bounded = penalties.nonNegative(l2);
    const ask = (solver: Solver, loss: Loss, columns: number) =>
      choose(solver, loss, bounded, 0.1, false, { ...tall, columns });
    expect(ask(solvers.ring(), losses.square(), 8).name).toBe('ring-columns');
    expect(ask(solvers.auto(), losses.hinge(), 8)).toMatchObject({
      name: 'ring-rows',
      settings: { mapped: true, bounded: true },
    });
    const refusing = [solvers.lbfgs(), solvers.bmrm(), solvers.proximalPoint(), solvers.dcd()];
    for (const solver of refusing) {
      const refused = () => ask(solver, losses.square(), 8);
      expect(refused).toThrow(UsageError);
      expect(refused).toThrow(
        `${solver.name} is not compatible with weights in [0, Infinity]: it cannot bound them ` +
          '(use auto, ring, interior-point, dso, sgd or admm)',
      );
    }
  });

  test('a solver that is no solver is refused', () => {
    const ask = () => choose('ring' as never, losses.hinge(), l2, 0.1, false, tall);
    expect(ask).toThrow(UsageError);
    expect(ask).toThrow('solver is "ring"; make one with solvers.auto()');
  });

  test('column mode with a loss that is not smooth is refused in words', () => {
    const ask = () =>
      choose(solvers.ring({ mode: 'columns' }), losses.hinge(), l2, 0.1, false, tall);
    expect(ask).toThrow(UsageError);
    expect(ask).toThrow(
      "ring is not compatible with loss 'hinge': column mode needs a smooth loss",
    );
  });

  test('the local initialization needs a quadratic penalty', () => {
    expect(() => choose(solvers.paper(), losses.hinge(), penalties.l1(), 0.1, false, tall)).toThrow(
      "penalty 'l1': it needs a quadratic part",
    );
    expect(choose(solvers.paper(), losses.hinge(), l2, 0.1, false, tall).name).toBe('dso');
  });

  test('a loss without a dual is refused by what it lacks', () => {
    const { conjugate: _, dualStep: __, ...primal } = losses.logistic();
    const ask = () => choose(solvers.auto(), primal as never, l2, 0.1, false, tall);
    expect(ask).toThrow(UsageError);
    expect(ask).toThrow("loss 'logistic' has no conjugate, dualStep: every solver needs them");
  });

  test('a loss that threads could not load is refused', () => {
    const renamed = { ...losses.logistic(), name: 'mine' };
    expect(() => choose(solvers.auto(), renamed, l2, 0.1, false, tall)).toThrow(
      /'mine' is not built in/,
    );
    const changed = { ...losses.logistic(), value: () => 0 };
    expect(() => choose(solvers.auto(), changed, l2, 0.1, false, tall)).toThrow(
      /not built in.*loadLoss/,
    );
  });
});

describe('gridFor', () => {
  const plan = (solver: Solver) => choose(solver, losses.hinge(), l2, 0.1, false, tall);

  test('takes what is given, otherwise what suits the data and the solver', () => {
    expect(gridFor(plan(solvers.ring()), 7, tall)).toBe(7);
    expect(gridFor(plan(solvers.ring()), undefined, tall)).toBe(1);
    expect(gridFor(plan(solvers.psgd()), undefined, tall)).toBe(4);
    expect(gridFor(plan(solvers.psgd()), 2, tall)).toBe(2);
    expect(gridFor(plan(solvers.psgd()), undefined, { ...tall, rows: 3 })).toBe(3);
  });

  test('workers of a working set would wait for each other on all but large data', () => {
    const set = choose(solvers.workingSet(), losses.logistic(), penalties.l1(), 0.1, false, tall);
    const large = { rows: 1e6, columns: 1e6, nonzeros: 1e7 };
    expect(gridFor(set, undefined, { ...large, nonzeros: 1e7 - 1 })).toBe(1);
    expect(gridFor(set, undefined, large)).toBe(4);
    expect(gridFor(set, 3, tall)).toBe(3);
  });

  test('workers of newton, which wait for each other rarely, pay on smaller data', () => {
    const newton = choose(solvers.newton(), losses.logistic(), l2, 0.1, false, tall);
    const middling = { rows: 1e4, columns: 1e4, nonzeros: 1e6 };
    expect(gridFor(newton, undefined, { ...middling, nonzeros: 1e6 - 1 })).toBe(1);
    expect(gridFor(newton, undefined, middling)).toBe(2);
    expect(gridFor(newton, undefined, { ...middling, nonzeros: 1e7 })).toBe(4);
    expect(gridFor(newton, undefined, { ...middling, columns: 1 })).toBe(1);
  });

  test('a serial solver has a grid of 1 and says so', () => {
    expect(gridFor(plan(solvers.sgd()), undefined, { ...tall, nonzeros: 1e9 })).toBe(1);
    expect(gridFor(plan(solvers.sgd()), 1, tall)).toBe(1);
    expect(() => gridFor(plan(solvers.sgd()), 4, tall)).toThrow(
      'a grid of 4 was given; sgd is a serial method and runs on a grid of 1',
    );
  });
});

describe('defaultGrid', () => {
  test.each([
    [0, 1],
    [2.5e6 - 1, 1],
    [2.5e6, 2],
    [1e7 - 1, 2],
    [1e7, 4],
    [1e8 - 1, 4],
    [1e8, 8],
    [1e9 - 1, 8],
    [1e9, 16],
    [1e12, 16],
  ])('%i non-zeros: %i workers', (nonzeros, size) => {
    expect(defaultGrid({ rows: 1e6, columns: 1e6, nonzeros })).toBe(size);
  });

  test('is never larger than the rows or columns, never below 1', () => {
    expect(defaultGrid({ rows: 3, columns: 1e6, nonzeros: 1e8 })).toBe(3);
    expect(defaultGrid({ rows: 1e9, columns: 5, nonzeros: 5e9 })).toBe(5);
    expect(defaultGrid({ rows: 5, columns: 0, nonzeros: 0 })).toBe(1);
  });
});

describe('solvers', () => {
  test('settings are checked by name', () => {
    expect(() => solvers.dso({ stepSize: 0 })).toThrow('stepSize is 0; it must be a positive');
    expect(() => solvers.dso({ dualStepSize: -1 })).toThrow('dualStepSize is -1');
    expect(() => solvers.dso({ stepSize: Number.NaN })).toThrow('stepSize is NaN');
    expect(() => solvers.dso({ initialize: 1.5 })).toThrow('initialize is 1.5');
    expect(() => solvers.ring({ rotations: 0 })).toThrow('rotations is 0');
  });

  test('algorithm-1 is Algorithm 1 as printed, with one step size for w and α', () => {
    const printed = { step: 'sqrt', svrg: false, initialize: 0, boxes: false, average: false };
    expect(solvers.algorithm1()).toEqual({ name: 'dso', settings: printed });
    const steps = { stepSize: 3, dualStepSize: 3 };
    expect(solvers.algorithm1({ stepSize: 3 })).toEqual({
      name: 'dso',
      settings: { ...printed, ...steps },
    });
    expect(solverByName('algorithm-1')).toEqual(solvers.algorithm1());
  });

  test('paper is the configuration of the appendix', () => {
    expect(solvers.paper()).toEqual(
      solvers.dso({ step: 'adagrad', svrg: true, initialize: 20, average: false }),
    );
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { chooseLoss, choosePenalty, chooseSolver } from '../../../../src/apps/cli/problem.ts';
import { readPenaltyFactors } from '../../../../src/apps/cli/reading.ts';
import { solvers } from '../../../../src/solvers/index.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

describe('loss', () => {
  const choose = (flags: object) => chooseLoss({ loss: 'hinge', ...flags });

  test('by name, with its parameter', async () => {
    expect(await choose({})).toMatchObject({ name: 'hinge' });
    expect(await choose({ loss: 'huber', delta: 0.5 })).toMatchObject({ parameter: 0.5 });
    expect(await choose({ loss: 'absolute', epsilon: 0 })).toMatchObject({ parameter: 0 });
    const quantile = await choose({ loss: 'quantile', quantile: 0.9 });
    expect(quantile).toMatchObject({ name: 'quantile', parameter: 0.9 });
  });

  test('from a module, with its parameter', async () => {
    const path = join(temporaryFolder(), 'mine.mjs');
    const names =
      'value derivative curvature conjugate conjugateDerivative conjugateLow conjugateHigh dualStep';
    const functions = names.split(' ').map((name) => `export const ${name} = () => 0;`);
    writeFileSync(
      path,
      `export const name = 'mine', task = 'regression', smooth = true, parameter = 2;
       export const parameterName = 'delta';\n${functions.join('\n')}\n`,
    );
    expect(await choose({ loss: path })).toMatchObject({ name: 'mine', parameter: 2 });
    expect(await choose({ loss: path, delta: 3 })).toMatchObject({ name: 'mine', parameter: 3 });
    await expect(choose({ loss: path, epsilon: 3 })).rejects.toThrow(
      '--epsilon is not an option of the mine loss, which has --delta',
    );
  });
});

test('penalty', () => {
  expect(choosePenalty({ penalty: 'l1' })).toMatchObject({ l1: 1, l2: 0 });
  const net = choosePenalty({ penalty: 'elastic-net', l1Ratio: 0.25 });
  expect(net).toMatchObject({ l1: 0.25, l2: 0.75 });
});

test('penalty with bounds', () => {
  const common = { penalty: 'l1' } as const;
  expect(choosePenalty(common)).not.toHaveProperty('low');
  expect(choosePenalty({ ...common, nonNegative: true })).toMatchObject({ low: 0, high: Infinity });
  const box = choosePenalty({ ...common, lower: -1, upper: 2 });
  expect(box).toMatchObject({ name: 'l1', low: -1, high: 2 });
  const both = choosePenalty({ ...common, nonNegative: true, upper: 2 });
  expect(both).toMatchObject({ low: 0, high: 2 });
  expect(() => choosePenalty({ ...common, lower: 0.5 })).toThrow('give a lower bound of at most 0');
});

describe('solver', () => {
  test('auto by default', () => {
    expect(chooseSolver({ svrg: true, boxes: true })).toEqual({ name: 'auto' });
    expect(
      chooseSolver({ svrg: true, boxes: true, solver: 'ring', mode: 'rows', rotations: 8 }),
    ).toEqual({
      name: 'ring',
      settings: { mode: 'rows', rotations: 8 },
    });
    expect(
      chooseSolver({ svrg: false, boxes: false, solver: 'dso', step: 'sqrt', stepSize: 2 }),
    ).toEqual({
      name: 'dso',
      settings: {
        step: 'sqrt',
        stepSize: 2,
        svrg: false,
        initialize: 0,
        boxes: false,
        average: false,
      },
    });
  });

  test.each([
    [{ solver: 'sgd' }, solvers.sgd()],
    [
      { solver: 'psgd', step: 'sqrt', stepSize: 3, average: false },
      solvers.psgd({ step: 'sqrt', stepSize: 3, average: false }),
    ],
    [{ solver: 'bmrm', innerTolerance: 0.1 }, solvers.bmrm({ innerTolerance: 0.1 })],
    [{ solver: 'lbfgs', history: 4 }, solvers.lbfgs({ history: 4 })],
    [{ solver: 'admm', rho: 2, localPasses: 3 }, solvers.admm({ rho: 2, passes: 3 })],
    [{ solver: 'dcd', shrink: false }, solvers.dcd({ shrink: false })],
    [{ solver: 'dso-async', average: true }, solvers.dsoAsync({ average: true })],
    [{ solver: 'dso-async', paper: true }, solvers.dsoAsync({ initialize: 20 })],
  ] as const)('%j', (flags, solver) => {
    expect(chooseSolver({ svrg: true, boxes: true, ...flags })).toEqual(solver);
  });

  test.each([
    [
      { solver: 'sgd', svrg: false },
      '--no-svrg is an option of --solver dso, dso-async; the solver is sgd',
    ],
    [{ solver: 'dso', average: false }, '--no-average is an option of --solver sgd, psgd'],
    [{ solver: 'ring', rho: 1 }, '--rho is an option of --solver admm; the solver is ring'],
    [
      { history: 3 },
      '--history is an option of --solver lbfgs, proximal-point; the solver is auto',
    ],
    [{ solver: 'lbfgs', shrink: false }, '--no-shrink is an option of --solver dcd'],
    [{ solver: 'bmrm', mode: 'rows' }, '--mode is an option of --solver ring'],
  ] as const)('%j: refused', (flags, message) => {
    expect(() => chooseSolver({ svrg: true, boxes: true, ...flags })).toThrow(message);
  });

  test("--paper is the appendix's configuration", () => {
    const paper = {
      name: 'dso',
      settings: { step: 'adagrad', svrg: true, initialize: 20, boxes: true, average: false },
    };
    expect(chooseSolver({ svrg: true, boxes: true, paper: true })).toEqual(paper);
    expect(chooseSolver({ svrg: true, boxes: true, paper: true, solver: 'dso' })).toEqual(paper);
  });
});

describe('penalty factors', () => {
  test('one per line, also compressed, more than needed', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'f.txt'), '1\r\n0.5\r\n2e3');
    writeFileSync(join(folder, 'f.txt.gz'), gzipSync('1\n0.5\n2e3\n'));
    for (const name of ['f.txt', 'f.txt.gz']) {
      expect([...(await readPenaltyFactors(join(folder, name), 2))]).toEqual([1, 0.5]);
      expect([...(await readPenaltyFactors(join(folder, name), 3))]).toEqual([1, 0.5, 2000]);
    }
  });

  test.each([
    ['1\n', 'f.txt: 1 lines; expected a penalty factor for each of 2 columns'],
    ['1\n0\n', 'f.txt:2: "0"; expected a positive number'],
    ['1\n\n', 'f.txt:2: ""; expected a positive number'],
    ['Infinity\n1\n', 'f.txt:1: "Infinity"; expected a positive number'],
    ['1\nx\n', 'f.txt:2: "x"; expected a positive number'],
  ])('%j', async (text, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'f.txt'), text);
    await expect(readPenaltyFactors(join(folder, 'f.txt'), 2)).rejects.toThrow(message);
  });
});

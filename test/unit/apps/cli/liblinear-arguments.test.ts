import { describe, expect, test } from 'vitest';
import { readLiblinearArguments } from '../../../../src/apps/cli/liblinear/arguments.ts';
import { toleranceFor } from '../../../../src/apps/cli/liblinear/fit.ts';
import { UsageError } from '../../../../src/errors.ts';

const words = (line: string) => line.split(' ');

test('defaults are those of LIBLINEAR', () => {
  const request = readLiblinearArguments(['data']);
  expect(request).toMatchObject({
    cost: 1,
    epsilon: 0.1,
    stopping: 0.1,
    bias: -1,
    freeBias: false,
    quiet: false,
    data: 'data',
  });
  expect(request.solver.name).toBe('L2R_L2LOSS_SVC_DUAL');
  expect(request.classWeights.size).toBe(0);
  expect(request.model).toBeUndefined();
  expect(request.folds).toBeUndefined();
});

test('every option has its value as the next word, even one that begins with a dash', () => {
  const line = '-s 6 -c .5 -p 0 -e 1e-3 -w-1 2 -w1 3 -w1 2 -v 5 -m 2 -q -B -1 some/data model';
  const request = readLiblinearArguments(words(line));
  expect(request).toMatchObject({
    cost: 0.5,
    epsilon: 0,
    stopping: 1e-3,
    bias: -1,
    folds: 5,
    threads: 2,
    quiet: true,
    data: 'some/data',
    model: 'model',
  });
  expect(request.solver.name).toBe('L1R_LR');
  expect([...request.classWeights]).toEqual([
    [-1, 2],
    [1, 6],
  ]);
});

test.each([
  [0, 0.01],
  [1, 0.1],
  [2, 0.01],
  [3, 0.1],
  [5, 0.01],
  [6, 0.01],
  [7, 0.1],
  [11, 0.0001],
  [12, 0.1],
  [13, 0.1],
])('-s %i stops by default at LIBLINEAR’s %d, which is our 5e-5', (type, stopping) => {
  const request = readLiblinearArguments(['-s', `${type}`, 'data']);
  expect(request.stopping).toBe(stopping);
  expect(toleranceFor(request)).toBeCloseTo(5e-5, 12);
  const finer = readLiblinearArguments(['-s', `${type}`, '-e', `${stopping / 100}`, 'data']);
  expect(toleranceFor(finer)).toBeCloseTo(5e-7, 12);
});

describe('refused', () => {
  test.each([
    ['-s 4 data', 'couples the scores of all classes'],
    ['-s 21 data', 'not a sum of losses and a separable penalty'],
    ['-s 8 data', '-s 8: expected one of 0, 1, 2, 3, 5, 6, 7, 11, 12, 13'],
    ['-s 1.5 data', '-s 1.5: expected one of'],
    ['-c 0 data', '-c 0: expected a number above 0'],
    ['-c x data', '-c x: expected a number'],
    ['-p -1 data', '-p -1: expected a number of at least 0'],
    ['-e 0 data', '-e 0: expected a number above 0'],
    ['-v 1 data', '-v 1: expected a whole number of at least 2'],
    ['-m 0 data', '-m 0: expected a whole number of at least 1'],
    ['-w1 -2 data', '-w1 -2: expected a number of at least 0'],
    ['-wx 2 data', 'unknown option -wx'],
    ['-z 2 data', 'unknown option -z'],
    ['-C data', 'dso search'],
    ['-M 1 data', 'one against the rest'],
    ['-R -s 0 data', '-R goes with -B 1 and -s 0, 2, 5, 6, 11'],
    ['-R -s 3 -B 1 data', '-R goes with -B 1'],
    ['-q', 'no training set file'],
    ['-s', '-s: no value behind it'],
    ['data -s 1', '-s behind the training set file; options come first'],
    ['data model -q', '-q behind the training set file'],
  ])('%s', (line, message) => {
    expect(() => readLiblinearArguments(words(line))).toThrow(UsageError);
    expect(() => readLiblinearArguments(words(line))).toThrow(message);
  });
});

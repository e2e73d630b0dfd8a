/** Which options all ranks of a job must have alike. */
import { expect, test } from 'vitest';
import { cvOptions, trainOptions } from '../../../../src/apps/cli/options.ts';
import { defaultValues, optionsOfRanks, textOf } from '../../../../src/train/options/option.ts';

const defaults = defaultValues(trainOptions);
const compared = (flags: object) => optionsOfRanks(trainOptions, { ...defaults, ...flags });
const plain = compared({});

test('those that decide the model, with their values', () => {
  expect(compared({ smoothing: 0.5, lambda: 1e-3, seed: 2, solver: 'ring' })).toEqual({
    ...plain,
    '--smoothing': '0.5',
    '--lambda': '0.001',
    '--seed': '2',
    '--solver': 'ring',
  });
  expect(plain).toMatchObject({ '--loss': 'hinge', '--tolerance': '0.001' });
  expect(compared({ zeroBased: true, svrg: false, average: false })).toEqual({
    ...plain,
    '--zero-based': 'on',
    '--no-svrg': 'given',
    '--average': 'off',
  });
  const cv = optionsOfRanks(cvOptions, { folds: 3, lambda: [0.1, 0.01], metric: 'auc' });
  expect(cv).toEqual({ '--folds': '3', '--lambda': '0.1,0.01', '--metric': 'auc' });
});

test('not those of one rank: threads, outputs, what is shown', () => {
  const own = { threads: 3, output: 'a.model', json: true, quiet: true, name: 'x', record: false };
  expect(compared({ ...own, log: 'a.jsonl', ui: true, peerTimeout: 5, report: true })).toEqual(
    plain,
  );
});

test('of files only whether they are given: ranks may have them elsewhere', () => {
  expect(compared({ test: '/a/test.svm', penaltyFactors: 'f', checkpoint: 'c' })).toEqual({
    ...plain,
    '--test': 'given',
    '--penalty-factors': 'given',
    '--checkpoint': 'given',
  });
});

test('values that are objects do not depend on the order of their parts', () => {
  expect(textOf({ spam: 5, ham: 1 })).toBe('ham=1,spam=5');
  expect(textOf({ name: 'ring', settings: { mode: 'rows' } })).toBe('name=ring,settings=mode=rows');
});

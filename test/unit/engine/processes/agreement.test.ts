import { expect, test } from 'vitest';
import { disagreement } from '../../../../src/engine/processes/agreement.ts';

const nameOf = (rank: number) => `rank ${rank}`;

test('equal settings, in whatever order they come', () => {
  expect(disagreement([{}], nameOf)).toBeUndefined();
  const ranks = [
    { '--seed': '1', '--loss': 'hinge' },
    { '--loss': 'hinge', '--seed': '1' },
  ];
  expect(disagreement(ranks, nameOf)).toBeUndefined();
});

test('the first rank that differs, every name and both values', () => {
  const ranks = [
    { '--lambda': '0.1', '--seed': '1', command: 'train' },
    { '--lambda': '0.1', '--seed': '1', command: 'train' },
    { '--lambda': '0.2', '--intercept': 'on', command: 'train' },
    { command: 'cv' },
  ];
  expect(disagreement(ranks, nameOf)).toBe(
    'rank 0 and rank 2 differ in --lambda (0.1 and 0.2), --seed (1 and not given), ' +
      '--intercept (not given and on): all ranks need the same',
  );
  expect(disagreement([ranks[0], ranks[3]], nameOf)).toBe(
    'rank 0 and rank 1 differ in command (train and cv): all ranks need the same',
  );
});

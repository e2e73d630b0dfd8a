import { expect, test } from 'vitest';
import { busyNotice } from '../../../../src/apps/cli/commands/compare.ts';

test('a busy machine is reported before anything is timed', () => {
  expect(busyNotice(0.9, 2)).toBeUndefined();
  expect(busyNotice(1, 2)).toBeUndefined();
  expect(busyNotice(3.456, 2)).toBe(
    'the machine is busy (load 3.5 on 2 cores): times will mean little',
  );
  // Where the system does not know, it is 0.
  expect(busyNotice(0, 1)).toBeUndefined();
});

/** A fixed part of `npm run fuzz` in every run of the tests, and what the frame itself promises. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Random } from '../../src/math/random.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { attack, closingLine } from './attack.ts';
import { Counts, type Failure, type Target } from './target.ts';
import { targets } from './targets.ts';

const limits = { seed: 1, seconds: Infinity };

test.for(Object.entries(targets))('%s', async ([, load], { skip }) => {
  const target = await load();
  const missing = target.unavailable?.();
  if (missing !== undefined) skip(missing);
  const folder = join(temporaryFolder(), 'attack');
  const inputs = target.quick;
  const found = await attack(target, folder, { ...limits, inputs });
  expect(found.failures).toEqual([]);
  expect(found.inputs).toBe(inputs);
});

/** A target whose inputs are their own numbers, of which some fail. */
function numbersTarget(attempt: (number: number) => Failure | undefined): Target {
  const counts = new Counts();
  return {
    summary: 'numbers',
    quick: 1,
    open: async () => ({
      counts,
      attempt: async (random: Random) => attempt(random.below(1000)),
    }),
  };
}

test('an attack without an input says so, and none has empty brackets', async () => {
  const target = numbersTarget(() => undefined);
  const folder = join(temporaryFolder(), 'attack');
  const lineOf = async (changes: Partial<typeof limits>) =>
    closingLine(await attack(target, folder, { ...limits, inputs: 3, ...changes }), '2');
  expect(await lineOf({ seconds: 0 })).toMatch(/^no input was tried in 2 s; /);
  expect(await lineOf({})).toBe('3 inputs in 2 s, 0 failures');
  const counts = new Counts([['refused', 2000]]);
  expect(closingLine({ inputs: 2000, failures: [], counts }, '9')).toBe(
    '2,000 inputs in 9 s, 0 failures (2,000 refused)',
  );
});

test('an input is decided by the seed and its number', async () => {
  const drawn: number[] = [];
  const target = numbersTarget((number) => void drawn.push(number));
  const folder = join(temporaryFolder(), 'attack');
  await attack(target, folder, { ...limits, inputs: 5 });
  const [, , third] = drawn;
  await attack(target, folder, { ...limits, first: 2, inputs: 1 });
  expect(drawn.at(-1)).toBe(third);
  await attack(target, folder, { ...limits, seed: 2, inputs: 5 });
  expect(drawn.slice(6)).not.toEqual(drawn.slice(0, 5));
});

test('failures are numbered, and errors of the target itself count', async () => {
  const folder = join(temporaryFolder(), 'attack');
  const failure = { what: 'odd', command: 'dso' };
  const odd = await attack(
    numbersTarget(() => failure),
    folder,
    { ...limits, first: 7, inputs: 2 },
  );
  expect(odd.failures).toEqual([
    { ...failure, input: 7 },
    { ...failure, input: 8 },
  ]);
  expect(existsSync(folder)).toBe(true);
  const fault = numbersTarget(() => {
    throw new Error('a fault');
  });
  const [found] = (await attack(fault, folder, { ...limits, inputs: 1 })).failures;
  expect(found.what).toContain('a fault');
});

test('the folder is kept only for failures', async () => {
  const parent = temporaryFolder();
  await attack(
    numbersTarget(() => undefined),
    join(parent, 'attack'),
    { ...limits, inputs: 1 },
  );
  expect(readdirSync(parent)).toEqual([]);
});

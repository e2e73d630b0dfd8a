import { expect, test } from 'vitest';
import { shortNames } from '../../../../ui/src/shared/short-names.ts';

const countries = ['Albania', 'Austria', 'Bosnia'].map(
  (country) => `a_very_long_name_of_a_feature_country=(${country} and neighbours)`,
);

test('names that fit stay as they are', () => {
  expect(shortNames(['age', 'width'], 5)).toEqual(['age', 'width']);
});

test('a long name loses its middle', () => {
  expect(shortNames(['age', 'abcdefghij'], 5)).toEqual(['age', 'ab…ij']);
});

test('names that would look alike show what they differ in', () => {
  const names = shortNames(['age', ...countries], 18);
  expect(new Set(names).size).toBe(4);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(18);
  expect(names[3]).toContain('Bosnia');
});

test('groups within a group are distinguished as well', () => {
  const start = 'x'.repeat(30);
  const names = ['Ay1', 'Ay2', 'By1', 'By2'].map((part) => start + part + 'y'.repeat(30) + start);
  const short = shortNames(names, 7);
  expect(new Set(short).size).toBe(4);
  for (const name of short) expect(name.length).toBeLessThanOrEqual(7);
});

test('one name may begin another, and the same names stay the same', () => {
  const long = 'the_same_beginning_of_everything';
  const [short, longer] = shortNames([long, `${long}_and_more`], 10);
  expect(short).not.toBe(longer);
  const [first, second] = shortNames([long, long], 10);
  expect(first).toBe(second);
  expect(shortNames(['a'.repeat(40), 'a'.repeat(42)], 10)).toHaveLength(2);
});

import { expect, test } from 'vitest';
import { addScaled, dot } from '../../../src/math/vectors.ts';

test.each([0, 1, 3, 4, 7, 8, 13])('dot of %i numbers', (length) => {
  const a = Float64Array.from({ length }, (_, k) => k + 1);
  const b = Float64Array.from({ length }, (_, k) => 2 * k - 3);
  let wanted = 0;
  for (let k = 0; k < length; k++) wanted += (k + 1) * (2 * k - 3);
  expect(dot(a, b)).toBe(wanted);
});

test('addScaled adds in place', () => {
  const target = Float64Array.of(1, 2, 3);
  addScaled(target, -2, Float64Array.of(1, 0, 4));
  expect([...target]).toEqual([-1, 2, -5]);
});

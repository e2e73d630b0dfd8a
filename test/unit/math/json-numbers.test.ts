import { expect, test } from 'vitest';
import { numberFromJson, numberToJson } from '../../../src/math/json-numbers.ts';

test.each([0, -0, 1.5, -1e300, 5e-324, Infinity, -Infinity])('%d survives JSON', (value) => {
  const text = JSON.stringify(numberToJson(value));
  expect(Object.is(numberFromJson(JSON.parse(text)), value)).toBe(true);
});

test.each([null, undefined, 'NaN', '1', '', true, {}])('%o is no number', (value) => {
  expect(numberFromJson(value)).toBeUndefined();
});

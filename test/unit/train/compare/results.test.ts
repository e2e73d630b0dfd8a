import { expect, test } from 'vitest';
import {
  decodeResults,
  encodeCsv,
  encodeResults,
} from '../../../../src/train/compare/comparison.ts';
import { madeUpComparison, madeUpEvents, madeUpFailure, madeUpRun } from './support/made-up.ts';

const boundless = {
  ...madeUpEvents(1, 0.5)[0],
  dual: -Infinity,
  relativeGap: Infinity,
  latest: { primal: 1, dual: -Infinity },
};
const comparison = madeUpComparison([
  madeUpRun('dso', madeUpEvents(3, 0.5)),
  madeUpRun('sgd', [boundless]),
  madeUpFailure('lbfgs', 'refused', 'not "smooth", that is'),
]);

test('what is written is read back, infinite numbers as well', () => {
  expect(decodeResults(encodeResults(comparison), 'results.json')).toEqual(comparison);
});

test.each([
  ['{', 'not JSON'],
  ['[1]', 'not such results'],
  ['null', 'not such results'],
  ['{"runs":[],"format":2}', 'format 2, which this version cannot read'],
])('%s is refused', (text, reason) => {
  expect(() => decodeResults(text, 'r/results.json')).toThrow(`r/results.json: ${reason}`);
  expect(() => decodeResults(text, 'r/results.json')).toThrow('--fresh');
});

test('CSV: a line per event, cells without a number are empty, commas are quoted', () => {
  const run = madeUpRun('my, own "dso"', madeUpEvents(2, 0.5));
  const lines = encodeCsv(madeUpComparison([...comparison.runs, run]))
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(1 + 3 + 1 + 2);
  expect(lines[0]).toMatch(/^loss,lambda,solver,epoch,seconds,passes,primal,dual,relativeGap,test/);
  expect(lines[1]).toBe(
    'hinge,0.00001,dso,1,0.1,2,0.75,0.25,0.6666666666666666,0.15000000000000002,,,,finished',
  );
  expect(lines[4]).toContain(',0.75,,,');
  expect(lines[5]).toMatch(/^hinge,0.00001,"my, own ""dso""",1,/);
  // A spreadsheet would calculate it.
  const formula = encodeCsv(madeUpComparison([madeUpRun('=1+1', madeUpEvents(1, 0.5))]));
  expect(formula).toContain("\nhinge,0.00001,'=1+1,1,");
});

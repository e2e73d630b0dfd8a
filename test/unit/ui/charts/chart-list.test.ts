import { expect, test } from 'vitest';
import { quantities } from '../../../../src/reporting/charts/quantities.ts';
import { whyEmpty } from '../../../../ui/src/charts/chart-list.ts';
import type { ShownRun } from '../../../../ui/src/charts/chart-model.ts';

const [objective, gap] = quantities;

function run(relativeGap: readonly (number | null)[], running = false): ShownRun {
  const epoch = relativeGap.map((_, index) => index + 1);
  const none = epoch.map(() => null);
  const series = { epoch, seconds: epoch, passes: epoch, primal: none, dual: none, relativeGap };
  return { id: 'a', slot: 0, running, series };
}

test('a chart with a curve needs no words', () => {
  expect(whyEmpty(gap, [run([null]), run([0.5])], true)).toBeUndefined();
  expect(whyEmpty(gap, [run([0, 0])], false)).toBeUndefined();
});

test('a chart without one says why', () => {
  expect(whyEmpty(gap, [run([])], true)).toBe('no values');
  expect(whyEmpty(objective, [run([0.5])], false)).toBe('no values');
  expect(whyEmpty(gap, [run([]), run([null], true)], true)).toBe('no values yet');
  expect(whyEmpty(gap, [run([0, null])], true)).toMatch(/nothing above 0/);
});

test('of a run whose course is on its way nothing is said', () => {
  expect(whyEmpty(gap, [{ id: 'a', slot: 0, series: undefined }], true)).toBeUndefined();
});

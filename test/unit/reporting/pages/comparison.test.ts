import { expect, test } from 'vitest';
import { chartsOf } from '../../../../src/reporting/charts/comparison.ts';
import { pageOf } from '../../../../src/reporting/pages/comparison.ts';
import {
  madeUpComparison,
  madeUpEvents,
  madeUpFailure,
  madeUpRun,
} from '../../train/compare/support/made-up.ts';
import { externalReferences, markupFault } from '../../train/compare/support/well-formed.ts';

const comparison = madeUpComparison([
  madeUpRun('dso', madeUpEvents(30, 0.5)),
  madeUpRun('sgd', madeUpEvents(10, 0.8)),
  madeUpFailure('lbfgs', 'refused', 'loss <hinge> is not smooth'),
  madeUpRun('dso', madeUpEvents(8, 0.5), { loss: 'huber (delta 2)', task: 'regression' }),
]);

test('a chart per problem, measure and axis, under names that are good for files', () => {
  const names = chartsOf(comparison).map(({ name }) => name);
  expect(names).toHaveLength(2 * 4 * 3);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain('hinge-1e-5-gap-seconds');
  expect(names).toContain('huber-delta-2-1e-5-error-passes');
});

test('the distance is measured from the best bound of all solvers', () => {
  const { chart } = chartsOf(comparison).find(({ name }) => name === 'hinge-1e-5-distance-epochs')!;
  const [dso, sgd] = chart.series;
  const bound = 0.5 - 0.5 ** 30 / 2;
  expect(sgd.points[9][1]).toBeCloseTo(0.5 + 0.8 ** 10 / 2 - bound, 12);
  expect(dso.points[29][1]).toBeCloseTo(0.5 ** 30, 15);
  expect(chart.y.log).toBe(true);
});

test('the first epochs do not decide what an objective chart shows', () => {
  const events = madeUpEvents(20, 0.5);
  const wild = events.with(0, { ...events[0], primal: 1e9 });
  const charts = chartsOf(madeUpComparison([madeUpRun('bmrm', wild)]));
  const { chart } = charts.find(({ name }) => name === 'hinge-1e-5-objective-epochs')!;
  expect(chart.y.focus?.[1]).toBeLessThan(1);
  expect(chart.series[0].points[0][1]).toBe(1e9);
});

test('AUPRC is shown where it was measured', () => {
  const events = madeUpEvents(3, 0.5).map((event) => ({ ...event, testAuprc: 0.9 }));
  const charts = chartsOf(madeUpComparison([madeUpRun('dso', events)]));
  const { chart } = charts.find(({ name }) => name === 'hinge-1e-5-auprc-epochs')!;
  expect(chart.series[0].points).toEqual([
    [1, 0.9],
    [2, 0.9],
    [3, 0.9],
  ]);
});

test('the page needs no other file and has the results, the conditions and the command', () => {
  const own = { name: 'own', chart: chartsOf(comparison)[0].chart };
  const page = pageOf(comparison, { introduction: ['First <this>.'], charts: [own] });
  expect(markupFault(page)).toBeUndefined();
  expect(externalReferences(page)).toEqual([]);
  for (const text of [
    'Made up &lt;data&gt; &amp; &quot;more&quot;',
    'First &lt;this&gt;.',
    'refused: loss &lt;hinge&gt; is not smooth',
    'dso compare a.svm --solvers dso,sgd',
    'Abacus, 2 cores, 8.0 GiB',
    'How to read this',
  ]) {
    expect(page).toContain(text);
  }
  expect(page.match(/<figure class="chart-choice/g)).toHaveLength(24);
  expect(page.match(/<figure class="own-chart/g)).toHaveLength(1);
});

test('without a single result there is a page as well', () => {
  const page = pageOf(madeUpComparison([]), {});
  expect(markupFault(page)).toBeUndefined();
});

test('the checks of this file find faults', () => {
  expect(markupFault('<p><b></p></b>')).toBeDefined();
  expect(markupFault('<p>a & b</p>')).toBeDefined();
  expect(markupFault('<p>a < b</p>')).toBeDefined();
  expect(externalReferences('<img src="https://x.org/a.png">')).not.toEqual([]);
  expect(externalReferences('<style>@import "a.css"</style>')).not.toEqual([]);
});

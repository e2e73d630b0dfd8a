import { describe, expect, test } from 'vitest';
import { quantities, reportSeries } from '../../../../src/reporting/charts/quantities.ts';
import type { RunSeries } from '../../../../src/reporting/records/record.ts';
import { chartsOf, hasValues } from '../../../../ui/src/charts/chart-list.ts';
import {
  alignRuns,
  chartModel,
  type ShownRun,
  wholeRange,
} from '../../../../ui/src/charts/chart-model.ts';
import {
  defaultView,
  figureAddress,
  pointsFor,
  type View,
} from '../../../../ui/src/charts/view.ts';

const [objective, gap, testError] = quantities;

function series(scale: number): RunSeries {
  const epoch = [1, 2, 3, 4];
  return {
    epoch,
    seconds: epoch.map((number) => number * scale),
    passes: epoch,
    primal: [4, 3, 2, 1.5],
    dual: [null, -1, 0.5, 1],
    relativeGap: [null, 1.3, 0.75, 0],
  };
}

const run = (id: string, slot: number, scale = 1): ShownRun => ({
  id,
  slot,
  series: series(scale),
});

function model(view: Partial<View>, runs: readonly ShownRun[], quantity = objective, focus = 'b') {
  const whole = { ...defaultView, ...view };
  return chartModel(whole, quantity, runs, focus, alignRuns(whole, runs, 500, false));
}

describe('a chart', () => {
  test('has objective and bound of every run, the one in focus on top', () => {
    const { lines, xs, columns } = model({ x: 'epoch' }, [run('b', 0), run('a', 1)]);
    expect(lines.map(({ id }) => id)).toEqual(['a', 'a', 'b', 'b']);
    expect(xs).toEqual([1, 2, 3, 4]);
    expect(columns[2]).toEqual([4, 3, 2, 1.5]);
    expect(columns[3]).toEqual([null, -1, 0.5, 1]);
  });

  test('draws a run in the style of its slot, whatever else is shown', () => {
    const alone = model({}, [run('b', 3)]).lines[0];
    const among = model({}, [run('a', 0), run('b', 3)]).lines.findLast(({ id }) => id === 'b');
    expect(alone.color).toBe(among?.color);
    const slots = Array.from({ length: 28 }, (_, slot) => {
      const { color, dash } = model({}, [run('b', slot)]).lines[0];
      return `${color} ${dash.join()}`;
    });
    expect(new Set(slots).size).toBe(28);
  });

  test('leaves out the bounds of all but one where there are many runs', () => {
    const many = Array.from({ length: 40 }, (_, slot) => run(slot === 7 ? 'b' : `${slot}`, slot));
    expect(model({}, many).lines).toHaveLength(41);
  });

  test('has symbols where there are several runs, and few', () => {
    const symbols = (count: number) => {
      const runs = Array.from({ length: count }, (_, slot) => run(`${slot}`, slot));
      return new Set(model({}, runs, gap).lines.map(({ symbol }) => symbol));
    };
    expect(symbols(1)).toEqual(new Set([undefined]));
    expect(symbols(6)).toEqual(
      new Set(['circle', 'square', 'triangle', 'diamond', 'cross', 'star']),
    );
    expect(symbols(13)).toEqual(new Set([undefined]));
  });

  test('draws pale colours wider', () => {
    const { lines } = model({}, [run('a', 0), run('c', 3), run('b', 1)], gap);
    expect(lines.map(({ width }) => width)).toEqual([1.5, 2, 2.5]);
  });

  test('has the tolerances of the gap in view, unless they are far away or a part is shown', () => {
    const withTolerance = (tolerance: number) => [{ ...run('b', 0), tolerance }];
    const near = model({ x: 'epoch' }, withTolerance(0.1), gap);
    expect(near.rules).toEqual([0.1]);
    expect(near.y[0]).toBeLessThan(0.1);
    const far = model({ x: 'epoch' }, withTolerance(1e-9), gap);
    expect(far.y).toEqual(model({ x: 'epoch' }, [run('b', 0)], gap).y);
    const part = { x: 'epoch', zoom: [2, 2.5] } as const;
    expect(model(part, withTolerance(0.1), gap).y).toEqual(model(part, [run('b', 0)], gap).y);
    expect(model({}, withTolerance(0.1), objective).rules).toEqual([]);
    const many = [1, 2, 3, 4].map((digit) => ({
      ...withTolerance(digit / 100)[0],
      id: `${digit}`,
    }));
    expect(model({}, many, gap).rules).toEqual([]);
  });

  test('marks where an error was least, if it has risen since', () => {
    const errors = (id: string, values: number[]) => ({
      ...run(id, 0),
      series: { ...series(1), testError: values },
    });
    const { dots } = model(
      { x: 'epoch' },
      [
        errors('b', [0.2, 0.09, 0.1, 0.12]),
        errors('a', [0.3, 0.1, 0.2, 0.3]),
        errors('c', [0.2, 0.1, 0.1, 0.101]),
      ],
      testError,
    );
    expect(dots).toMatchObject([
      { x: 2, value: 0.09, word: 'least' },
      { x: 2, value: 0.1 },
    ]);
    expect(dots[1].word).toBeUndefined();
  });

  test('has no value where a logarithmic axis cannot show it', () => {
    const { columns, y } = model({ x: 'epoch' }, [run('b', 0)], gap);
    expect(columns).toEqual([[null, 1.3, 0.75, null]]);
    expect(y[0]).toBeGreaterThan(0);
  });

  test('shows the zoomed part, with points on both sides of it', () => {
    const { x, xs } = model({ x: 'epoch', zoom: [2.2, 2.8] }, [run('b', 0)]);
    expect(x).toEqual([2.2, 2.8]);
    expect(xs).toEqual([2, 3]);
  });

  test('survives a zoom to where a logarithmic axis has nothing', () => {
    const { xs } = model({ xlog: true, zoom: [-1, 3] }, [run('b', 0)]);
    expect(xs.every((value) => value > 0)).toBe(true);
  });

  test('has fewer positions while many runs move', () => {
    const seconds = Array.from({ length: 2000 }, (_, index) => index + 1);
    const many = Array.from({ length: 40 }, (_, slot) => ({
      ...run(`${slot}`, slot),
      series: { ...series(1), seconds: seconds.map((second) => second + slot / 40) },
    }));
    const positions = (runs: readonly ShownRun[], moving: boolean) =>
      alignRuns(defaultView, runs, 400, moving).xs.length;
    expect(positions(many, false)).toBe(400);
    expect(positions(many, true)).toBe(100);
    expect(positions(many.slice(0, 3), true)).toBe(800);
  });

  test('exists while nothing has been loaded', () => {
    const { columns, x } = model({}, [{ id: 'b', slot: 0, series: undefined }]);
    expect(columns).toEqual([[], []]);
    expect(x).toEqual([0, 1]);
    expect(hasValues(testError, [run('a', 0)])).toBe(false);
    expect(hasValues(objective, [run('a', 0)])).toBe(true);
  });
});

test('a stream has a chart over time, and none over epochs', () => {
  const report = { event: 'report', rows: 10, loss: 1, error: 0.5, recentError: 0.4 } as const;
  const stream = reportSeries([
    { ...report, seconds: 1, recentLoss: 0.9 },
    { ...report, seconds: 2, recentLoss: null },
  ]);
  const loss = quantities.find(({ key }) => key === 'progressiveLoss')!;
  const runs = [{ id: 'b', slot: 0, series: stream }];
  expect(hasValues(loss, runs)).toBe(true);
  expect(hasValues(objective, runs)).toBe(false);
  expect(model({}, runs, loss).columns).toEqual([[0.9, null]]);
  expect(model({ x: 'epoch' }, runs, loss).columns).toEqual([[]]);
});

describe('the charts', () => {
  const tested = (id: string, task: 'classification' | 'regression', vectors = 1): ShownRun => ({
    ...run(id, 0),
    series: { ...series(1), testError: [0.1, 0.1, 0.1, 0.1] },
    task,
    vectors,
  });
  const errorsOf = (runs: readonly ShownRun[]) =>
    chartsOf(runs, false).filter(({ quantity }) => quantity.key === 'testError');

  test('of runs without test data are two, and of a stream that has not begun none', () => {
    expect(chartsOf([run('a', 0)], false).map(({ key }) => key)).toEqual(['objective', 'gap']);
    expect(chartsOf([{ id: 'a', slot: 0, series: undefined }], true)).toEqual([]);
  });

  test('have the unit of the runs that have values', () => {
    const untested: ShownRun = { ...run('r', 1), task: 'regression' };
    const [chart, ...more] = errorsOf([tested('a', 'classification'), untested]);
    expect(more).toEqual([]);
    expect(chart).toMatchObject({ key: 'testError', title: 'Test error', unit: 'rate' });
    expect(chart.runs).toHaveLength(2);
  });

  test('do not mix rates and mean squares', () => {
    const charts = errorsOf([tested('a', 'classification'), tested('r', 'regression')]);
    expect(charts.map(({ unit, runs }) => [unit, runs.map(({ id }) => id)])).toEqual([
      ['rate', ['a']],
      ['number', ['r']],
    ]);
    expect(new Set(charts.map(({ key }) => key)).size).toBe(2);
    expect(charts[1].title).toBe('Test error (mean squared)');
  });

  test('say when a curve is of one class', () => {
    const several = tested('a', 'classification', 3);
    expect(errorsOf([several])[0].isOfClass).toBe(true);
    expect(errorsOf([tested('a', 'classification')])[0].isOfClass).toBe(false);
    const untested = { ...run('b', 0), vectors: 3 };
    expect(errorsOf([tested('a', 'classification'), untested])[0].isOfClass).toBe(false);
  });
});

test('the whole x axis begins at 0 or where the curves do, and has a width with one point', () => {
  const late = { id: 'a', slot: 0, series: { ...series(1), epoch: [10, 11, 12, 15] } };
  const early = { id: 'a', slot: 0, series: { ...series(1), epoch: [1, 2, 3, 5] } };
  expect(wholeRange({ ...defaultView, x: 'epoch' }, [early])).toEqual([0, 5]);
  expect(wholeRange({ ...defaultView, x: 'epoch' }, [late])).toEqual([10, 15]);
  expect(wholeRange({ ...defaultView, x: 'epoch', xlog: true }, [run('a', 0)])).toEqual([1, 4]);
  const one = { id: 'a', slot: 0, series: { ...series(1), seconds: [3] } };
  expect(wholeRange({ ...defaultView, xlog: true }, [one])).toEqual([1.5, 6]);
  expect(wholeRange(defaultView, [one])).toEqual([0, 6]);
});

test('a figure has what the chart shows', () => {
  const view: View = { ...defaultView, runs: ['a', '', 'gone', 'b'], x: 'epoch', zoom: [1, 2.5] };
  expect(figureAddress(view, 'gap', 'svg', (id) => id !== 'gone')).toBe(
    'api/figure?runs=a%2C%2C%2Cb&y=gap&x=epoch&format=svg&scale=log&from=1&to=2.5',
  );
  expect(figureAddress({ ...view, ylog: [] }, 'gap', 'png', () => true)).toContain('scale=linear');
});

test('many runs share the points that one may have', () => {
  expect([1, 30, 100, 10_000].map(pointsFor)).toEqual([4000, 4000, 1200, 200]);
});

import { describe, expect, test } from 'vitest';
import type { RunSeries } from '../../../src/runs/record.ts';
import {
  alignRuns,
  chartModel,
  hasValues,
  type ShownRun,
  wholeRange,
} from '../../../ui/src/chart-model.ts';
import { figureAddress, pointsFor } from '../../../ui/src/figure.ts';
import { quantities, reportSeries } from '../../../ui/src/quantity.ts';
import { usualView, type View } from '../../../ui/src/view.ts';

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

const run = (id: string, place: number, scale = 1): ShownRun => ({
  id,
  place,
  series: series(scale),
});

function model(view: Partial<View>, runs: readonly ShownRun[], quantity = objective, focus = 'b') {
  const whole = { ...usualView, ...view };
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

  test('draws a run in the style of its place, whatever else is shown', () => {
    const alone = model({}, [run('b', 3)]).lines[0];
    const among = model({}, [run('a', 0), run('b', 3)]).lines.findLast(({ id }) => id === 'b');
    expect(alone.color).toBe(among?.color);
    const places = Array.from({ length: 28 }, (_, place) => {
      const { color, dash } = model({}, [run('b', place)]).lines[0];
      return `${color} ${dash.join()}`;
    });
    expect(new Set(places).size).toBe(28);
  });

  test('leaves out the bounds of all but one where there are many runs', () => {
    const many = Array.from({ length: 40 }, (_, place) =>
      run(place === 7 ? 'b' : `${place}`, place),
    );
    expect(model({}, many).lines).toHaveLength(41);
  });

  test('has no value where a logarithmic axis has no place for it', () => {
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
    const many = Array.from({ length: 40 }, (_, place) => ({
      ...run(`${place}`, place),
      series: { ...series(1), seconds: seconds.map((second) => second + place / 40) },
    }));
    const positions = (runs: readonly ShownRun[], moving: boolean) =>
      alignRuns(usualView, runs, 400, moving).xs.length;
    expect(positions(many, false)).toBe(400);
    expect(positions(many, true)).toBe(100);
    expect(positions(many.slice(0, 3), true)).toBe(800);
  });

  test('stands while nothing has been loaded', () => {
    const { columns, x } = model({}, [{ id: 'b', place: 0, series: undefined }]);
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
  const runs = [{ id: 'b', place: 0, series: stream }];
  expect(hasValues(loss, runs)).toBe(true);
  expect(hasValues(objective, runs)).toBe(false);
  expect(model({}, runs, loss).columns).toEqual([[0.9, null]]);
  expect(model({ x: 'epoch' }, runs, loss).columns).toEqual([[]]);
});

test('the whole x axis begins at 0 or where the curves do, and has a width with one point', () => {
  const late = { id: 'a', place: 0, series: { ...series(1), epoch: [10, 11, 12, 15] } };
  const early = { id: 'a', place: 0, series: { ...series(1), epoch: [1, 2, 3, 5] } };
  expect(wholeRange({ ...usualView, x: 'epoch' }, [early])).toEqual([0, 5]);
  expect(wholeRange({ ...usualView, x: 'epoch' }, [late])).toEqual([10, 15]);
  expect(wholeRange({ ...usualView, x: 'epoch', xlog: true }, [run('a', 0)])).toEqual([1, 4]);
  const one = { id: 'a', place: 0, series: { ...series(1), seconds: [3] } };
  expect(wholeRange({ ...usualView, xlog: true }, [one])).toEqual([1.5, 6]);
  expect(wholeRange(usualView, [one])).toEqual([3, 4]);
});

test('a figure has what the chart shows', () => {
  const view: View = { ...usualView, runs: ['a', '', 'gone', 'b'], x: 'epoch', zoom: [1, 2.5] };
  expect(figureAddress(view, 'gap', 'svg', (id) => id !== 'gone')).toBe(
    'api/figure?runs=a%2C%2C%2Cb&y=gap&x=epoch&format=svg&scale=log&from=1&to=2.5',
  );
  expect(figureAddress({ ...view, ylog: [] }, 'gap', 'png', () => true)).toContain('scale=linear');
});

test('many runs share the points that one may have', () => {
  expect([1, 30, 100, 10_000].map(pointsFor)).toEqual([4000, 4000, 1200, 200]);
});

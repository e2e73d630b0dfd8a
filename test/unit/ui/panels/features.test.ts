import { expect, test } from 'vitest';
import type { RunSeries, SampleLine } from '../../../../src/reporting/records/record.ts';
import { changeOf, layOutFeatures, rankFeatures } from '../../../../ui/src/panels/features.ts';

type Weights = Readonly<Record<string, number>>;

function sampleOf(epoch: number, weights: Weights, vector?: number): SampleLine {
  const features = Object.entries(weights).map(([name, weight]) => ({ name, weight }));
  const seconds = epoch / 2;
  const base = { event: 'sample', epoch, seconds, memory: 1, threads: [], features } as const;
  return vector === undefined ? base : { ...base, vector };
}

const samples = [
  sampleOf(10, { a: 3, b: -2, c: 1 }),
  sampleOf(20, { a: 3, c: 2, d: -1 }),
  sampleOf(30, { c: -4, a: 3, b: -2, e: 1 }),
];

test('ranks, signs, changes and curves with gaps', () => {
  const ranks = rankFeatures(samples, 'epoch');
  expect(ranks.features.map(({ name, weight }) => [name, weight])).toEqual([
    ['c', -4],
    ['a', 3],
    ['b', -2],
    ['e', 1],
  ]);
  expect([ranks.largest, ranks.since, ranks.epoch]).toEqual([4, 20, 30]);
  expect(ranks.features.map((feature) => changeOf(feature, ranks.since))).toEqual([
    '▲ 1',
    '▼ 1',
    'new',
    'new',
  ]);
  expect(ranks.features[2].points).toEqual([
    { x: 10, y: -2 },
    { x: 20, y: null },
    { x: 30, y: -2 },
  ]);
});

test('the axis may be seconds or passes', () => {
  const series: RunSeries = {
    epoch: [1, 15, 25],
    seconds: [1, 2, 3],
    passes: [2, 30, 50],
    primal: [],
    dual: [],
    relativeGap: [],
  };
  const positions = (...rest: [Parameters<typeof rankFeatures>[1], RunSeries?]) =>
    rankFeatures(samples, ...rest).features[0].points.map(({ x }) => x);
  expect(positions('seconds')).toEqual([5, 10, 15]);
  expect(positions('passes')).toEqual([10, 20, 30]);
  expect(positions('passes', series)).toEqual([20, 40, 50]);
});

test('only the vector that is being solved counts, and nothing is compared with itself', () => {
  const ranks = rankFeatures([sampleOf(10, { a: 1 }, 0), sampleOf(5, { b: 1 }, 1)], 'epoch');
  expect(ranks.features.map(({ name, points }) => [name, points.length])).toEqual([['b', 1]]);
  expect(ranks.since).toBeUndefined();
  const both = [sampleOf(10, { a: 1 }, 0), sampleOf(5, { b: 1 }, 1)];
  const first = rankFeatures(both, 'epoch', undefined, 0);
  expect(first.features.map(({ name }) => name)).toEqual(['a']);
  const absent = rankFeatures(both, 'epoch', undefined, 7);
  expect(absent.features.map(({ name }) => name)).toEqual(['b']);
  expect(changeOf(ranks.features[0], ranks.since)).toBe('');
  expect(rankFeatures([], 'epoch')).toMatchObject({ features: [], largest: 0 });
});

test('at most twenty', () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, k) => [`f${k}`, 30 - k]));
  expect(rankFeatures([sampleOf(1, many)], 'epoch').features).toHaveLength(20);
});

test('columns follow one another, on a desk and on a phone', () => {
  const names = ['x', 'a_name_that_is_longer_than_most_of_the_names_there_are'];
  for (const room of [304, 520, 1200]) {
    const layout = layOutFeatures(room, names, [1, -1]);
    expect(layout.width).toBeLessThanOrEqual(room);
    const positions = [
      layout.change,
      layout.barLeft,
      layout.zero,
      layout.barRight,
      layout.weight,
      layout.sparkLeft,
      layout.sparkLeft + layout.sparkWidth,
      layout.width,
    ];
    expect(positions).toEqual(positions.toSorted((left, right) => left - right));
    expect(layout.letters).toBeGreaterThan(8);
    if (room === 520) expect(layout.barLeft).toBeGreaterThan(layout.width - layout.barLeft - 150);
  }
});

test('bars of one sign have all of the room', () => {
  const positive = layOutFeatures(500, ['a'], [1, 2]);
  expect(positive.zero).toBe(positive.barLeft);
  const negative = layOutFeatures(500, ['a'], [-1, -2]);
  expect(negative.zero).toBe(negative.barRight);
});

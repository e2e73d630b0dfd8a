import { describe, expect, test } from 'vitest';
import type { Metrics } from '../../../../src/model/metrics/evaluate.ts';
import type { RunSeries } from '../../../../src/reporting/records/record.ts';
import { gapOf } from '../../../../ui/src/runs/summary.ts';
import { type TileContent, tilesOf } from '../../../../ui/src/runs/tiles.ts';
import { headline } from '../../../../ui/src/shared/words.ts';
import { begin, latest, report, result, start, summary } from '../summaries.ts';

const tileOf = (tiles: readonly TileContent[], name: string) =>
  tiles.find((tile) => tile.name === name);
const value = (tiles: readonly TileContent[], name: string) => tileOf(tiles, name)?.value;

const series = (more: Partial<RunSeries> = {}): RunSeries => ({
  epoch: [1, 2, 3],
  seconds: [1, 2, 3],
  passes: [1, 2, 3],
  primal: [3, 2, 1],
  dual: [0, 0, 0],
  relativeGap: [1, 1, 1],
  ...more,
});
const courseOf = (more: Partial<RunSeries>) => ({
  vector: 0,
  series: series(more),
  newest: undefined,
});

/** Of a model with several classes. */
const measured = { task: 'multi-class', rows: 100, error: 0.2189 } as Metrics;

describe('tiles', () => {
  test('are of the newest epoch, then of the result', () => {
    const running = tilesOf(summary({ latest: { ...latest, testError: 0.0431 } }));
    expect(value(running, 'relative gap')).toBe('2.0e-2');
    expect(value(running, 'test error')).toBe('4.31 %');
    expect(value(running, 'AUPRC')).toBeUndefined();
    const regression = { ...start, task: 'regression' } as const;
    const squared = summary({ start: regression, latest: { ...latest, testError: 0.0431 } });
    expect(value(tilesOf(squared), 'test mse')).toBe('0.0431');
    const done = tilesOf(summary({ status: 'done', latest, result: result() }));
    expect(value(done, 'relative gap')).toBe('9.2e-4');
  });

  test('round a gap up as the headline does, and know that numbers have an end', () => {
    const gap = (relativeGap: number) =>
      value(tilesOf(summary({ latest: { ...latest, relativeGap } })), 'relative gap');
    expect([0.03801, 0, -1e-17, 1e-15].map(gap)).toEqual([
      '3.9e-2',
      '< 1e-15',
      '< 1e-15',
      '1.0e-15',
    ]);
    const run = summary({ latest: { ...latest, relativeGap: 0.03801 } });
    expect(headline(run, { fraction: 0 })).toBe('running: gap 3.9 %');
  });

  test('do not take a class for all of them', () => {
    // JSON has no infinity.
    const unproved = JSON.parse(JSON.stringify(result({ relativeGap: Infinity, dual: -Infinity })));
    const run = summary({ status: 'done', latest, result: { ...unproved, primal: 1 } });
    expect(gapOf(run)).toBeUndefined();
    const tiles = tilesOf(run);
    expect([value(tiles, 'bound'), value(tiles, 'relative gap')]).toEqual(['–', '–']);
    expect(headline(run, { fraction: 0 })).toMatch(/^ended without a certificate/);
  });

  test('show no bound below 0, unless the loss is a custom one', () => {
    const run = summary({ latest: { ...latest, dual: -0.25 } });
    const bound = (loss: string) =>
      value(tilesOf({ ...run, start: { ...start, options: { loss } } }), 'bound');
    expect(bound(start.loss)).toMatch(/^0(\.0+)?$/);
    expect(Number(bound('./own.mjs'))).toBe(-0.25);
  });

  test('stay with the class that was chosen, whichever wrote last', () => {
    const run = summary({
      begin: begin({ vectors: 20 }),
      latest: { ...latest, vector: 16, testError: 0.0452 },
    });
    const newest = { ...latest, vector: 3, epoch: 5, relativeGap: 0.5, testError: 0.07 };
    const tiles = tilesOf(run, { vector: 3, series: series(), newest });
    expect(tileOf(tiles, 'class')).toMatchObject({ value: '4 of 20', note: 'against the rest' });
    expect([value(tiles, 'epoch'), value(tiles, 'relative gap')]).toEqual(['5', '5.0e-1']);
    expect(tileOf(tiles, 'test error')).toMatchObject({ value: '7.00 %', note: 'of this class' });
    expect(value(tilesOf(run), 'test error')).toBeUndefined();
  });

  test('show the error of the model once all its classes are trained', () => {
    const run = summary({
      status: 'done',
      begin: begin({ vectors: 20 }),
      latest: { ...latest, vector: 16, testError: 0.0452, testAuprc: 0.5 },
      result: { ...result({ primal: 3, test: measured }) },
    });
    const tiles = tilesOf(run, courseOf({ testError: [0.01, 0.02, 0.03] }));
    expect(tileOf(tiles, 'test error')).toMatchObject({ value: '21.89 %', note: 'on test rows' });
    expect(tileOf(tiles, 'objective')).toMatchObject({ note: 'all 20 classes' });
    expect([value(tiles, 'class'), value(tiles, 'AUPRC')]).toEqual([undefined, undefined]);
    const labels = { task: 'multi-label', hammingLoss: 0.125 } as Metrics;
    const many = tilesOf({ ...run, result: { ...result({ primal: 3, test: labels }) } });
    expect(value(many, 'Hamming loss')).toBe('12.50 %');
    expect(value(many, 'test error')).toBeUndefined();
  });

  test('show where the test error was least, if it has risen since', () => {
    const run = summary({ latest: { ...latest, testError: 0.1166, testAuprc: 0.9 } });
    const course = courseOf({ testError: [0.09, null, 0.1166], testAuprc: [0.8, 0.95, 0.9] });
    const tiles = tilesOf(run, course);
    expect(tileOf(tiles, 'test error')?.note).toBe('least 9.00 % at epoch 1');
    expect(tileOf(tiles, 'AUPRC')?.note).toBe('best 0.9500 at epoch 2');
    const falling = tilesOf(run, courseOf({ testError: [0.2, 0.15, 0.1166] }));
    expect(tileOf(falling, 'test error')).not.toHaveProperty('note');
    // Nobody sees the difference.
    const alike = tilesOf(run, courseOf({ testError: [0.116599, 0.15, 0.1166] }));
    expect(tileOf(alike, 'test error')).not.toHaveProperty('note');
  });

  test('show only limits that are set', () => {
    const notes = (epochs: number) =>
      tileOf(tilesOf(summary({ latest, start: { ...start, epochs } })), 'epoch')?.note;
    expect([notes(10_000), notes(2000)]).toEqual([undefined, 'limit 2,000']);
  });

  test('have digits that do not come and go while the run is running', () => {
    const run = summary({ latest: { ...latest, primal: 0.25, passes: 12 } });
    expect(value(tilesOf(run), 'objective')).toBe('0.250000');
    expect(value(tilesOf(run), 'passes')).toBe('12.0');
    expect(value(tilesOf({ ...run, status: 'lost' }), 'objective')).toBe('0.25');
  });

  test('have a dash for what is not known', () => {
    const tiles = tilesOf(summary({ latest: { ...latest, dual: null, relativeGap: null } }));
    expect([value(tiles, 'bound'), value(tiles, 'relative gap')]).toEqual(['–', '–']);
    expect(value(tilesOf(summary()), 'objective')).toBe('–');
  });

  test('of a stream are those of its reports, from the beginning', () => {
    const names = (tiles: readonly TileContent[]) => tiles.map(({ name }) => name);
    const before = tilesOf(summary({ start: { ...start, options: { progressive: true } } }));
    const after = tilesOf(summary({ report }));
    expect(names(before)).toEqual(names(after));
    expect([value(before, 'rows'), value(after, 'rows')]).toEqual(['–', '1,000']);
    expect(value(after, 'error')).toBe('12.50 %');
  });
});

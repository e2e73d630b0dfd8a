import { describe, expect, test } from 'vitest';
import { labelsOf } from '../../../ui/src/labels.ts';
import {
  dataName,
  firstChoice,
  gapOf,
  matches,
  standingOf,
  withLines,
  withRun,
} from '../../../ui/src/summary.ts';
import { tilesOf } from '../../../ui/src/tiles.ts';
import { headline } from '../../../ui/src/words.ts';
import { latest, result, start, summary } from './summaries.ts';

describe('a run in a list', () => {
  test('stands as it ended', () => {
    expect(standingOf(summary())).toBe('running');
    expect(standingOf(summary({ status: 'lost' }))).toBe('lost');
    const done = (stopped: 'converged' | 'time-limit' | 'stream') =>
      standingOf(summary({ status: 'done', result: result({ stopped }) }));
    expect([done('converged'), done('time-limit'), done('stream')]).toEqual([
      'converged',
      'stopped',
      'done',
    ]);
  });

  test('is found by words of all it shows', () => {
    const run = summary({ latest });
    expect(matches(run, '')).toBe(true);
    expect(matches(run, 'HINGE train')).toBe(true);
    expect(matches(run, 'running l2')).toBe(true);
    expect(matches(run, 'hinge logistic')).toBe(false);
  });

  test('is named by the last part of its data', () => {
    const named = (data: string) => dataName(summary({ start: { ...start, data } }));
    expect(['a/b/c.svm', 'c:\\d\\e.csv', 'folder/', 'query'].map(named)).toEqual([
      'c.svm',
      'e.csv',
      'folder',
      'query',
    ]);
  });

  test('goes on with its lines, and never back', () => {
    const later = withLines(summary({ latest }), [{ ...latest, epoch: 18, relativeGap: 0.01 }]);
    expect(later.latest?.epoch).toBe(18);
    expect(withLines(later, [latest])).toBe(later);
    const other = withLines(later, [{ ...latest, vector: 1, epoch: 1 }]);
    expect(other.latest?.vector).toBe(1);
    expect(withLines(other, [{ ...latest, vector: 0, epoch: 19 }]).latest?.epoch).toBe(19);
    const ended = withLines(later, [result()]);
    expect([ended.status, gapOf(ended)]).toEqual(['done', 0.00092]);
    const failed = withLines(later, [{ event: 'failure', ended: '', message: 'no' }]);
    expect(failed.status).toBe('failed');
  });
});

describe('the list', () => {
  const runs = ['20261103-000000-0000', '20261102-000000-0000', '20261101-000000-0000'].map((id) =>
    summary({ id, status: 'done' }),
  );
  const [, middle] = runs;

  test('begins with the own run, a running one, or the newest', () => {
    expect(firstChoice([], undefined)).toBeUndefined();
    expect(firstChoice(runs, undefined)).toBe(runs[0].id);
    expect(firstChoice(runs.with(1, { ...middle, status: 'running' }), undefined)).toBe(middle.id);
    expect(firstChoice(runs, runs[2].id)).toBe(runs[2].id);
  });

  test('stays sorted, newest first', () => {
    const changed = { ...middle, status: 'failed' } as const;
    expect(withRun(runs, changed)[1]).toBe(changed);
    const between = summary({ id: '20261102-120000-0000' });
    expect(withRun(runs, between)[1]).toBe(between);
    const oldest = summary({ id: '20261001-000000-0000' });
    expect(withRun(runs, oldest)[3]).toBe(oldest);
  });
});

test('labels tell what runs differ in, and else the end of the ID', () => {
  const run = (id: string, loss: string, solver: string) =>
    summary({ id, start: { ...start, loss, options: { solver } } });
  const labels = labelsOf([
    run('x-aaaa', 'hinge', 'dso'),
    run('x-bbbb', 'logistic', 'dso'),
    run('x-cccc', 'hinge', 'lbfgs'),
    run('x-dddd', 'hinge', 'lbfgs'),
  ]);
  expect([...labels.values()]).toEqual([
    'dso · hinge',
    'dso · logistic',
    'lbfgs · hinge · cccc',
    'lbfgs · hinge · dddd',
  ]);
  expect(labelsOf([run('x-aaaa', 'hinge', 'dso')]).get('x-aaaa')).toBe('dso');
});

describe('tiles', () => {
  const value = (tiles: ReturnType<typeof tilesOf>, name: string) =>
    tiles.find((tile) => tile.name === name)?.value;

  test('are of the newest epoch, then of the result', () => {
    const tested = { ...latest, testError: 0.0431 };
    const running = tilesOf(summary({ latest: tested }));
    expect(value(running, 'relative gap')).toBe('2.0e-2');
    expect(value(running, 'test error')).toBe('4.31 %');
    expect(value(running, 'AUPRC')).toBeUndefined();
    const done = tilesOf(summary({ status: 'done', latest, result: result() }));
    expect(value(done, 'relative gap')).toBe('9.2e-4');
  });

  test('do not take a class for all of them', () => {
    // JSON has no infinity.
    const unproved = JSON.parse(JSON.stringify(result({ relativeGap: Infinity, dual: -Infinity })));
    const run = summary({ status: 'done', latest, result: { ...unproved, primal: 1 } });
    expect(gapOf(run)).toBeUndefined();
    const tiles = tilesOf(run);
    expect([value(tiles, 'bound'), value(tiles, 'relative gap')]).toEqual(['–', '–']);
    expect(headline(run, { fraction: 0 })).toMatch(/^ended without a proof/);
  });

  test('have a dash for what is not known', () => {
    const tiles = tilesOf(summary({ latest: { ...latest, dual: null, relativeGap: null } }));
    expect([value(tiles, 'bound'), value(tiles, 'relative gap')]).toEqual(['–', '–']);
    expect(value(tilesOf(summary()), 'objective')).toBe('–');
  });
});

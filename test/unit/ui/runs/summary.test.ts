import { describe, expect, test } from 'vitest';
import { statusText } from '../../../../src/reporting/records/labels.ts';
import type { ResultLine, RunSummary } from '../../../../src/reporting/records/record.ts';
import {
  firstChoice,
  gapOf,
  isStream,
  matches,
  nameOf,
  toneOf,
  withLines,
  withRun,
} from '../../../../ui/src/runs/summary.ts';
import { begin, latest, report, result, start, summary } from '../summaries.ts';

describe('a run in a list', () => {
  test('stays as it ended', () => {
    const inWords = (run: RunSummary) => [statusText(run), toneOf(run)];
    expect(inWords(summary())).toEqual(['running', 'going']);
    expect(inWords(summary({ status: 'lost' }))).toEqual(['lost', 'bad']);
    expect(inWords(summary({ status: 'failed' }))).toEqual(['failed', 'bad']);
    const reasons = [
      ['converged', 'converged', 'good'],
      ['early-stop', 'early stop', 'good'],
      ['stream', 'end of stream', 'good'],
      ['time-limit', 'time limit', 'cut'],
      ['epoch-limit', 'epoch limit', 'cut'],
      ['interrupted', 'stopped', 'cut'],
    ] as const;
    for (const [stopped, ...words] of reasons) {
      // The result of a stream has its own reason, which a report of training has not.
      const ended = { ...result(), stopped } as ResultLine;
      expect(inWords(summary({ status: 'done', result: ended }))).toEqual(words);
    }
  });

  test('is found by words of all it shows', () => {
    const run = summary({ latest });
    expect(matches(run, '')).toBe(true);
    expect(matches(run, 'HINGE train')).toBe(true);
    expect(matches(run, 'running l2')).toBe(true);
    expect(matches(run, 'hinge logistic')).toBe(false);
  });

  test('is named as it was called, by its data, or by its solver if the data is that of all', () => {
    const run = summary({ start: { ...start, options: { solver: 'lbfgs' } } });
    expect([nameOf(run), nameOf(run, true)]).toEqual(['train.svm', 'lbfgs']);
    const called = summary({ start: { ...start, name: 'first try' } });
    expect([nameOf(called), nameOf(called, true)]).toEqual(['first try', 'first try']);
    expect(matches(called, 'first')).toBe(true);
  });

  test('is a stream by what was asked for, and by what it reports', () => {
    expect(isStream(summary({ start: { ...start, options: { progressive: true } } }))).toBe(true);
    expect(isStream(summary({ report }))).toBe(true);
    expect(isStream(summary({ latest }))).toBe(false);
    expect(isStream(summary())).toBe(false);
  });

  test('has no gap before the end where one vector is not all', () => {
    const several = summary({ latest, begin: begin({ vectors: 3 }) });
    expect(gapOf(several)).toBeUndefined();
    expect(gapOf(summary({ latest }))).toBe(0.02);
    expect(gapOf({ ...several, status: 'done', result: result() })).toBe(0.00092);
  });

  test('continues with its lines, and never back', () => {
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
    // Of the same second that which began later, whatever the digits.
    const later = { ...start, started: '2026-11-15T21:23:45.500Z' };
    const second = summary({ id: middle.id.replace(/0000$/, 'zzzz') });
    const third = summary({ id: middle.id.replace(/0000$/, '0001'), start: later });
    expect(withRun(withRun(runs, second), third).indexOf(third)).toBe(1);
  });
});

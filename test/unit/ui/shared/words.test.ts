import { describe, expect, test } from 'vitest';
import { commandLine } from '../../../../src/reporting/records/labels.ts';
import type { RunSummary } from '../../../../src/reporting/records/record.ts';
import {
  aboutModel,
  formatAge,
  formatError,
  formatProofPercent,
  formatRough,
  headline,
  noBreak,
  tabTitle,
} from '../../../../ui/src/shared/words.ts';
import { begin, latest, report, result, start, summary } from '../summaries.ts';

const none = { fraction: 0 };

describe('the headline', () => {
  test('of a running run has its gap and how long it may take', () => {
    expect(headline(summary(), none)).toBe('starting');
    expect(headline(summary(), none, { stage: 'reading data, 40 %' })).toBe('reading data, 40 %');
    const run = summary({ latest: { ...latest, relativeGap: 0.032 } });
    expect(headline(run, { fraction: 0.5, secondsLeft: 12.3 })).toBe(
      'running: gap 3.2 %, about 12 s left',
    );
    expect(headline(run, { fraction: 0.5, secondsLeft: 1141, atMost: true })).toBe(
      'running: gap 3.2 %, at most 19 min left',
    );
    for (const relativeGap of [null, 32]) {
      expect(headline(summary({ latest: { ...latest, relativeGap } }), none)).toBe(
        'running: 17 epochs, no useful bound yet',
      );
    }
  });

  test('counts classes where there are several', () => {
    const run = summary({ latest: { ...latest, vector: 3 }, begin: begin({ vectors: 20 }) });
    expect(headline(run, { fraction: 0.7, done: 14 })).toBe(
      'running: 14 of 20 classes within the tolerance',
    );
    expect(headline(run, none)).toBe('running: some of 20 classes within the tolerance');
  });

  test('of one that was asked to stop has no time left', () => {
    const progress = { fraction: 0.5, secondsLeft: 1141 };
    expect(headline(summary({ latest }), progress, { stopping: true })).toBe(
      'stopping: finishing the epoch, then writing the model',
    );
    expect(headline(summary({ report }), progress, { stopping: true })).toBe(
      'stopping: writing the model',
    );
    const ended = summary({ status: 'done', latest, result: result() });
    expect(headline(ended, progress, { stopping: true })).toMatch(/^within/);
  });

  test('of a finished one has the certificate, rounded up', () => {
    const run = summary({ status: 'done', latest, result: result() });
    expect(headline(run, none)).toBe('within 0.093 % of the optimum after 17 epochs, 2.1 s');
  });

  test('has no empty parts and no zeros', () => {
    const run = (relativeGap: number) =>
      headline(summary({ status: 'done', latest, result: result({ relativeGap }) }), none);
    expect([0, -1e-17].map(run)).toEqual([
      'optimal to machine precision after 17 epochs, 2.1 s',
      'optimal to machine precision after 17 epochs, 2.1 s',
    ]);
    expect(run(2.34e-8)).toMatch(/^within 2\.4·10⁻⁶ % of the optimum/);
  });

  test('claims nothing without a proof', () => {
    const run = (relativeGap: number) =>
      headline(summary({ status: 'done', latest, result: result({ relativeGap }) }), none);
    expect(run(0.7)).toMatch(/^no useful bound \(relative gap 7\.0e-1\)/);
    expect(run(Infinity)).toMatch(/^ended without a certificate/);
  });

  test('of a failure is its message', () => {
    const failure = { event: 'failure', ended: '', message: 'no space left' } as const;
    expect(headline(summary({ status: 'failed', failure }), none)).toBe('failed: no space left');
    expect(headline(summary({ status: 'lost', latest }), none)).toMatch(/after 17 epochs$/);
  });

  test('of a stream has its progressive error', () => {
    expect(headline(summary({ report }), none)).toBe(
      'running: progressive error 12.50 % after 1,000 rows, 3.0 s',
    );
  });
});

test('an age is in the largest unit', () => {
  const ages = [5, 90, 7300, 200_000].map((seconds) =>
    formatAge(start.started, Date.parse(start.started) + 1000 * seconds),
  );
  expect(ages).toEqual(['now', '1 min', '2 h', '2 d']);
});

test('an error is a rate, or a mean squared error', () => {
  expect(formatError(0.0431, 'classification')).toBe('4.31 %');
  expect(formatError(0.0431, 'regression')).toBe('0.0431');
});

describe('before the location of the model', () => {
  const ended = (stopped: NonNullable<RunSummary['result']>['stopped'], more = {}) =>
    summary({ status: 'done', latest, result: result({ stopped } as object), ...more });

  test('it says why a run ended that has not converged', () => {
    expect(aboutModel(ended('converged'), none)).toBe('model in');
    expect(aboutModel(ended('interrupted'), none)).toBe('stopped on request; model in');
    expect(aboutModel(ended('epoch-limit'), none)).toBe(
      'epoch limit reached before the tolerance 1e-4; model in',
    );
    expect(aboutModel(ended('early-stop'), none)).toMatch(/^the test error stopped falling/);
  });

  test('it does not say that all is short where some classes are', () => {
    const run = ended('time-limit', { begin: begin({ vectors: 20 }) });
    expect(aboutModel(run, { fraction: 0.7, done: 14 })).toBe(
      'time limit reached with 6 of 20 classes above the tolerance 1e-4; model in',
    );
    expect(aboutModel(run, none)).toMatch(/with some classes above/);
  });
});

test('a tab shows the state of a run', () => {
  const title = (run: RunSummary) => tabTitle(run, { fraction: 0.5, done: 7 });
  expect(title(summary())).toBe('running · train · dso');
  expect(title(summary({ latest }))).toBe('2.0 % · train · dso');
  expect(title(summary({ report }))).toBe('12.50 % · train · dso');
  expect(title(summary({ latest, begin: begin({ vectors: 20 }) }))).toBe('7/20 · train · dso');
  const named = { ...start, data: 'x/a9a.svm.gz', name: 'try' };
  expect(title(summary({ start: named, status: 'done', result: result() }))).toBe(
    'converged · try · dso',
  );
  expect(title(summary({ start: { ...start, data: 'x/a9a.svm.gz' } }))).toContain(' a9a ');
});

test('a share of what is proved is rounded up and readable', () => {
  const shares = [0.0321, 0.00001, 0.0000091, 2.34e-8, 9.96e-8, 1e-16, 0].map(formatProofPercent);
  expect(shares).toEqual([
    '3.3 %',
    '0.0010 %',
    '9.1·10⁻⁴ %',
    '2.4·10⁻⁶ %',
    '1.0·10⁻⁵ %',
    '< 10⁻¹³ %',
    '< 10⁻¹³ %',
  ]);
});

test('a guess has no more digits than it deserves', () => {
  expect([0.2, 12.3, 59.6, 1141, 3580, 5300, 90_000].map(formatRough)).toEqual([
    '1 s',
    '12 s',
    '1 min',
    '19 min',
    '1 h',
    '1.5 h',
    '25 h',
  ]);
});

test('numbers stay with their units', () => {
  expect(noBreak('within 2 % after 1,000 rows, < 3 s')).toBe(
    'within 2\u00a0% after 1,000\u00a0rows, <\u00a03\u00a0s',
  );
});

test('the command is the one that was given, and can be pasted into a shell', () => {
  const words = ['train', 'data/train.svm', '--test', "it's here.svm"];
  expect(
    commandLine(summary({ start: { ...start, words, options: { epochs: 10_000 } } }), 'dso'),
  ).toBe(`dso train data/train.svm --test 'it'\\''s here.svm'`);
});

import { describe, expect, test } from 'vitest';
import type { BeginLine, RunSeries } from '../../../src/runs/record.ts';
import { commandOf, formatAge, formatError, headline, progressOf } from '../../../ui/src/words.ts';
import { latest, result, start, summary } from './summaries.ts';

const none = { fraction: 0 };

describe('the headline', () => {
  test('of a run that goes on tells its gap and how long it may take', () => {
    expect(headline(summary(), none)).toBe('starting');
    expect(headline(summary(), none, 'reading data, 40 %')).toBe('reading data, 40 %');
    const run = summary({ latest: { ...latest, relativeGap: 0.032 } });
    expect(headline(run, { fraction: 0.5, secondsLeft: 12.3 })).toBe(
      'running: gap 3.2 %, about 12 s left',
    );
    for (const relativeGap of [null, 32]) {
      expect(headline(summary({ latest: { ...latest, relativeGap } }), none)).toBe(
        'running: 17 epochs, no useful bound yet',
      );
    }
  });

  test('of a finished one tells the certificate, rounded up', () => {
    const run = summary({ status: 'done', latest, result: result() });
    expect(headline(run, none)).toBe('within 0.093 % of the optimum after 17 epochs, 2.1 s');
  });

  test('says why a run ended that has not converged', () => {
    const ended = (stopped: 'interrupted' | 'epoch-limit') =>
      headline(summary({ status: 'done', latest, result: result({ stopped }) }), none);
    expect(ended('interrupted')).toMatch(/2\.1 s; stopped by hand, the model is kept$/);
    expect(ended('epoch-limit')).toMatch(/the limit on epochs came before the tolerance 1e-4$/);
  });

  test('claims nothing without a proof', () => {
    const run = (relativeGap: number) =>
      headline(summary({ status: 'done', latest, result: result({ relativeGap }) }), none);
    expect(run(0.7)).toMatch(/^not even within 100 %/);
    expect(run(Infinity)).toMatch(/^ended without a proof/);
  });

  test('of a failure is its message', () => {
    const failure = { event: 'failure', ended: '', message: 'no space left' } as const;
    expect(headline(summary({ status: 'failed', failure }), none)).toBe('failed: no space left');
    expect(headline(summary({ status: 'lost', latest }), none)).toMatch(/after 17 epochs$/);
  });

  test('of a stream tells its progressive error', () => {
    const report = {
      event: 'report',
      seconds: 3,
      rows: 1000,
      loss: 0.4,
      recentLoss: 0.3,
      error: 0.125,
      recentError: 0.1,
    } as const;
    expect(headline(summary({ report }), none)).toBe(
      'running: progressive error 12.50 % after 1,000 rows, 3.0 s',
    );
  });
});

describe('progress', () => {
  const epochs = [1, 2, 3, 4, 5];
  const series: RunSeries = {
    epoch: epochs,
    seconds: epochs,
    passes: epochs,
    primal: epochs,
    dual: epochs,
    relativeGap: [null, 1, 0.1, 0.01, 0.001],
  };

  test('is measured on a log scale and extrapolated', () => {
    const { fraction, secondsLeft } = progressOf(summary({ latest }), series);
    expect(fraction).toBeCloseTo(0.75, 9);
    expect(secondsLeft).toBeCloseTo(1, 9);
  });

  test('heeds the limits of the run', () => {
    const limited = summary({ latest, start: { ...start, time: 5.5 } });
    expect(progressOf(limited, series).secondsLeft).toBeCloseTo(0.5, 9);
  });

  test('counts the vectors where there are several', () => {
    const begin = { event: 'begin', vectors: 4 } as BeginLine;
    const run = summary({ begin, latest: { ...latest, vector: 3 } });
    expect(progressOf(run, series)).toEqual({ fraction: 0.75 });
    expect(headline(run, none)).toBe('running: class 4 of 4, gap 2.0 %');
  });

  test('is none before there is anything', () => {
    expect(progressOf(summary(), undefined)).toEqual({ fraction: 0 });
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

test('the command can be pasted into a shell', () => {
  const options = { lambda: 1e-5, auprc: true, ui: false, test: "it's here.svm" };
  expect(commandOf(summary({ start: { ...start, options } }))).toBe(
    `dso train data/train.svm --lambda 0.00001 --auprc --test 'it'\\''s here.svm'`,
  );
});

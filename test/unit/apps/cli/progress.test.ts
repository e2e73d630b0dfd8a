import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createProgress } from '../../../../src/apps/cli/progress.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import type { EpochEvent } from '../../../../src/train/events.ts';
import { memoryIo } from '../../../support/memory-io.ts';

const events: EpochEvent[] = [1, 2, 3].map((epoch) => ({
  epoch,
  seconds: epoch,
  passes: 2 * epoch,
  primal: 0.25 + 10 ** -epoch,
  dual: 0.25,
  relativeGap: 10 ** -epoch,
  testError: 0.05,
  effort: { computing: 1, waiting: 0, communicating: 0, bytes: 0 },
}));

/** Runs the events past a progress display; returns what it wrote. */
function show(options: Parameters<typeof memoryIo>[0], quiet = false): string {
  const io = memoryIo(options);
  const progress = createProgress(new Terminal(io), quiet);
  progress.stage('reading train.svm');
  progress.start('classification', { tolerance: 1e-4 });
  for (const event of events) progress.epoch(event);
  progress.notice('something to know');
  progress.end();
  expect(io.stdout.text).toBe('');
  return io.stderr.text;
}

// The clock is stopped: lines show the time to a hundredth of a second.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('without a terminal', () => {
  test('a plain line per epoch', () => {
    expect(show({})).toBe(
      'epoch 1  objective 0.35  gap 1.0e-1  test error 5.00 %  1.0 s\n' +
        'epoch 2  objective 0.26  gap 1.0e-2  test error 5.00 %  2.0 s  2.0 s left\n' +
        'epoch 3  objective 0.251  gap 1.0e-3  test error 5.00 %  3.0 s  1.0 s left\n' +
        'note: something to know\n',
    );
  });

  test('of a long run some epochs, the last one among them', () => {
    const io = memoryIo();
    const progress = createProgress(new Terminal(io), false);
    progress.start('classification', { tolerance: 1e-4 });
    for (let epoch = 1; epoch <= 2345; epoch += 1) progress.epoch({ ...events[0], epoch });
    progress.end();
    progress.end();
    const shown = [...io.stderr.text.matchAll(/^epoch (\d+) /gm)].map(([, epoch]) => Number(epoch));
    const every = (step: number) => Array.from({ length: 18 }, (_, k) => step * (k + 3));
    const first = Array.from({ length: 20 }, (_, k) => k + 1);
    expect(shown).toEqual([...first, ...every(10), ...every(100), 2345]);
  });

  test('what a resumed run begins with is shown', () => {
    const io = memoryIo();
    const progress = createProgress(new Terminal(io), false);
    progress.start('classification', { tolerance: 1e-4 });
    for (const epoch of [123, 124]) progress.epoch({ ...events[0], epoch });
    expect(io.stderr.text).toMatch(/^epoch 123 .*\nepoch 124 /);
  });

  test('regression shows the mean squared error', () => {
    const io = memoryIo();
    const progress = createProgress(new Terminal(io), false);
    progress.start('regression', { tolerance: 1e-4 });
    progress.epoch(events[0]);
    expect(io.stderr.text).toContain('test mse 0.05  ');
  });
});

describe('on a terminal', () => {
  const clearLine = '\r\u001b[K';
  const colour = /\[\d+m/;
  const lines = (text: string): string[] => text.replaceAll(clearLine, '\n').split('\n');

  test('one line that is redrawn, with a bar, and cleared at the end', () => {
    const text = show({ terminal: true, columns: 120, environment: { NO_COLOR: '1' } });
    const drawn = lines(text);
    expect(drawn.some((line) => line.startsWith('reading train.svm … 0.00 s'))).toBe(true);
    expect(drawn.some((line) => /^[━─]{24} {2}epoch 3 {2}objective 0.251 /.test(line))).toBe(true);
    expect(drawn).toContain('note: something to know');
    expect(text.endsWith(clearLine)).toBe(true);
  });

  test('a bar for a stage that reports its fraction', () => {
    const io = memoryIo({ terminal: true, environment: { NO_COLOR: '1' } });
    const progress = createProgress(new Terminal(io), false);
    progress.stage('converting data.svm', 0.25);
    progress.end();
    const bar = `${'━'.repeat(6)}${'─'.repeat(18)}`;
    expect(lines(io.stderr.text)).toContain(`${bar}  converting data.svm … 25 %  0.00 s`);
  });

  test.each([10, 20, 40, 60, 80, 120])('no line is wider than %i columns', (columns) => {
    const text = show({ terminal: true, columns, environment: { NO_COLOR: '1' } });
    const drawn = lines(text).filter((line) => !line.startsWith('note: '));
    for (const line of drawn) expect(line.length).toBeLessThan(columns);
  });

  test('colours unless NO_COLOR is set', () => {
    expect(show({ terminal: true })).toMatch(colour);
    expect(show({ terminal: true, environment: { NO_COLOR: '' } })).toMatch(colour);
    expect(show({ terminal: true, environment: { NO_COLOR: '1' } })).not.toMatch(colour);
    expect(show({})).not.toMatch(colour);
  });

  test('a dumb terminal gets plain lines', () => {
    expect(show({ terminal: true, environment: { TERM: 'dumb' } })).toBe(show({}));
  });
});

test('quiet is silent', () => {
  expect(show({}, true)).toBe('');
  expect(show({ terminal: true }, true)).toBe('');
});

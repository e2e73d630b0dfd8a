import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { chartProgress } from '../../../../src/apps/cli/chart-progress.ts';
import { createProgress, type Progress } from '../../../../src/apps/cli/progress.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import type { EpochEvent } from '../../../../src/train/events.ts';
import { type MemoryIo, memoryIo } from '../../../support/memory-io.ts';

const utf8 = { NO_COLOR: '1', LANG: 'C.UTF-8' };
/** Longer than from one picture to the next. */
const aWhile = 300;

function eventOf(epoch: number, more: Partial<EpochEvent> = {}): EpochEvent {
  return {
    epoch,
    seconds: epoch / 10,
    passes: epoch,
    primal: 0.25 + 2 ** -epoch,
    dual: 0.25 - 2 ** -epoch,
    relativeGap: 2 ** -epoch,
    effort: { computing: 1, waiting: 0, communicating: 0, bytes: 0 },
    ...more,
  };
}

interface Stage {
  readonly io: MemoryIo;
  readonly progress: Progress;
  resize(columns: number, rows: number): void;
}

function begin(columns: number, rows: number, terminal = true, environment = utf8): Stage {
  const io = memoryIo({ terminal, columns, environment });
  const resize = (width: number, height: number) =>
    void Object.assign(io.stderr, { columns: width, rows: height });
  resize(columns, rows);
  const screen = new Terminal(io);
  const progress = chartProgress(screen, createProgress(screen, false));
  progress.start('classification', { tolerance: 1e-3 });
  return { io, progress, resize };
}

/** What a terminal that is never full shows after this text. */
function screenOf(text: string): string[] {
  const lines = [''];
  let [row, column] = [0, 0];
  const put = (character: string): void => {
    if (character === '\r') column = 0;
    else if (character === '\n') [row, column] = [row + 1, 0];
    else {
      const line = lines[row];
      lines[row] = line.slice(0, column).padEnd(column) + character + line.slice(column + 1);
      column += 1;
    }
    lines[row] ??= '';
  };
  const [first, ...parts] = text.split('\u001b[');
  for (const character of first) put(character);
  for (const part of parts) {
    const [sequence, count, command] = /^(\d*)(.)/.exec(part)!;
    if (command === 'K') lines[row] = lines[row].slice(0, column);
    else if (command === 'J') lines.splice(row, Infinity, lines[row].slice(0, column));
    else if (command === 'A') row = Math.max(0, row - Number(count));
    else throw new Error(`unknown sequence ${sequence}`);
    for (const character of part.slice(sequence.length)) put(character);
  }
  return lines;
}

const titles = (lines: readonly string[]): string[] =>
  lines.flatMap(
    (line) => line.match(/relative gap|objective(?= {2}o)|test error(?= \(%\))/g) ?? [],
  );

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('on a terminal', () => {
  test('charts are above the live line and are drawn over', () => {
    const { io, progress } = begin(80, 40);
    for (let epoch = 1; epoch <= 12; epoch++) {
      progress.epoch(eventOf(epoch));
      vi.advanceTimersByTime(aWhile);
      const lines = screenOf(io.stderr.text);
      expect(titles(lines)).toEqual(['relative gap', 'objective']);
      expect(lines[0]).toBe('relative gap  ╌╌ tolerance 0.001');
      expect(lines).toHaveLength(25);
      expect(lines[24]).toContain(`epoch ${epoch} `);
    }
    progress.end();
    expect(screenOf(io.stderr.text)).toMatchObject({ length: 25, 24: '' });
    expect(titles(screenOf(io.stderr.text))).toEqual(['relative gap', 'objective']);
  });

  test('a picture comes from the timer, not from an epoch', () => {
    const { io, progress } = begin(80, 40);
    for (let epoch = 1; epoch <= 100; epoch++) progress.epoch(eventOf(epoch));
    expect(io.stderr.text).not.toContain('relative gap');
    vi.advanceTimersByTime(aWhile);
    expect(io.stderr.text.split('relative gap')).toHaveLength(2);
    // Nothing new: nothing to draw.
    vi.advanceTimersByTime(10 * aWhile);
    expect(io.stderr.text.split('relative gap')).toHaveLength(2);
    progress.end();
  });

  test('notices stay, above the charts', () => {
    const { io, progress } = begin(80, 40);
    progress.notice('early');
    progress.epoch(eventOf(1));
    vi.advanceTimersByTime(aWhile);
    progress.notice('something to know');
    progress.epoch(eventOf(2));
    vi.advanceTimersByTime(aWhile);
    progress.end();
    const lines = screenOf(io.stderr.text);
    expect(lines.slice(0, 3)).toEqual([
      'note: early',
      'note: something to know',
      'relative gap  ╌╌ tolerance 0.001',
    ]);
    expect(titles(lines)).toEqual(['relative gap', 'objective']);
  });

  test('the last epochs are in the charts that remain, which come once', () => {
    const { io, progress } = begin(80, 40);
    progress.epoch(eventOf(1));
    progress.epoch(eventOf(50));
    progress.end();
    const text = io.stderr.text;
    progress.end();
    expect(titles(screenOf(io.stderr.text))).toEqual(['relative gap', 'objective']);
    expect(io.stderr.text.slice(text.length)).not.toContain('gap');
    expect(screenOf(text)[11]).toMatch(/5 s$/);
  });

  test('side by side where the terminal is wide', () => {
    const { io, progress } = begin(130, 20);
    for (let epoch = 1; epoch <= 9; epoch++) progress.epoch(eventOf(epoch, { testError: 0.1 }));
    progress.end();
    const lines = screenOf(io.stderr.text);
    expect(titles(lines.slice(0, 1))).toEqual(['relative gap', 'objective', 'test error']);
    expect(lines).toHaveLength(13);
    for (const line of lines) expect(line.length).toBeLessThan(130);
  });

  test('the gap alone on a low terminal, nothing on one that is lower yet', () => {
    const shown = (rows: number) => {
      const { io, progress } = begin(80, rows);
      for (let epoch = 1; epoch <= 9; epoch++) progress.epoch(eventOf(epoch));
      vi.advanceTimersByTime(aWhile);
      const lines = screenOf(io.stderr.text);
      expect(lines.length).toBeLessThan(rows);
      progress.end();
      return titles(lines);
    };
    expect([40, 24, 15, 9, 7].map(shown)).toEqual([
      ['relative gap', 'objective'],
      ['relative gap', 'objective'],
      ['relative gap'],
      ['relative gap'],
      [],
    ]);
  });

  test('a terminal that grows is filled anew', () => {
    const { io, progress, resize } = begin(60, 14);
    progress.epoch(eventOf(1));
    progress.epoch(eventOf(2));
    vi.advanceTimersByTime(aWhile);
    expect(titles(screenOf(io.stderr.text))).toEqual(['relative gap']);
    resize(140, 40);
    vi.advanceTimersByTime(aWhile);
    const lines = screenOf(io.stderr.text);
    expect(titles(lines)).toEqual(['relative gap', 'objective']);
    expect(lines[0]).toContain('x lower bound');
    progress.end();
  });

  test('a terminal that was made narrower has broken lines, which are taken away too', () => {
    const { io, progress, resize } = begin(80, 14);
    progress.epoch(eventOf(1));
    progress.epoch(eventOf(2));
    vi.advanceTimersByTime(aWhile);
    const before = screenOf(io.stderr.text).slice(0, -1);
    const broken = before.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 40)), 0);
    expect(broken).toBeGreaterThan(before.length);
    const { length } = io.stderr.text;
    resize(40, 14);
    vi.advanceTimersByTime(aWhile);
    expect(io.stderr.text.slice(length)).toContain(`\u001b[${broken}A\r\u001b[J`);
    progress.end();
  });

  test('of several vectors the newest', () => {
    const { io, progress } = begin(80, 40);
    for (const index of [0, 1]) {
      for (let epoch = 1; epoch <= 5; epoch++) {
        progress.epoch(eventOf(epoch, { vector: { index, count: 3 } }));
      }
    }
    progress.epoch(eventOf(99, { vector: { index: 0, count: 3 } }));
    progress.end();
    const lines = screenOf(io.stderr.text);
    expect(lines[0]).toContain('relative gap, class 2 of 3');
    expect(lines[11]).toMatch(/0\.5 s$/);
  });
});

test('a long run keeps its ends', () => {
  const { io, progress } = begin(80, 40);
  for (let epoch = 1; epoch <= 100_000; epoch++) {
    progress.epoch(eventOf(epoch, { relativeGap: 1 / epoch, primal: 1, dual: 0 }));
  }
  progress.end();
  const lines = screenOf(io.stderr.text);
  // From 1 at the left to 1e-5 at the right, time in minutes.
  expect(lines[1]).toMatch(/^ {3}1 ┤\S/);
  expect(lines.slice(0, 10).join('\n')).toContain('1e-5 ┤');
  expect(lines[11]).toMatch(/min$/);
});

test('a bound that begins far away does not take the room of what matters', () => {
  const { io, progress } = begin(80, 60);
  for (let epoch = 1; epoch <= 40; epoch++) {
    const far = epoch < 20;
    progress.epoch(
      eventOf(epoch, {
        relativeGap: far ? 1e9 : 1 / epoch,
        primal: 0.25 + 1 / epoch,
        dual: far ? -1e9 : 0.25 - 1 / epoch,
      }),
    );
  }
  progress.end();
  const ticks = screenOf(io.stderr.text).flatMap((line) => /^ *(\S+) ┤/.exec(line)?.[1] ?? []);
  expect(ticks.slice(0, 4)).toEqual(['1', '0.1', '0.01', '0.001']);
  // The objective from 1.25 to 0.275, and the bound half as much below.
  expect(ticks.slice(4)).toEqual(['1.0', '0.5', '0.0']);
});

test('the least test error is seen, however soon it was reached', () => {
  const { io, progress } = begin(80, 60);
  for (let epoch = 1; epoch <= 40; epoch++) {
    progress.epoch(eventOf(epoch, { testError: epoch === 2 ? 0.03 : 0.036 }));
  }
  progress.end();
  const lines = screenOf(io.stderr.text);
  const below = lines.slice(lines.findIndex((line) => line.startsWith('test error (%)')));
  expect(below.join('\n')).toMatch(/^ *3\.0 ┤.*\S/m);
});

test('a class is tested against the rest, which is not the error of the model', () => {
  const { io, progress } = begin(130, 60);
  for (let epoch = 1; epoch <= 9; epoch++) {
    const vector = { index: 16, count: 20 };
    progress.epoch(eventOf(epoch, { vector, testError: 0.1, testAuprc: 0.5 }));
  }
  progress.end();
  expect(io.stderr.text).toContain('relative gap, class 17 of 20');
  expect(io.stderr.text).toContain('test error (%), class 17 against the rest');
  expect(io.stderr.text).toContain('test AUPRC, class 17 against the rest');
  expect(io.stderr.text).not.toContain('test error (%)\n');
});

test('without a terminal once, at the end', () => {
  const { io, progress } = begin(80, 24, false);
  progress.stage('reading');
  for (let epoch = 1; epoch <= 9; epoch++) progress.epoch(eventOf(epoch, { testError: 0.1 }));
  vi.advanceTimersByTime(10 * aWhile);
  progress.notice('something to know');
  expect(io.stderr.text).not.toContain('relative gap');
  progress.end();
  progress.end();
  const lines = io.stderr.text.split('\n');
  expect(titles(lines)).toEqual(['relative gap', 'objective', 'test error']);
  expect(io.stderr.text).not.toContain('\u001b');
  expect(io.stdout.text).toBe('');
});

test('ASCII where the terminal knows nothing else', () => {
  const { io, progress } = begin(80, 24, false, { NO_COLOR: '1', LANG: 'C' });
  for (let epoch = 1; epoch <= 9; epoch++) progress.epoch(eventOf(epoch));
  progress.end();
  expect(io.stderr.text).toContain('relative gap  -- tolerance 0.001');
  expect(io.stderr.text).toMatch(/^[ -~\n]*$/);
});

test('no epoch, no chart', () => {
  const { io, progress } = begin(80, 24);
  vi.advanceTimersByTime(aWhile);
  progress.end();
  expect(screenOf(io.stderr.text)).toEqual(['']);
});

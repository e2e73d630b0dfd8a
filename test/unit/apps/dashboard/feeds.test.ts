import { availableParallelism } from 'node:os';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RunFeed } from '../../../../src/apps/dashboard/feeds.ts';
import { RunList } from '../../../../src/apps/dashboard/run-list.ts';
import type { Emit } from '../../../../src/apps/dashboard/subscribers.ts';
import { DrivenRun } from './own-run.ts';
import { beginLine, epochLine, firstId, resultLine } from './records.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A run on this many threads, and the names of the messages about it from its beginning on. */
function feeding(threads: number) {
  const run = new DrivenRun(firstId);
  const heard: string[] = [];
  const emit: Emit = (name) => void heard.push(name);
  const onFailure = (error: unknown) => {
    throw error;
  };
  const runs = new RunList(undefined, run);
  const feed = new RunFeed({ runs, current: run, emit, onFailure });
  feed.start();
  run.live.add(beginLine({ threads }));
  vi.advanceTimersByTime(250);
  expect(heard.splice(0)).toEqual(['lines', 'run']);
  return { run, heard };
}

test('news come four times a second while cores are free', () => {
  const { run, heard } = feeding(availableParallelism() - 1);
  for (let epoch = 1; epoch <= 8; epoch++) {
    run.live.add(epochLine(epoch));
    vi.advanceTimersByTime(250);
  }
  expect(heard).toHaveLength(8);
});

test('and once a second while all cores train, but for the end', () => {
  const { run, heard } = feeding(availableParallelism());
  for (let epoch = 1; epoch <= 8; epoch++) {
    run.live.add(epochLine(epoch));
    vi.advanceTimersByTime(250);
  }
  expect(heard.splice(0)).toEqual(['lines', 'lines']);
  run.live.add(resultLine);
  vi.advanceTimersByTime(250);
  expect(heard).toEqual(['lines', 'run']);
});

import { expect, test, vi } from 'vitest';
import { Interrupts } from '../../../../src/apps/cli/interrupts.ts';
import { exitCodeOfStop } from '../../../../src/apps/cli/terminal.ts';
import { memoryIo } from '../../../support/memory-io.ts';

function watch() {
  const io = memoryIo();
  const calls: string[] = [];
  const display = {
    notice: (message: string) => void calls.push(message),
    end: () => void calls.push('end'),
  };
  const interrupts = new Interrupts(io, display, 'stopping');
  return { io, calls, interrupts };
}

test('while there is nothing to save, the first signal ends the process', () => {
  const { io, calls, interrupts } = watch();
  io.send('SIGINT');
  expect(io.exits).toEqual([130]);
  expect(calls).toEqual(['end']);
  expect(interrupts.signal.aborted).toBe(false);
});

test('during training the first stops training, the second ends the process', () => {
  const { io, calls, interrupts } = watch();
  interrupts.defer();
  io.send('SIGTERM');
  expect(interrupts.signal.aborted).toBe(true);
  expect(interrupts.received).toBe('SIGTERM');
  expect(io.exits).toEqual([]);
  io.send('SIGINT');
  expect(io.exits).toEqual([130]);
  expect(calls).toEqual(['stopping', 'end']);
});

test('after release signals are not its business', () => {
  const { io, interrupts } = watch();
  interrupts.release();
  io.send('SIGINT');
  expect(io.exits).toEqual([]);
});

test('exit codes of a run that ended', () => {
  expect(exitCodeOfStop('converged', 'SIGINT')).toBe(0);
  expect(exitCodeOfStop('early-stop', undefined)).toBe(0);
  expect(exitCodeOfStop('epoch-limit', undefined)).toBe(4);
  expect(exitCodeOfStop('time-limit', undefined)).toBe(4);
  expect(exitCodeOfStop('interrupted', undefined)).toBe(130);
  expect(exitCodeOfStop('interrupted', 'SIGINT')).toBe(130);
  expect(exitCodeOfStop('interrupted', 'SIGTERM')).toBe(143);
});

test('a request does what the first Ctrl-C does, and no more', async () => {
  const { io, calls, interrupts } = watch();
  interrupts.defer();
  interrupts.request();
  interrupts.request();
  expect(interrupts.received).toBe('SIGINT');
  expect([calls, io.exits]).toEqual([['stopping'], []]);
  const early = watch();
  early.interrupts.request();
  await vi.waitFor(() => expect(early.io.exits).toEqual([130]), 60_000);
  expect(early.calls).toEqual(['end']);
});

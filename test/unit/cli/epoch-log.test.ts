import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EpochLog } from '../../../src/cli/epoch-log.ts';
import { Terminal } from '../../../src/cli/terminal.ts';
import { memoryIo } from '../../support/memory-io.ts';
import { temporaryFolder } from '../../support/temporary.ts';

test('the file appears with its first line', () => {
  const path = join(temporaryFolder(), 'run.jsonl');
  const log = new EpochLog(path, new Terminal(memoryIo()), () => {});
  expect(existsSync(path)).toBe(false);
  log.write({ epoch: 1 });
  expect(readFileSync(path, 'utf8')).toBe('{"epoch":1}\n');
  log.write({ epoch: 2 });
  log.close();
  expect(readFileSync(path, 'utf8')).toBe('{"epoch":1}\n{"epoch":2}\n');
});

test('a log that cannot be written is reported once and does not throw', () => {
  const path = join(temporaryFolder(), 'folder');
  mkdirSync(path);
  const failures: string[] = [];
  const log = new EpochLog(path, new Terminal(memoryIo()), (message) => failures.push(message));
  log.write({ epoch: 1 });
  log.write({ epoch: 2 });
  log.close();
  expect(failures).toHaveLength(1);
  expect(failures[0]).toContain('EISDIR');
});

test('- is standard output', () => {
  const io = memoryIo();
  const log = new EpochLog('-', new Terminal(io), () => {});
  log.write({ epoch: 1 });
  expect(io.stdout.text).toBe('{"epoch":1}\n');
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

const line = (epoch: number, more = '') => `{"event":"epoch","epoch":${epoch}${more}}\n`;
const result = '{"event":"result","epochs":3}\n';

test.each([
  ['what came after the checkpoint comes again', line(3) + line(4) + line(5), line(3)],
  [
    'so does the result of a run that had ended',
    line(3) + result + line(4) + result,
    line(3) + result,
  ],
  ['a line that was not written to its end goes', `${line(3)}{"event":"ep`, line(3)],
  ['lines of others stay', `mine\n${line(3)}`, `mine\n${line(3)}`],
  ['nothing goes if nothing comes again', line(3) + result, line(3) + result],
])('a log that goes on with epoch 4: %s', (_, before, kept) => {
  const path = join(temporaryFolder(), 'run.jsonl');
  writeFileSync(path, before);
  const log = new EpochLog(path, new Terminal(memoryIo()), () => {}, true);
  log.write({ event: 'epoch', epoch: 4, seconds: 1 });
  log.write({ event: 'epoch', epoch: 5, seconds: 2 });
  log.close();
  expect(readFileSync(path, 'utf8')).toBe(kept + line(4, ',"seconds":1') + line(5, ',"seconds":2'));
});

test('a log that goes on but is not there begins', () => {
  const path = join(temporaryFolder(), 'run.jsonl');
  const log = new EpochLog(path, new Terminal(memoryIo()), () => {}, true);
  log.write({ event: 'epoch', epoch: 4 });
  log.close();
  expect(readFileSync(path, 'utf8')).toBe(line(4));
});

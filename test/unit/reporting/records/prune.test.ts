import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import type { RunLine, StartLine } from '../../../../src/reporting/records/record.ts';
import { pruneRuns } from '../../../../src/reporting/records/store.ts';
import { beginLine, recordText, resultLine, runId, startLine } from '../../../support/run-lines.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

/** Writes the record of a run that began some seconds after the first. */
function add(
  folder: string,
  seconds: number,
  start: Partial<StartLine> = {},
  lines: readonly RunLine[] = [beginLine(), resultLine],
): string {
  const id = runId(seconds);
  const text = recordText([startLine({ id, ...start }), ...lines]);
  writeFileSync(join(folder, `${id}.jsonl`), text);
  return id;
}

const names = (ids: readonly string[]) => ids.map((id) => `${id}.jsonl`).sort();

test('the oldest records go, with the requests to stop them', () => {
  const folder = temporaryFolder();
  const ids = [0, 1, 2, 3, 4].map((seconds) => add(folder, seconds));
  writeFileSync(join(folder, `${ids[0]}.stop`), '');
  pruneRuns(folder, 3);
  expect(readdirSync(folder).sort()).toEqual(names(ids.slice(2)));
  pruneRuns(folder, 3);
  expect(readdirSync(folder)).toHaveLength(3);
});

test('running runs stay, lost ones do not', () => {
  const folder = temporaryFolder();
  const running = add(folder, 0, {}, [beginLine()]);
  add(folder, 1, { pid: 2 ** 30 }, [beginLine()]);
  const elsewhere = add(folder, 2, { host: 'elsewhere' }, [beginLine()]);
  const silent = add(folder, 3, { host: 'elsewhere' }, [beginLine()]);
  utimesSync(join(folder, `${silent}.jsonl`), 1e9, 1e9);
  const newest = add(folder, 4);
  pruneRuns(folder, 1);
  expect(readdirSync(folder).sort()).toEqual(names([running, elsewhere, newest]));
});

test('what only looks like a record, or is called otherwise, is left alone', () => {
  const folder = temporaryFolder();
  const parent = temporaryFolder();
  const linked = add(parent, 0);
  symlinkSync(join(parent, `${linked}.jsonl`), join(folder, `${linked}.jsonl`));
  const notes = ['notes.jsonl', 'x.stop', `${runId(1)}.json`, `${runId(2)}.jsonl.bak`];
  const others = [...notes, `${runId(3)}.jsonl`, `${runId(4)}.jsonl`];
  for (const name of others) writeFileSync(join(folder, name), 'mine\n');
  writeFileSync(join(folder, `${runId(5)}.jsonl`), '');
  mkdirSync(join(folder, `${runId(6)}.jsonl`));
  const before = readdirSync(folder).sort();
  add(folder, 7);
  pruneRuns(folder, 0);
  expect(readdirSync(folder).sort()).toEqual(before);
  expect(existsSync(join(parent, `${linked}.jsonl`))).toBe(true);
});

test('a folder that is not there has nothing to lose', () => {
  const folder = join(temporaryFolder(), 'none');
  pruneRuns(folder, 1);
  expect(existsSync(folder)).toBe(false);
});

test('several processes prune at the same time', async () => {
  const folder = temporaryFolder();
  const ids = Array.from({ length: 300 }, (_, seconds) => add(folder, seconds));
  const store = pathToFileURL(
    join(import.meta.dirname, '../../../../src/reporting/records/store.ts'),
  ).href;
  const program = `import { pruneRuns } from ${JSON.stringify(store)}; pruneRuns(process.argv[1], 5);`;
  const args = ['--input-type=module', '-e', program, folder];
  const children = [0, 1, 2].map(() => spawn(process.execPath, args, { stdio: 'inherit' }));
  const codes = await Promise.all(children.map((child) => once(child, 'exit')));
  expect(codes.map(([code]) => code as number)).toEqual([0, 0, 0]);
  expect(readdirSync(folder).sort()).toEqual(names(ids.slice(-5)));
});

test('a pipe by the name of a record does not hold anybody up', ({ skip }) => {
  const folder = temporaryFolder();
  try {
    execFileSync('mkfifo', [join(folder, `${runId()}.jsonl`)], { stdio: 'ignore' });
  } catch {
    skip('a system without mkfifo');
  }
  pruneRuns(folder, 0);
  expect(readdirSync(folder)).toHaveLength(1);
});

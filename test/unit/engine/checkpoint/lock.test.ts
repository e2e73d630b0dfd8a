import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FolderLock } from '../../../../src/engine/checkpoint/lock.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const program = fileURLToPath(new URL('support/hold.ts', import.meta.url));

/** Another process that takes a folder; `said` is its first line. */
async function hold(folder: string, first: number, end: number, grid = 4) {
  const args = [program, folder, ...[first, end, grid].map(String)];
  const child: ChildProcess = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [said] = (await once(child.stdout!, 'data')) as [Buffer];
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await once(child, 'exit');
  };
  return { child, said: said.toString().trim(), stop };
}

const take = (folder: string, first: number, end: number, grid = 4) => {
  const lock = new FolderLock(folder, [first, end], grid);
  lock.release();
};

describe('a folder that another process holds', () => {
  test('is refused, with who it is and what to do; another share of the workers is not', async () => {
    const folder = temporaryFolder();
    const { child, said } = await hold(folder, 0, 2);
    expect(said).toBe('held');
    for (const [first, end] of [
      [0, 4],
      [0, 2],
      [1, 3],
    ]) {
      expect(() => take(folder, first, end)).toThrow(
        new RegExp(
          `process ${child.pid} on .* saves workers 0 to 1 of a run there, which is running; if it is gone, remove .*\\.lock`,
        ),
      );
    }
    expect(readdirSync(folder)).toHaveLength(1);
    expect(() => take(folder, 2, 4)).not.toThrow();
    // The same numbers of another grid are other workers.
    expect(() => take(folder, 2, 4, 8)).toThrow('saves workers 0 to 1');
  });

  test('is free when it ends, and at once when it is killed', async () => {
    const folder = temporaryFolder();
    const ended = await hold(folder, 0, 4);
    await ended.stop('SIGTERM');
    expect(readdirSync(folder)).toEqual([]);
    const killed = await hold(folder, 0, 4);
    await killed.stop('SIGKILL');
    expect(readdirSync(folder)).toHaveLength(1);
    take(folder, 1, 2);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of two at the same time, one at most has it', async () => {
    const folder = temporaryFolder();
    const both = await Promise.all([hold(folder, 0, 4), hold(folder, 1, 4)]);
    expect(both.filter(({ said }) => said === 'held').length).toBeLessThanOrEqual(1);
    for (const { said } of both) if (said !== 'held') expect(said).toContain('of a run there');
  });

  test('the number of a process that is another one by now', () => {
    const folder = temporaryFolder();
    const lock = new FolderLock(folder, [0, 4], 4);
    const [name] = readdirSync(folder);
    expect(() => take(folder, 0, 4)).toThrow('this process already saves a run there');
    expect(() => take(folder, 0, 3)).toThrow(`process ${process.pid} on`);
    renameSync(join(folder, name), join(folder, name.replace(/\d+\.lock$/, '1.lock')));
    expect(() => take(folder, 0, 4)).not.toThrow();
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('a folder that is a file by now does not keep a run from its end', () => {
  const folder = temporaryFolder();
  const lock = new FolderLock(folder, [0, 4], 4);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  expect(() => lock.release()).not.toThrow();
});

describe('a holder on another host', () => {
  const foreign = '.workers-0-4-of-4.node%207.12.345.lock';

  test('counts as long as it sends heartbeats', () => {
    const folder = temporaryFolder();
    const path = join(folder, foreign);
    writeFileSync(path, 'x');
    expect(() => take(folder, 0, 4)).toThrow(
      /process 12 on node 7 saves workers 0 to 3 .* whose last heartbeat is \d+ s old/,
    );
    const old = Date.now() / 1000 - 600;
    utimesSync(path, old, old);
    take(folder, 0, 4);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('a folder that cannot be written to is refused', () => {
  expect(() => take('/proc', 0, 4)).toThrow('checkpoints cannot go to /proc: ');
});

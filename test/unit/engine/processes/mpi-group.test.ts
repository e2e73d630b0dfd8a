import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listeners } from '../../../../src/engine/processes/heartbeat.ts';
import { startJob } from '../../../support/jobs.ts';
import { launch, launchers } from '../../../support/launchers.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { job, pathOf } from './support/jobs.ts';

test('everybody listens to everybody, in large jobs to neighbours and rank 0', () => {
  expect(listeners(1, 3)).toEqual([0, 2]);
  expect(listeners(0, 1)).toEqual([]);
  expect(listeners(0, 100)).toHaveLength(99);
  expect(listeners(99, 100)).toEqual([0, 98]);
  expect(listeners(50, 100)).toEqual([0, 49, 51]);
  for (let one = 0; one < 40; one++) {
    for (const other of listeners(one, 40)) expect(listeners(other, 40)).toContain(one);
  }
});

describe.each(launchers)('$name', (launcher) => {
  const lack = launcher.path === undefined ? `${launcher.name} is not installed` : undefined;

  test('ranks of different versions do not work together', async ({ skip }) => {
    if (lack) skip(lack);
    const { code, stdout, stderr } = await launch(launcher, 2, job('versions'));
    expect(code, stderr).toBe(0);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toMatch(/^rank 1 on \S+ runs dso 0\.0\.9, rank 0 on \S+ dso 0\.1\.0: all ranks/);
    }
  });

  test('a rank that does not come up is not waited for forever', async ({ skip }) => {
    if (lack) skip(lack);
    const { code, stderr } = await launch(launcher, 2, job('absent'));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/rank 0 on \S+: the 2 ranks have not all come up within 2 s/);
  });

  test.for([1, 3])('%i ranks send each other bytes of all lengths', async (ranks, { skip }) => {
    if (lack) skip(lack);
    const { code, stdout, stderr } = await launch(launcher, ranks, job('talk'));
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ size: ranks, wrong: new Array(ranks).fill('') });
  });
});

test('a rank that has stopped is named, whatever the others do', async ({ skip }) => {
  const installed = launchers.filter(({ path }) => path !== undefined);
  if (installed.length === 0) skip('no MPI is installed');
  const loss = /rank 2 on \S+ has not answered for 10 s/.source;
  const waiting: Promise<void>[] = [];
  // One after the other comes up, then all of them mostly wait.
  for (const launcher of installed) {
    for (const occupation of ['gather', 'carry', 'nothing']) {
      const folder = temporaryFolder();
      const options = { folder, program: pathOf('silent') };
      const { saw, ended } = startJob(launcher, 3, [occupation, folder], options);
      const check = async (): Promise<void> => {
        const { code, stderr } = await ended;
        expect(code, stderr).toBe(7);
        const outcome = occupation === 'nothing' ? 'fulfilled' : loss;
        for (const rank of ['0', '1']) {
          const report = readFileSync(join(folder, rank), 'utf8');
          expect(report).toMatch(new RegExp(`^lost 2: ${loss}; ${occupation}: ${outcome}$`));
        }
      };
      await saw(/^all have met$/m);
      waiting.push(check());
    }
  }
  await Promise.all(waiting);
});

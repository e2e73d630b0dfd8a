import { describe, expect, onTestFinished, test } from 'vitest';
import { lackForHosts, makeHosts } from '../../../support/hosts.ts';
import { type Launcher, launch, launchers } from '../../../support/launchers.ts';
import { job } from './support/jobs.ts';
import { blockLength, isReading } from './support/toy.ts';
import type { ToyResult, ToyRun } from './support/toy-job.ts';

/**
 * Bytes that a rank sends and receives: in a rotation all blocks pass by, if some are at home in other ranks;
 * those that are read do not go home.
 */
function bytesOf(ranks: number, grid: number, rank: number, rotations: number): [number, number] {
  const firsts = Array.from({ length: ranks + 1 }, (_, r) => Math.floor((r * grid) / ranks));
  const lengthOf = (first: number, end: number) => {
    let length = 0;
    for (let block = first; block < end; block++) length += blockLength(block);
    return length;
  };
  const homeOf = (owner: number) => lengthOf(firsts[owner], firsts[owner + 1]);
  const home = firsts[rank + 1] - firsts[rank];
  if (home === 0 || home === grid) return [0, 0];
  const before = (firsts[rank] - 1 + grid) % grid;
  const downstream = firsts.findLastIndex((first) => first <= before);
  const all = lengthOf(0, grid);
  let [sent, received] = [0, 0];
  for (let rotation = 0; rotation < rotations; rotation++) {
    // Weights and marks have 12 bytes.
    const each = rotation % 2 === 0 ? 12 : 8;
    sent += each * (all - (isReading(rotation) ? homeOf(downstream) : 0));
    received += each * (all - (isReading(rotation) ? homeOf(rank) : 0));
  }
  return [sent, received];
}

async function runJob(
  launcher: Launcher,
  ranks: number,
  runs: readonly ToyRun[],
  options: readonly string[] = [],
): Promise<void> {
  const program = job('toy', JSON.stringify(runs));
  const { code, stdout, stderr } = await launch(launcher, ranks, program, {}, options);
  expect(code, stderr).toBe(0);
  const results = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ToyResult);
  expect(results).toHaveLength(ranks * runs.length);
  for (const { grid, rotations, threads, rank, differences, sent, received } of results) {
    const where = `grid ${grid}, ${ranks} ranks of ${threads} threads, rank ${rank}`;
    expect(differences, where).toEqual([]);
    expect([sent, received], where).toEqual(bytesOf(ranks, grid, rank, rotations));
  }
}

describe.each(launchers)('$name', (launcher) => {
  const lack = launcher.path === undefined ? `${launcher.name} is not installed` : undefined;

  test.for([1, 2, 3, 4])('%i ranks compute what one would', async (ranks, { skip }) => {
    if (lack) skip(lack);
    const runs = [2, 3, 4, 5, 6, 7].map((grid) => ({
      grid,
      threads: 1 + ((grid + ranks) % 2),
      cores: 1,
      rotations: (grid === 4 ? 300 : 40) / (process.env.DSO_TEST_FULL ? 1 : 2),
    }));
    await runJob(launcher, ranks, runs);
  });
});

test('three hosts compute what one would', async ({ skip }) => {
  const [openMpi] = launchers;
  if (openMpi.path === undefined) skip('Open MPI is not installed');
  const lack = lackForHosts();
  if (lack) skip(lack);
  const hosts = makeHosts(3);
  onTestFinished(() => hosts.remove());
  const runs = [3, 5, 7].map((grid) => ({ grid, threads: 2, cores: 1, rotations: 60 }));
  await runJob(openMpi, 3, runs, hosts.openMpiOptions);
});

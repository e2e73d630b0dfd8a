/** Real MPI jobs: several processes, both families of libraries, and hosts of their own. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { executable, runDso } from '../support/command-line.ts';
import { lackForHosts, makeHosts } from '../support/hosts.ts';
import { launch, launchers } from '../support/launchers.ts';

const dso = [process.execPath, executable];

test('dso doctor without a launcher describes this machine', async () => {
  const { code, stdout } = await runDso(['doctor', '--json']);
  expect(code).toBe(0);
  const findings = JSON.parse(stdout.toString());
  expect(findings).toMatchObject({ node: process.version });
  expect(findings.cores).toBeGreaterThanOrEqual(findings.usable);
  expect((await runDso(['doctor'])).stdout.toString()).toMatch(/^Open MPI {2}/m);
});

describe.each(launchers)('$name', (launcher) => {
  const lack = launcher.path === undefined ? `${launcher.name} is not installed` : undefined;

  test('three ranks find each other and measure their links', async ({ skip }) => {
    if (lack) skip(lack);
    const { code, stdout, stderr } = await launch(launcher, 3, [...dso, 'doctor', '--json']);
    expect(code, stderr).toBe(0);
    // Rank 0 alone prints.
    expect(stdout.trim().split('\n')).toHaveLength(1);
    const { library, ranks, links } = JSON.parse(stdout);
    expect(library).toContain(launcher.name);
    expect(ranks.map(({ rank }: { rank: number }) => rank)).toEqual([0, 1, 2]);
    const pairs = links.map(({ from, to }: { from: number; to: number }) => [from, to]);
    expect(pairs).toEqual([
      [1, 0],
      [2, 1],
      [0, 2],
    ]);
    for (const { latency, bandwidth } of links) {
      expect(latency).toBeGreaterThan(0);
      expect(bandwidth).toBeGreaterThan(0);
    }
  });

  test('the library of another family is found out', async ({ skip }) => {
    const other = launchers.find(({ name }) => name !== launcher.name)!;
    if (lack) skip(lack);
    if (other.path === undefined) skip(`${other.name} is not installed`);
    const wrong = { DSO_MPI_LIBRARY: other.library };
    const { code, stderr } = await launch(launcher, 2, [...dso, 'doctor'], wrong);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /rank [01] on \S+: the launcher started 2 processes, but .* sees 1: launcher and library are of different kinds/,
    );
  });

  test('a library that is not there is named', async ({ skip }) => {
    if (lack) skip(lack);
    const wrong = { DSO_MPI_LIBRARY: '/nowhere/libmpi.so' };
    const { code, stderr } = await launch(launcher, 2, [...dso, 'doctor'], wrong);
    expect(code).not.toBe(0);
    expect(stderr).toContain('no MPI library can be loaded (/nowhere/libmpi.so');
    expect(stderr).toContain('DSO_MPI_LIBRARY');
  });
});

test('three hosts: what the ranks say crosses the network', async ({ skip }) => {
  const [openMpi] = launchers;
  if (openMpi.path === undefined) skip('Open MPI is not installed');
  const lack = lackForHosts();
  if (lack) skip(lack);
  const hosts = makeHosts(3);
  onTestFinished(() => hosts.remove());
  const before = hosts.addresses.map((_, host) => hosts.traffic(host));
  const program = [...dso, 'doctor', '--json'];
  const { code, stdout, stderr } = await launch(openMpi, 3, program, {}, hosts.openMpiOptions);
  expect(code, stderr).toBe(0);
  const { ranks } = JSON.parse(stdout);
  expect(ranks.map(({ host }: { host: string }) => host)).toEqual(['host1', 'host2', 'host3']);
  // Eight messages of 8 MiB each way; protocol and launcher add a little.
  const payload = 8 * 2 ** 23;
  hosts.addresses.forEach((_, host) => {
    const { sent, received } = hosts.traffic(host);
    for (const bytes of [sent - before[host].sent, received - before[host].received]) {
      expect(bytes).toBeGreaterThan(payload);
      expect(bytes).toBeLessThan(1.1 * payload);
    }
  });
});

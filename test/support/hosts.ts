import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from './temporary.ts';

/** Several hosts on one machine: network namespaces on a bridge. */
export interface Hosts {
  readonly addresses: readonly string[];
  /** Options for Open MPI's launcher that start one rank on each host, over the network only. */
  readonly openMpiOptions: readonly string[];
  /** Bytes that have left and reached a host. */
  traffic(host: number): { sent: number; received: number };
  remove(): void;
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

export interface HostOptions {
  /** For the files that launchers need; default: one that goes when the test ends. */
  readonly folder?: string;
  /** What a host can send at most, as `tc` takes it ("1gbit"). */
  readonly rate?: string;
}

function limit(name: string, rate: string): void {
  const bucket = `root tbf rate ${rate} burst 128kb latency 50ms`.split(' ');
  ip('netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', 'eth0', ...bucket);
}

/** Why hosts cannot be created here; undefined if they can. */
export function lackForHosts(): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  try {
    // Test files run at the same time: each has a name of its own.
    const name = `d${process.pid}probe`;
    ip('netns', 'add', name);
    try {
      ip('link', 'add', name, 'type', 'bridge');
      ip('link', 'delete', name);
      ip('-n', name, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
    } finally {
      ip('netns', 'delete', name);
    }
    return undefined;
  } catch (error) {
    return `no network namespaces here: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** A network 198.18.x or 198.19.x that no other process on this machine uses. */
function freeNetwork(): string {
  const taken = new Set(
    Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.map(({ address }) => address.replace(/\.\d+$/, '')),
    ),
  );
  for (let k = process.pid; k < process.pid + 512; k++) {
    const network = `198.${18 + ((k >> 8) % 2)}.${k % 256}`;
    if (!taken.has(network)) return network;
  }
  throw new Error('all networks for hosts are taken');
}

/**
 * Hosts .1, .2, … of a network that is reserved for benchmarks, each in a namespace of its own
 * with its own name.
 * Launchers log in by ssh; a replacement for it enters the namespace instead.
 */
export function makeHosts(
  count: number,
  { folder = temporaryFolder(), rate }: HostOptions = {},
): Hosts {
  // Names of links have 15 characters at most.
  const id = `d${process.pid}`;
  const network = freeNetwork();
  const names = Array.from({ length: count }, (_, k) => `${id}n${k + 1}`);
  const addresses = names.map((_, k) => `${network}.${k + 1}`);
  ip('link', 'add', `${id}b`, 'type', 'bridge');
  ip('addr', 'add', `${network}.254/24`, 'dev', `${id}b`);
  ip('link', 'set', `${id}b`, 'up');
  names.forEach((name, k) => {
    ip('netns', 'add', name);
    ip('link', 'add', `${id}v${k + 1}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', `${id}v${k + 1}`, 'master', `${id}b`, 'up');
    ip('-n', name, 'addr', 'add', `${addresses[k]}/24`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    if (rate !== undefined) limit(name, rate);
  });
  const agent = join(folder, 'agent');
  // Drops ssh's options, takes the address, and runs the rest inside the namespace.
  writeFileSync(
    agent,
    `#!/bin/sh
while [ "\${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec "${id}n\${host##*.}" unshare --uts sh -c "hostname host\${host##*.}; exec sh -c \\"\\$0\\"" "$*"
`,
  );
  chmodSync(agent, 0o755);
  const hostfile = join(folder, 'hosts');
  writeFileSync(hostfile, addresses.map((address) => `${address} slots=1\n`).join(''));
  const counter = (host: number, name: string) =>
    Number(readFileSync(`/sys/class/net/${id}v${host + 1}/statistics/${name}`, 'utf8'));
  return {
    addresses,
    openMpiOptions: [
      `--hostfile ${hostfile} --map-by node`,
      `--mca plm_rsh_agent ${agent} --mca oob_tcp_if_include ${network}.0/24`,
      `--mca btl tcp,self --mca btl_tcp_if_include ${network}.0/24`,
    ].flatMap((line) => line.split(' ')),
    // What the bridge's end of the cable receives is what the host sends.
    traffic: (host) => ({
      sent: counter(host, 'rx_bytes'),
      received: counter(host, 'tx_bytes'),
    }),
    remove() {
      for (const name of names) ip('netns', 'delete', name);
      ip('link', 'delete', `${id}b`);
    },
  };
}

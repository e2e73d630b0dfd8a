import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RingProbe } from '../../src/engine/processes/probe.ts';
import type { EpochEvent } from '../../src/train/events.ts';
import type { TrainReport } from '../../src/train/options/options.ts';
import { type Hosts, lackForHosts, makeHosts } from '../../test/support/hosts.ts';
import { launchers } from '../../test/support/launchers.ts';

const program = fileURLToPath(new URL('../../src/apps/cli/main.ts', import.meta.url));

/** A run of `dso train` on all hosts of a bed, one thread each. */
export interface BedRun {
  readonly report: TrainReport;
  readonly events: readonly EpochEvent[];
  /** Bytes that left the first host, by the counters of its network card. */
  readonly sent: number;
}

/** Several hosts on one machine, on a network of limited speed. */
export class Bed {
  readonly hosts: number;
  /** For the files of an experiment; goes with the bed. */
  readonly folder = mkdtempSync(join(tmpdir(), 'dso-bed-'));
  readonly #network: Hosts;

  constructor(hosts: number, rate: string) {
    this.hosts = hosts;
    this.#network = makeHosts(hosts, { folder: this.folder, rate });
  }

  /** Why there can be no bed here; undefined when there can. */
  static lack(): string | undefined {
    return launchers[0].path ? lackForHosts() : 'Open MPI (mpirun) is not installed';
  }

  /** Trains with these arguments; undefined if it takes longer than this many seconds. */
  async train(argv: readonly string[], seconds: number): Promise<BedRun | undefined> {
    const log = join(this.folder, 'log');
    const model = join(this.folder, 'model');
    const more = ['--threads', '1', '--json', '--quiet', '--log', log, '-o', model];
    const before = this.#network.traffic(0).sent;
    const output = await this.#launch(['train', ...argv, ...more], seconds);
    if (output === undefined) return undefined;
    const sent = this.#network.traffic(0).sent - before;
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    const events = lines.map((line) => JSON.parse(line) as EpochEvent & { event: string });
    return {
      report: JSON.parse(output) as TrainReport,
      events: events.filter(({ event }) => event === 'epoch'),
      sent,
    };
  }

  /** Latency and bandwidth of the links. */
  async probe(): Promise<RingProbe> {
    return JSON.parse((await this.#launch(['doctor', '--json'], 60)) ?? '') as RingProbe;
  }

  #launch(argv: readonly string[], seconds: number): Promise<string | undefined> {
    const [{ path = '', options }] = launchers;
    const where = [...options, ...this.#network.openMpiOptions, '-n', String(this.hosts)];
    const child = spawn(path, [...where, process.execPath, program, ...argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const timer = setTimeout(() => child.kill('SIGTERM'), 1000 * seconds);
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => {
        clearTimeout(timer);
        // 4: a limit ended training; anything but these two: it was ended from here.
        resolve(code === 0 || code === 4 ? output : undefined);
      });
    });
  }

  remove(): void {
    this.#network.remove();
    rmSync(this.folder, { recursive: true });
  }
}

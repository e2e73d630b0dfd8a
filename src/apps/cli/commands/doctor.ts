import { availableParallelism, cpus, hostname, totalmem } from 'node:os';
import packageDescription from '../../../../package.json' with { type: 'json' };
import { type Flavour, type Launch, launchOf } from '../../../engine/processes/launch.ts';
import { loadFfi, MpiLibrary } from '../../../engine/processes/mpi-library.ts';
import type { RingProbe } from '../../../engine/processes/probe.ts';
import { formatBytes, plural } from '../../../reporting/format.ts';
import { twoColumns } from '../../../reporting/table.ts';
import type { Action } from '../command.ts';
import { joinJob, settingsOfRanks } from '../job.ts';
import { type DoctorFlags, doctorOptions } from '../options.ts';
import type { Terminal } from '../terminal.ts';

export const doctorCommand: Action<DoctorFlags> = async ({ flags, terminal }) => {
  const launch = launchOf(terminal.io.environment);
  if (launch) await examineJob(launch, flags, terminal);
  else await examineMachine(flags, terminal);
};

async function examineMachine({ json }: DoctorFlags, terminal: Terminal): Promise<void> {
  const findings = {
    version: packageDescription.version,
    node: process.version,
    host: hostname(),
    usable: availableParallelism(),
    cores: cpus().length,
    memory: totalmem(),
    openmpi: await findLibrary('openmpi'),
    mpich: await findLibrary('mpich'),
  };
  const table = twoColumns([
    ['dso', `${findings.version} on Node ${findings.node}`],
    ['machine', `${findings.host}, ${describeCores(findings)}, ${formatBytes(findings.memory)}`],
    ['Open MPI', describeLibrary(findings.openmpi)],
    ['MPICH', describeLibrary(findings.mpich)],
  ]);
  await terminal.printResult(json, findings, () => table);
}

type Library = { readonly version: string } | { readonly lack: string };

/** The version of an installed library, or why there is none. */
async function findLibrary(flavour: Flavour): Promise<Library> {
  try {
    return { version: MpiLibrary.load(await loadFfi(), flavour, undefined).version };
  } catch (error) {
    return { lack: (error as Error).message };
  }
}

function describeLibrary(found: Library): string {
  return 'version' in found ? found.version : `– ${found.lack}`;
}

function describeCores({ usable, cores }: { usable: number; cores: number }): string {
  return usable === cores ? plural(cores, 'core') : `${usable} of ${plural(cores, 'core')} usable`;
}

async function examineJob(launch: Launch, flags: DoctorFlags, terminal: Terminal): Promise<void> {
  const { peerTimeout } = flags;
  const settings = settingsOfRanks('doctor', doctorOptions, flags);
  const group = await joinJob(launch, { peerTimeout, settings }, terminal);
  const probe = await group.probe();
  if (group.leads) await terminal.printResult(flags.json, probe, () => describeProbe(probe));
  await group.finalize();
}

function describeProbe({ library, ranks, links }: RingProbe): string {
  const lines = [`${library}: ${plural(ranks.length, 'rank')}`, ''];
  for (const { rank, host, usable, cores, memory, node } of ranks) {
    const machine = `${describeCores({ usable, cores })}, ${formatBytes(memory)}, Node ${node}`;
    lines.push(`rank ${rank}  ${host}  ${machine}`);
  }
  if (links.length > 0) lines.push('');
  for (const { from, to, latency, bandwidth } of links) {
    const rate = `${(bandwidth / 1e6).toFixed(0)} MB/s`;
    lines.push(`rank ${from} → rank ${to}  ${latency.toFixed(1)} µs, ${rate}`);
  }
  const bound = ranks.filter(({ usable, cores }) => usable < cores);
  if (bound.length > 0) {
    lines.push(
      '',
      `${plural(bound.length, 'rank')} may use fewer cores than the machine has: the launcher binds them`,
      '(Open MPI: mpirun --bind-to none, or --map-by slot:PE=<threads>)',
    );
  }
  return lines.join('\n');
}

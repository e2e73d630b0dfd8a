import type { Command } from 'commander';
import { positive } from '../arguments.ts';

export interface DoctorFlags {
  readonly json?: true;
  readonly peerTimeout: number;
}

const examples = `
Examples:
  dso doctor                               this machine
  mpirun -n 4 dso doctor                   every rank, and the links between them
  mpirun --bind-to none --hostfile hosts -n 3 dso doctor --json`;

export function defineDoctor(program: Command, run: (flags: DoctorFlags) => Promise<void>): void {
  program
    .command('doctor')
    .summary('check this machine, or under mpirun a cluster')
    .description(
      'Says what dso finds: cores, memory, an MPI library. Under an MPI launcher (mpirun, mpiexec,\n' +
        'srun) all ranks are asked, versions compared, and the links of the ring measured.',
    )
    .addHelpText('after', examples)
    .option('--json', 'print JSON')
    .option('--peer-timeout <seconds>', 'without an answer a rank counts as lost', positive, 60)
    .action((flags: DoctorFlags) => run(flags));
}

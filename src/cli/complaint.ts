import { hostname } from 'node:os';
import { type Flavour, launchOf } from '../mpi/launcher.ts';
import type { Terminal } from './terminal.ts';

/**
 * Milliseconds in which rank 0 may say what is wrong everywhere before another rank does, though
 * it starts late on a busy machine. MPICH's launcher does not end a process for another's failure
 * to begin: there all speak, and waiting is mostly in vain.
 */
const patience: Readonly<Record<Flavour, number>> = { openmpi: 10_000, mpich: 2000 };

/**
 * Whether this process is still to speak after some time, or when it is its `turn`. Open MPI's
 * launcher begins the end of a job, whatever the reason, by waking up all processes that may have
 * been stopped.
 */
export function hasToSpeak(milliseconds: number, turn?: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (result: boolean): void => {
      clearTimeout(timer);
      process.off('SIGCONT', hear);
      resolve(result);
    };
    const hear = (): void => settle(false);
    const timer = setTimeout(settle, milliseconds, true);
    process.on('SIGCONT', hear);
    void turn?.then(() => settle(true));
  });
}

/**
 * Says that a process could not even begin. Under a launcher all processes have been told the same,
 * and most faults are everybody's: once rank 0 has said so and ended, the launcher ends the others
 * before they repeat it. MPICH's lets them go on: there they keep a fault of the command line,
 * which is `common`, to themselves.
 */
export async function complain(
  message: string,
  terminal: Terminal,
  common: boolean,
): Promise<void> {
  const launch = launchOf(terminal.io.environment);
  if (!launch || launch.rank === 0) {
    terminal.error(message);
    return;
  }
  const { flavour } = launch;
  if ((common && flavour === 'mpich') || !(await hasToSpeak(patience[flavour]))) return;
  const name = `rank ${launch.rank} on ${hostname()}`;
  terminal.error(message.startsWith(name) ? message : `${name}: ${message}`);
}

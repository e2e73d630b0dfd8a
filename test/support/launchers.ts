import { execFile, execFileSync } from 'node:child_process';

export interface Launcher {
  readonly name: string;
  /** undefined where it is not installed. */
  readonly path: string | undefined;
  readonly library: string;
  /** What goes before -n. */
  readonly options: readonly string[];
}

function find(...names: string[]): string | undefined {
  for (const name of names) {
    try {
      return execFileSync('sh', ['-c', `command -v ${name}`])
        .toString()
        .trim();
    } catch {
      // The next name.
    }
  }
  return undefined;
}

const root = process.getuid?.() === 0;

/** The launchers of both families of MPI libraries. */
export const launchers: readonly Launcher[] = [
  {
    name: 'Open MPI',
    path: find('mpirun.openmpi'),
    library: 'libmpi.so.40',
    options: [...(root ? ['--allow-run-as-root'] : []), '--oversubscribe', '--bind-to', 'none'],
  },
  { name: 'MPICH', path: find('mpiexec.mpich'), library: 'libmpich.so.12', options: [] },
];

/**
 * Open MPI's launcher ends a job by SIGCONT, SIGTERM and SIGKILL, and sleeps for N seconds
 * after each of the first two, whether or not anybody is left. Jobs with something to do in that
 * time, or that could say something wrong in it, get the launcher's own second or more.
 */
export function graceOf(seconds: number): Readonly<Record<string, string>> {
  return { OMPI_MCA_odls_base_sigkill_timeout: String(seconds) };
}

/**
 * What every job gets. Other tests create and remove network devices at the same time; UCX, below
 * MPICH, fails if one that it has listed is gone, so it is given the one that stays.
 */
export const jobEnvironment = { ...graceOf(0), UCX_NET_DEVICES: 'lo' };

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Milliseconds after which a hanging process is killed; long enough for a busy machine. */
const killTimeout = 300_000;

/** Runs a program under a launcher. */
export function launch(
  { path, options }: Launcher,
  ranks: number,
  program: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): Promise<Ended> {
  if (path === undefined) throw new Error('the launcher is not installed');
  const args = [...options, ...more, '-n', String(ranks), ...program];
  return new Promise((resolve) => {
    execFile(
      path,
      args,
      {
        env: { ...process.env, ...jobEnvironment, ...environment },
        timeout: killTimeout,
        killSignal: 'SIGKILL',
      },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr });
      },
    );
  });
}

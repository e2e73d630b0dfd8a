import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { executable } from './command-line.ts';
import { jobEnvironment, type Launcher } from './launchers.ts';

export interface JobOptions {
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What each rank starts in front of the program. */
  readonly wrapper?: readonly string[];
  /** More options of the launcher. */
  readonly more?: readonly string[];
  /** Instead of the built package. */
  readonly program?: string;
  /** Arguments of one more rank, the last one. */
  readonly lastRank?: readonly string[];
}

export interface EndedJob {
  /** As the launcher makes it; null if a signal ended that. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What the ranks said, without what launcher and library added. */
  readonly said: string;
}

export interface Job {
  readonly launcher: ChildProcess;
  /** The process of a rank, once it runs. */
  processOf(rank: number): number;
  /** Those of its processes that are still there. */
  remaining(): number[];
  readonly ended: Promise<EndedJob>;
  /** Resolves when standard error matches; rejects if the job ends before. */
  saw(pattern: RegExp): Promise<void>;
  /** Ends the processes that still run, and no others. */
  kill(): void;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function childrenOf(parent: number): number[] {
  const children = textOf(`/proc/${parent}/task/${parent}/children`);
  return children.split(' ').filter(Boolean).map(Number);
}

function descendantsOf(parent: number): number[] {
  return childrenOf(parent).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** A process that has ended may still be listed. */
function isRunning(number: number): boolean {
  return /^State:\s+[^ZX]/m.test(textOf(`/proc/${number}/status`));
}

/** Open MPI and MPICH draw lines, quote themselves and repeat codes. */
const launcherLine =
  /^(?:-+$|\[\S+\] |Abort\(\d+\) |MPI_ABORT|NOTE: invoking|You may or may|exactly when|with errorcode|Primary job|a non-zero exit|\S*mpirun\S* |the job to be|\s+Process name|\s+Exit code|=|\s*$)/;

function ownLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => !launcherLine.test(line))
    .join('\n');
}

/** Starts `dso …` in several ranks. */
export function launchJob(
  { path, options }: Launcher,
  ranks: number,
  args: readonly string[],
  { folder, environment = {}, wrapper = [], more = [], program = executable, lastRank }: JobOptions,
): Job {
  const start = [...wrapper, process.execPath, program];
  const last = lastRank ? [':', '-n', '1', ...start, ...lastRank] : [];
  const all = [...options, ...more, '-n', String(ranks), ...start, ...args, ...last];
  const child = spawn(path as string, all, {
    cwd: folder,
    env: { ...process.env, ...jobEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen = new Set<number>();
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const members = () => {
    for (const number of descendantsOf(child.pid as number)) seen.add(number);
    return [...seen];
  };
  const remaining = () => members().filter(isRunning);
  const ended = new Promise<EndedJob>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr, said: ownLines(stderr) }));
  });
  const saw = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!pattern.test(stderr)) return;
        members();
        resolve();
      };
      child.stderr.on('data', check);
      child.on('close', () => reject(new Error(`ended before ${pattern}:\n${stderr}`)));
      check();
    });
  const kill = () => {
    for (const number of [child.pid as number, ...remaining()]) {
      if (isRunning(number)) process.kill(number, 'SIGKILL');
    }
  };
  const processOf = (rank: number) => {
    const mark = new RegExp(`(?:^|\\0)(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=${rank}\\0`);
    const found = members().filter((number) => mark.test(textOf(`/proc/${number}/environ`)));
    if (found.length === 0) throw new Error(`no process of rank ${rank}`);
    return found[0];
  };
  return { launcher: child, processOf, remaining, ended, saw, kill };
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The executable of the built package. */
export const executable = fileURLToPath(new URL('../../bin/dso.js', import.meta.url));

export interface RunOptions {
  /** What standard input holds; nothing by default. */
  readonly input?: string | Uint8Array;
  /** Standard input stays open, for the test to write to. */
  readonly openInput?: boolean;
  readonly folder?: string;
  readonly environment?: Record<string, string>;
  /** The Node that runs the command; this process's own by default. */
  readonly node?: string;
  /** A process group of its own, to which a signal can be sent as a terminal does. */
  readonly ownGroup?: boolean;
}

export interface Finished {
  /** null if a signal ended it. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly finished: Promise<Finished>;
  /** Resolves when standard error matches; rejects if the process ends before. */
  saw(pattern: RegExp): Promise<void>;
}

/** Starts `dso …` as a process of its own. */
export function startDso(args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(options.node ?? process.execPath, [executable, ...args], {
    cwd: options.folder,
    detached: options.ownGroup,
    env: { ...process.env, ...options.environment },
  });
  const stdout: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  // A letter such as λ may come in two pieces.
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // The command may end without reading its input.
  child.stdin.on('error', () => {});
  if (!options.openInput) child.stdin.end(options.input ?? '');
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr }));
  });
  const saw = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (pattern.test(stderr)) resolve();
      };
      child.stderr.on('data', check);
      child.on('close', () => reject(new Error(`ended before ${pattern}:\n${stderr}`)));
      check();
    });
  return { process: child, finished, saw };
}

/** Runs `dso …` to its end. */
export function runDso(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return startDso(args, options).finished;
}

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface ProcessResult {
  readonly seconds: number;
  /** Largest resident size; undefined if the system does not report it. */
  readonly peakBytes: number | undefined;
  /** Seconds until it printed the mark; undefined if it did not. */
  readonly marked?: number | undefined;
}

export interface ProcessOptions {
  readonly watchMemory?: boolean;
  /** Exit codes that are no failure; default: 0. */
  readonly codes?: readonly number[];
  /** A text of its output whose time is wanted. */
  readonly mark?: string;
  /** Seconds after which it is ended, which is no failure; default: none. */
  readonly limit?: number;
}

const program = fileURLToPath(new URL('../bin/dso.js', import.meta.url));
/** The system records the peak, so occasional polling is enough. */
const pollMilliseconds = 5;

export function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version']).error === undefined;
}

function peakOf(pid: number): number | undefined {
  try {
    const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? 1024 * Number(found[1]) : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a program to its end; what it prints is of no interest, except a mark, unless it fails. */
export function runProcess(
  command: string,
  argv: readonly string[],
  { watchMemory = false, codes = [0], mark, limit }: ProcessOptions = {},
): Promise<ProcessResult> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const now = () => (performance.now() - start) / 1000;
    const child = spawn(command, argv, { stdio: ['ignore', mark ? 'pipe' : 'ignore', 'pipe'] });
    let errors = '';
    let peakBytes: number | undefined;
    let marked: number | undefined;
    const look = () => {
      peakBytes = peakOf(child.pid ?? 0) ?? peakBytes;
    };
    const timer = watchMemory ? setInterval(look, pollMilliseconds) : undefined;
    const end = limit ? setTimeout(() => child.kill('SIGKILL'), 1000 * limit) : undefined;
    child.stdout?.on('data', (text) => {
      if (mark && String(text).includes(mark)) marked ??= now();
    });
    child.stderr?.on('data', (text) => {
      errors += text;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearInterval(timer);
      clearTimeout(end);
      const ended = limit !== undefined && signal === 'SIGKILL';
      if (ended || codes.includes(code ?? -1)) resolve({ seconds: now(), peakBytes, marked });
      else reject(new Error(`${command} ${argv.join(' ')} ended with code ${code}:\n${errors}`));
    });
  });
}

/** The command line tool as a user has it. */
export function runDso(argv: readonly string[], options?: ProcessOptions): Promise<ProcessResult> {
  return runProcess(process.execPath, [program, ...argv], options);
}

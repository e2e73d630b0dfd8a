import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A limit that the system enforces on a process and its threads: beyond it, the process is killed. */
export interface MemoryCap {
  /** A shell command that brings the shell under the limit. */
  readonly enter: string;
  release(): void;
}

const root = '/sys/fs/cgroup';

/** A control group limited to N bytes; undefined, with a reason, where none can be created. */
export function capMemory(bytes: number): MemoryCap | string {
  const second = existsSync(join(root, 'cgroup.controllers'));
  const parent = second ? root : join(root, 'memory');
  const folder = join(parent, `dso-test-${process.pid}-${Math.floor(performance.now())}`);
  const limit = second ? 'memory.max' : 'memory.limit_in_bytes';
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, limit), String(bytes));
    const known = Number(readFileSync(join(folder, limit), 'utf8'));
    if (!(known <= bytes)) throw new Error(`${limit} is ${known} instead of ${bytes}`);
    return {
      enter: `echo $$ > ${join(folder, 'cgroup.procs')}`,
      release: () => rmdirSync(folder),
    };
  } catch (error) {
    if (existsSync(folder)) rmdirSync(folder);
    return `no control group for memory: ${(error as Error).message}`;
  }
}

/** The largest resident size of a process so far, in bytes; 0 where it has ended. */
export function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

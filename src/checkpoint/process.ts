import { readFileSync } from 'node:fs';

/**
 * Whether a process of this machine is there. With the moment it began, another process that has
 * got its number since is told from it, where the system has /proc.
 */
export function isAlive(pid: number, began?: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  const found = beginningOf(pid);
  if (found !== undefined) return began === undefined ? found >= 0 : found === began;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * When a process began, in clock ticks since the machine was started; −1 for one that has ended but
 * is still listed, undefined if unknown.
 */
export function beginningOf(pid: number): number | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold anything; then come the state and, 19 fields on, the start.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return /[ZX]/.test(fields[0]) ? -1 : Number(fields[19]);
}

import { readdirSync, readFileSync } from 'node:fs';

/** Seconds that all threads of a process have had; NaN if the system does not report it. */
export function processorTime(pid: number): number {
  const fields = statOf(pid);
  return fields ? (Number(fields[11]) + Number(fields[12])) / 100 : Number.NaN;
}

/** Seconds that the thread which a process began with has had, to the nanosecond. */
export function firstThreadTime(pid: number): number {
  return threadTime(pid, String(pid)) ?? Number.NaN;
}

/**
 * Seconds of a process with all that it has started, which for a browser is dozens of threads that
 * do little each: counted in nanoseconds, where ticks would miss most of it. Those that have ended
 * count no more.
 */
export function familyTime(root: number): number {
  try {
    return familyOf(root).reduce((sum, pid) => sum + threadsTime(pid), 0);
  } catch {
    return Number.NaN;
  }
}

function familyOf(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(statOf(Number(name))?.[1])] as const);
  const family = [root];
  for (const member of family) {
    for (const [pid, parent] of parents) if (parent === member) family.push(pid);
  }
  return family;
}

function threadsTime(pid: number): number {
  let sum = 0;
  for (const thread of namesIn(`/proc/${pid}/task`)) sum += threadTime(pid, thread) ?? 0;
  return sum;
}

function threadTime(pid: number, thread: string): number | undefined {
  const text = textOf(`/proc/${pid}/task/${thread}/schedstat`);
  return text === undefined ? undefined : Number(text.split(' ')[0]) / 1e9;
}

/** From the state on: the name before it may hold anything. */
function statOf(pid: number): string[] | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** The process may have ended. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

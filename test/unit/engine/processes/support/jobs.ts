import { fileURLToPath } from 'node:url';

/** One of the programs beside this file. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(`./${name}-job.ts`, import.meta.url));
}

/** How a launcher starts it. */
export function job(name: string, ...args: string[]): string[] {
  return [process.execPath, pathOf(name), ...args];
}

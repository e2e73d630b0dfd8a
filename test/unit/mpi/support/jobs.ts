import { fileURLToPath } from 'node:url';

/** How a launcher starts one of the programs beside this file. */
export function job(name: string, ...args: string[]): string[] {
  return [process.execPath, fileURLToPath(new URL(`./${name}-job.ts`, import.meta.url)), ...args];
}

import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { filesOfSource } from '../train/read-dataset.ts';

/** What `-` stands for: standard input as a source, standard output as a target. */
export const standardStream = '-';

/**
 * Refuses an output path before any work is done for it: its folder has to exist and to take new
 * files, and it must be neither one of the inputs nor another output.
 */
export function checkOutput(
  option: string,
  path: string,
  inputs: readonly string[],
  outputs: readonly string[] = [],
): void {
  if (path === standardStream) return;
  const folder = dirname(path);
  const refuse = (reason: string): never => {
    throw new UsageError(`${option} ${path}: ${reason}`);
  };
  if (!isFolder(folder)) refuse(`there is no folder ${folder}`);
  if (isFolder(path)) refuse('that is a folder; wanted the name of a file');
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    refuse(`no permission to write into the folder ${folder}`);
  }
  const same = (other: string) => other !== standardStream && realPath(other) === realPath(path);
  if (inputs.flatMap(filesOf).some(same)) refuse('that is also an input, which it would replace');
  const pattern = inputs.find((input) => isPatternOf(input, path));
  if (pattern !== undefined) {
    refuse(`the pattern ${pattern} matches it, and the next run would take it for data`);
  }
  if (outputs.some(same)) refuse('that is where another output goes; choose another name');
}

/** Whether an input is a pattern that an output's name fits. */
function isPatternOf(input: string, path: string): boolean {
  if (!/[*?[{]/.test(input) || existsSync(input)) return false;
  return matchesGlob(resolve(path), resolve(input));
}

/** The files that an input stands for; one that is not there will be missed when it is read. */
function filesOf(input: string): string[] {
  try {
    return filesOfSource(input);
  } catch {
    return [input];
  }
}

/** At most one thing can go to standard output. */
export function checkStandardOutput(uses: Readonly<Record<string, boolean>>): void {
  const users = Object.keys(uses).filter((option) => uses[option]);
  if (users.length > 1) {
    throw new UsageError(`${users.join(' and ')} both want standard output; choose one`);
  }
}

/** Standard input can be read only once. */
export function checkStandardInput(sources: readonly (string | undefined)[]): void {
  if (sources.filter((source) => source === standardStream).length > 1) {
    throw new UsageError('- can be given for one input only: there is one standard input');
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The path without links, also for a file that does not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return isFolder(folder) ? join(realpathSync(folder), basename(path)) : path;
  }
}

/** The files that a command line names: whether they can be used, and the bytes of small ones. */
import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { compressionOf, decompress } from '../../data/read/byte-blocks.ts';
import { filesOfSource, nameOfSource, titleOfSource } from '../../data/read/sources.ts';
import { UsageError } from '../../errors.ts';
import {
  explainAccess,
  makeFolders,
  tryOutput,
  writeAtomically,
  writeProblemOf,
} from '../../files.ts';
import type { Terminal } from './terminal.ts';

/** What `-` means: standard input as a source, standard output as a target. */
export const standardStream = '-';

/** `data/train.svm` → `train.svm.model` in the current folder. */
export function defaultModelPath(data: string): string {
  return `${nameOfSource(data)}.model`;
}

export function savedModel(path: string): { readonly path: string; readonly bytes: number } {
  return { path, bytes: isStandard(path) ? 0 : statSync(path).size };
}

/**
 * Refuses inputs and outputs that exclude each other, before anything is read. `outputs` are paths
 * by option; with `json` the result goes to standard output.
 */
export function checkFiles(
  inputs: readonly (string | undefined)[],
  outputs: Readonly<Record<string, string | undefined>> = {},
  json = false,
): void {
  const sources = inputs.filter((input) => input !== undefined);
  if (sources.filter(isStandard).length > 1) {
    throw new UsageError('- can be given for one input only: there is one standard input');
  }
  const targets = Object.entries(outputs).filter((target) => target[1] !== undefined);
  const users = targets.flatMap(([option, path]) => (isStandard(path) ? [`${option} -`] : []));
  if (json) users.push('--json');
  if (users.length > 1) {
    throw new UsageError(`${users.join(' and ')} both use standard output; choose one`);
  }
  const before: string[] = [];
  for (const [option, path] of targets as [string, string][]) {
    checkOutput(option, path, sources, before);
    before.push(path);
  }
}

function isStandard(path: string | undefined): boolean {
  return path === standardStream;
}

/**
 * Refuses an output path before any work is done for it: a file must be writable there, and it must
 * be neither one of the inputs nor another output.
 */
export function checkOutput(
  option: string,
  path: string,
  inputs: readonly string[] = [],
  outputs: readonly string[] = [],
): void {
  if (isStandard(path)) return;
  const folder = dirname(path);
  const refuse = (reason: string): never => {
    throw new UsageError(`${option} ${path}: ${reason}`);
  };
  if (!isFolder(folder)) refuse(`there is no folder ${folder}`);
  if (isFolder(path)) refuse('that is a folder; expected the name of a file');
  if (/^$|[/\\]$/.test(path)) refuse('expected the name of a file');
  const problem = outputProblem(path);
  if (problem !== undefined) refuse(`it cannot be written: ${problem}`);
  const same = (other: string) => !isStandard(other) && realPath(other) === realPath(path);
  if (inputs.flatMap(filesOf).some(same)) refuse('that is also an input, which it would replace');
  const pattern = inputs.find((input) => isPatternOf(input, path));
  if (pattern !== undefined) {
    refuse(`the pattern ${pattern} matches it, and the next run would take it for data`);
  }
  if (outputs.some(same)) refuse('that is where another output goes; choose another name');
}

function isPatternOf(input: string, path: string): boolean {
  if (!/[*?[{]/.test(input) || existsSync(input)) return false;
  return matchesGlob(resolve(path), resolve(input));
}

/** What an action returns, or undefined if it fails. */
export function attempt<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** The files that an input names. Reading reports one that does not exist. */
function filesOf(input: string): string[] {
  return attempt(() => filesOfSource(input)) ?? [input];
}

function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory()) ?? false;
}

/** Why a file cannot be written to this path, if so. */
export function outputProblem(path: string): string | undefined {
  try {
    tryOutput(path);
    return undefined;
  } catch (error) {
    return writeProblemOf(error) ?? (error as Error).message;
  }
}

/** Makes a folder and makes sure that files can be written into it. */
export function makeFolder(folder: string, title = folder): void {
  try {
    makeFolders(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    const reason = isFile ? 'that is a file' : (writeProblemOf(cause) ?? (cause as Error).message);
    throw new UsageError(`${title}: ${reason}; expected a folder`, { cause });
  }
  const problem = outputProblem(join(folder, 'file'));
  if (problem !== undefined) {
    throw new UsageError(`${title}: no file can be written into it: ${problem}`);
  }
}

/** The path without links, also for a file that does not exist yet. */
function realPath(path: string): string {
  const inFolder = () => join(realpathSync(dirname(path)), basename(path));
  return attempt(() => realpathSync(path)) ?? attempt(inFolder) ?? path;
}

/** The bytes of a file or of standard input, decompressed. */
export async function readBytes(path: string): Promise<Buffer> {
  const name = titleOfSource(path);
  try {
    const packed = await buffer(isStandard(path) ? process.stdin : createReadStream(path));
    return await buffer(decompress(Readable.from([packed]), compressionOf(packed, name), name));
  } catch (error) {
    throw explainAccess(error, name);
  }
}

/** The lines of a text file, plain, .gz or .zst, without their line ends. */
export async function readLines(path: string): Promise<string[]> {
  const lines = (await readBytes(path)).toString('utf8').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Writes a file, or prints its pieces as long as they are read. */
export async function writePieces(
  target: string,
  pieces: Iterable<string | Uint8Array>,
  terminal: Terminal,
): Promise<void> {
  if (isStandard(target)) {
    for (const piece of pieces) {
      if (terminal.outputClosed) return;
      await terminal.printFile(piece);
    }
    return;
  }
  await writeAtomically(target, async (file) => {
    for (const piece of pieces) await file.write(piece);
  });
}

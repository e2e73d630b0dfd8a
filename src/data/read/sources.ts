// As a whole: Node 20 could not link globSync by name, nor then say that it is too old.
import fs, { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DataError, UsageError } from '../../errors.ts';

/**
 * Where data comes from: a file, a pattern of files (`part-*.svm`), standard input (`-`), or
 * several files and patterns, whose rows follow one another.
 */
export type DataSource = string | readonly string[];

export const standardInput = '-';

const patternCharacters = /[*?[{]/;
const unsafeCharacters = /[^\p{L}\p{N}._+=@%-]+/gu;

/** The files in the order of their rows; a pattern gives its matches by name, unless it exists. */
export function filesOfSource(source: DataSource): string[] {
  if (typeof source === 'string') return expand(source);
  if (source.length === 0) throw new UsageError('a list of no files; expected at least one');
  if (source.length > 1 && source.includes(standardInput)) {
    throw new UsageError('standard input (-) in a list of files; expected it alone');
  }
  return source.flatMap(expand);
}

function expand(pattern: string): string[] {
  if (!isPattern(pattern)) return [pattern];
  const found = fs.globSync(pattern).filter((path) => !isFolder(path));
  if (found.length === 0) throw new DataError(`${pattern}: no file matches`);
  return found.sort(comparePaths);
}

function isPattern(source: string): boolean {
  return patternCharacters.test(source) && !existsSync(source);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** By code units, whatever the locale, but runs of digits by their number: part-2, part-10. */
export function comparePaths(left: string, right: string): number {
  const ours = left.match(/\d+|\D/g) ?? [];
  const theirs = right.match(/\d+|\D/g) ?? [];
  const shorter = Math.min(ours.length, theirs.length);
  for (let index = 0; index < shorter; index += 1) {
    const order = compareTokens(ours[index], theirs[index]);
    if (order !== 0) return order;
  }
  // 01 and 1 are the same number, but not the same name.
  return ours.length - theirs.length || compareText(left, right);
}

function compareTokens(left: string, right: string): number {
  if (!(/\d/.test(left) && /\d/.test(right))) return compareText(left, right);
  const [ours, theirs] = [left, right].map((digits) => digits.replace(/^0+/, ''));
  return ours.length - theirs.length || compareText(ours, theirs);
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** What messages call the source. */
export function titleOfSource(source: DataSource): string {
  if (typeof source !== 'string') {
    const others = source.length - 1;
    const more = others === 0 ? '' : ` and ${others} more ${others === 1 ? 'file' : 'files'}`;
    return `${titleOfSource(source[0])}${more}`;
  }
  return source === standardInput ? 'standard input' : source;
}

/**
 * A name for files made from the source, without its folder: `data/train.svm` → `train.svm`. In a
 * pattern, unsafe characters become `_` (`part-*.svm` → `part-_.svm`), and a pattern of nothing else
 * is named by its folder (`data/*` → `data`). Standard input is `dso`; of several files the first counts.
 */
export function nameOfSource(source: DataSource): string {
  if (typeof source !== 'string') return nameOfSource(source[0] ?? standardInput);
  if (source === standardInput) return 'dso';
  if (!isPattern(source)) return basename(source);
  for (let path = source; ; path = dirname(path)) {
    const name = basename(path).replaceAll(unsafeCharacters, '_');
    if (/[^_.]/.test(name)) return name;
    if (path === dirname(path)) return 'dso';
  }
}

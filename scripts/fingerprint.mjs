import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Every file at or below the given paths, in a fixed order. Paths that do not exist are left out,
 * so creating one later changes the fingerprint.
 *
 * @param {readonly string[]} paths
 * @returns {string[]}
 */
export function filesBelow(paths) {
  /** @type {string[]} */
  const files = [];
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const entries = readdirSafely(path);
    if (entries === undefined) files.push(path);
    else files.push(...filesBelow(entries.toSorted().map((entry) => join(path, entry))));
  }
  return files;
}

/** @param {string} path @returns {string[] | undefined} */
function readdirSafely(path) {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** @param {string | Buffer} content @returns {string} */
export function fingerprint(content) {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * One hash over names and contents of all files at or below the paths.
 *
 * @param {readonly string[]} paths
 * @param {string} [salt] anything else that the result depends on, such as a tool's version
 * @returns {string}
 */
export function fingerprintOf(paths, salt = '') {
  const lines = filesBelow(paths).map((file) => `${fingerprint(readFileSync(file))} ${file}`);
  return fingerprint([salt, ...lines].join('\n'));
}

/** @param {string} stampFile @returns {string | undefined} */
export function readStamp(stampFile) {
  return existsSync(stampFile) ? readFileSync(stampFile, 'utf8') : undefined;
}

/** @param {string} stampFile @param {string} stamp */
export function writeStamp(stampFile, stamp) {
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, stamp);
}

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** @param {string} file @returns {string | undefined} undefined if there is none */
export function readSource(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/**
 * Written aside first, so that a program running meanwhile never sees half a file.
 *
 * @param {string} file
 * @param {string | Uint8Array} content
 */
export function write(file, content) {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

import { createHash, type Hash } from 'node:crypto';
import { DataError } from '../errors.ts';

/**
 * Names of features in several files. Names come behind the rows, so those of the first file that
 * has some are kept until the rows of all files are through; the other files must have the same.
 */
export class NameLines {
  readonly #pieces: Uint8Array[] = [];
  readonly #hashes = new Map<string, Hash>();
  #first: string | undefined;

  add(path: string, lines: Uint8Array): void {
    this.#first ??= path;
    if (path === this.#first) this.#pieces.push(lines);
    const hash = this.#hashes.get(path) ?? createHash('sha256');
    this.#hashes.set(path, hash.update(lines));
  }

  /** The lines, once all files have been read. */
  take(): readonly Uint8Array[] {
    const digests = [...this.#hashes].map(([path, hash]) => ({ path, digest: hash.digest('hex') }));
    const other = digests.find(({ digest }) => digest !== digests[0].digest);
    if (other) {
      const message = `its names of features are not those of ${this.#first}`;
      throw new DataError(`${other.path}: ${message}; expected the same in all files`);
    }
    return this.#pieces;
  }
}

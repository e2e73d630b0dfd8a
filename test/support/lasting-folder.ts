import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { removeFolder } from './temporary.ts';

/**
 * Called once per test file. The result makes new folders that are removed after the last test of
 * the file. Concurrent tests use it, since vitest cannot tell which of them called.
 */
export function lastingFolders(): () => string {
  let root: string | undefined;
  let count = 0;
  afterAll(() => {
    if (root !== undefined) removeFolder(root);
  });
  return () => {
    root ??= mkdtempSync(join(tmpdir(), 'dso-test-'));
    const folder = join(root, String(++count));
    mkdirSync(folder);
    return folder;
  };
}

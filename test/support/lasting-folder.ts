import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { removeFolder } from './temporary.ts';

let root: string | undefined;
let count = 0;

afterAll(() => {
  if (root !== undefined) removeFolder(root);
});

/**
 * A new folder that is gone after the tests of the file. Which of them asks cannot be known where
 * they run beside one another, so that none can clean up behind itself.
 */
export function lastingFolder(): string {
  root ??= mkdtempSync(join(tmpdir(), 'dso-test-'));
  const folder = join(root, String(++count));
  mkdirSync(folder);
  return folder;
}

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary.ts';

const attack = pathToFileURL(join(import.meta.dirname, '..', '..', 'fuzz', 'attack.ts')).href;

/** Attacks a target that never ends with its third input. */
const program = `
  import { attack } from '${attack}';
  let inputs = 0;
  const attempt = async () => {
    inputs += 1;
    while (inputs === 3);
  };
  const target = { summary: '', quick: 1, mostSeconds: 1, open: async () => ({ attempt, counts: new Map() }) };
  await attack(target, process.argv[2], { seed: 7, first: 40, inputs: 10, seconds: 100 });
`;

test('an input without an end is named, and ends the run', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'endless.mjs');
  writeFileSync(file, program);
  const argv = [file, join(folder, 'fuzz')];
  const { signal, stderr } = spawnSync(process.execPath, argv, {
    encoding: 'utf8',
    // If it does not end by itself.
    timeout: 120_000,
  });
  expect(stderr).toContain('FAILED  input 42 of seed 7: it takes more than 1 s of work');
  expect(signal).toBe('SIGKILL');
});

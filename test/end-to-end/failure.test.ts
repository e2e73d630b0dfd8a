import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

test('a failure in threads that wait for each other: its message, exit code 1, no model', async () => {
  const folder = temporaryFolder();
  // Labels whose squares overflow, so that the objective cannot be finite.
  const text = '1e300 1:3e38 2:3e38\n-1e308 1:-3e38\n1e308 2:1\n-1e308 1:2\n';
  writeFileSync(join(folder, 'wild.svm'), text);
  const command = ['train', 'wild.svm', '--loss', 'square', '--grid', '2', '--threads', '2'];
  for (let run = 0; run < 5; run++) {
    const { code, stderr } = await runDso([...command, '--quiet', '-o', 'wild.model'], { folder });
    expect(stderr).toContain('dso: the objective is no longer finite');
    expect(code).toBe(1);
  }
  expect(existsSync(join(folder, 'wild.model'))).toBe(false);
});

test.runIf(existsSync('/dev/full'))(
  'a log that cannot be written is an error in the end',
  async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'train.svm'), sampleText({ rows: 100, columns: 20, perRow: 4 }));
    const command = ['train', 'train.svm', '--quiet', '--log', '/dev/full', '-o', 'written.model'];
    const { code, stderr } = await runDso(command, { folder });
    expect(stderr).toContain('/dev/full: the log is incomplete; the model is in written.model');
    expect(code).toBe(1);
    expect(existsSync(join(folder, 'written.model'))).toBe(true);
  },
);

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { executable, runDso, startDso } from '../support/command-line.ts';
import { sampleText } from '../support/sample-text.ts';
import { temporaryFolder } from '../support/temporary.ts';

async function trainedFolder(rows: number): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'd.svm'), sampleText({ rows, columns: 50, perRow: 5 }));
  const run = await runDso(['train', 'd.svm', '-o', 'm', '--quiet'], { folder });
  expect(run, run.stderr).toMatchObject({ code: 0, stderr: '' });
  return folder;
}

describe('a reader that leaves', () => {
  test('predict ends silently, as in `dso predict … | head -1`', async () => {
    const folder = await trainedFolder(30_000);
    const running = startDso(['predict', 'm', 'd.svm', '--scores'], { folder });
    running.process.stdout.once('data', () => running.process.stdout.destroy());
    const run = await running.finished;
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
  });

  test('training continues when its progress is not read', async () => {
    const folder = await trainedFolder(200);
    const running = startDso(['train', 'd.svm', '-o', 'n', '--json'], { folder });
    running.process.stderr.destroy();
    const run = await running.finished;
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout.toString()).stopped).toBe('converged');
  });
});

describe('colours', () => {
  const colour = /\[\d+m/;

  test('none without a terminal', async () => {
    const run = await runDso(['train', 'none.svm'], { environment: { NO_COLOR: '' } });
    expect(run.stderr).toContain('none.svm');
    expect(run.stderr).not.toMatch(colour);
  });

  describe('on a terminal', () => {
    let canPretend = false;

    beforeAll(() => {
      canPretend = spawnSync('script', ['--version']).status === 0;
    });

    /** Runs `dso …` on a pseudo-terminal; util-linux' `script` makes one. */
    function onTerminal(args: string, environment: Record<string, string>): string {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'd.svm'), sampleText({ rows: 200, columns: 50, perRow: 5 }));
      const command = `"${process.execPath}" "${executable}" ${args}`;
      const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
        cwd: folder,
        env: { ...process.env, TERM: 'xterm', ...environment },
      });
      return stdout.toString();
    }

    test('the live line and errors are coloured, unless NO_COLOR is set', ({ skip }) => {
      if (!canPretend) skip('no `script` command to make a pseudo-terminal with');
      const coloured = onTerminal('train d.svm', { NO_COLOR: '' });
      expect(coloured).toContain('\r\u001b[K');
      expect(coloured).toMatch(colour);
      expect(coloured).toContain('of the optimum');
      const plain = onTerminal('train d.svm', { NO_COLOR: '1' });
      expect(plain).toContain('of the optimum');
      expect(plain).not.toMatch(colour);
      expect(onTerminal('train none.svm', { NO_COLOR: '' })).toContain('\u001b[31mdso:');
    });
  });
});

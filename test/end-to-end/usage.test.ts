import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { runHere } from '../support/run-here.ts';

const lastingFolder = lastingFolders();

describe('help and version', () => {
  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    const { stdout, ...rest } = await runDso(['--version']);
    expect(rest).toEqual({ code: 0, stderr: '' });
    expect(stdout.toString()).toBe(`${version}\n`);
  });

  test('--help lists every command', async () => {
    const { code, stdout } = await runHere(['--help']);
    expect(code).toBe(0);
    for (const name of ['train', 'predict', 'evaluate', 'inspect', 'generate', 'demo']) {
      expect(stdout.toString()).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
  });

  test.each(['train', 'predict', 'evaluate', 'inspect', 'generate'])(
    '%s --help has examples',
    async (name) => {
      const { code, stdout } = await runHere([name, '--help']);
      expect(code).toBe(0);
      expect(stdout.toString()).toContain(`Examples:\n  dso ${name} `);
    },
  );

  test('no command at all shows the help and is an error', async () => {
    const { code, stdout, stderr } = await runDso([]);
    expect(code).toBe(2);
    expect(stdout.length).toBe(0);
    expect(stderr).toContain('Usage: dso');
  });
});

describe('usage errors: exit code 2 and a hint, on standard error', () => {
  test.each([
    [['trian', 'x'], "dso: unknown command 'trian'\n(Did you mean train?)\n"],
    [['train', 'x', '--lamda', '1'], "dso: unknown option '--lamda'\n(Did you mean --lambda?)\n"],
    [
      ['train', 'x', '--penalty', 'lasso'],
      'dso: --penalty is lasso; it must be one of l2, l1, elastic-net\n',
    ],
    [
      ['train', 'x', '--penalty', 'group-lasso'],
      "dso: penalty 'group-lasso' is not available: every solver here rests on a penalty that is a sum " +
        'over single weights, and the norm of a group is not; use elastic-net, which keeps ' +
        'correlated features together, or l1\n',
    ],
    [
      ['train', 'x', '--lower', '0.5'],
      'dso: weights are bounded to [0.5, ∞], without 0, the weight of a feature that does not count: ' +
        'give a lower bound of at most 0\n',
    ],
    [
      ['train', 'x', '--non-negative', '--lower', '-1'],
      "dso: option '--non-negative' cannot be used with option '--lower <number>'\n",
    ],
  ])('dso %j', async (args, message) => {
    const folder = lastingFolder();
    const run = await runHere(args, folder);
    expect(run).toMatchObject({ code: 2, stderr: message });
    expect(run.stdout.length).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('an output that cannot be written is refused before any work', () => {
  // The input is bad as well: the message about the output comes first, so nothing was read.
  const badData = 'no data at all\n';

  test.each([
    ['-o', 'none/x.model', 'there is no folder none'],
    ['-o', 'sub', 'that is a folder'],
    ['-o', 'data.svm', 'that is also an input'],
    ['-o', 'data.svm/x.model', 'there is no folder data.svm'],
    ['--log', 'none/run.jsonl', 'there is no folder none'],
  ])('train %s %s', async (option, path, message) => {
    const folder = lastingFolder();
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'data.svm'), badData);
    const run = await runHere(['train', 'data.svm', option, path], folder);
    expect(run.stderr).toContain(message);
    expect(run.code).toBe(2);
    expect(readFileSync(join(folder, 'data.svm'), 'utf8')).toBe(badData);
  });

  test('predict', async () => {
    const run = await runDso(['predict', 'm', 'd', '-o', 'none/p.txt'], {
      folder: lastingFolder(),
    });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('--output none/p.txt: there is no folder none');
  });
});

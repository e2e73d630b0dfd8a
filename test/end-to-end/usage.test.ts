import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary.ts';

const good = '+1 1:0.5 3:1\n-1 2:1\n';

describe('help and version', () => {
  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    expect(await runDso(['--version'])).toMatchObject({ code: 0, stderr: '' });
    expect((await runDso(['--version'])).stdout.toString()).toBe(`${version}\n`);
  });

  test('--help lists every command', async () => {
    const { code, stdout } = await runDso(['--help']);
    expect(code).toBe(0);
    for (const name of ['train', 'predict', 'evaluate', 'inspect', 'generate', 'demo']) {
      expect(stdout.toString()).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    }
  });

  test.each(['train', 'predict', 'evaluate', 'inspect', 'generate'])(
    '%s --help has examples',
    async (name) => {
      const { code, stdout } = await runDso([name, '--help']);
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

describe('usage errors: exit code 2, the option is named', () => {
  const cases: [string[], string][] = [
    [['trian', 'x'], "unknown command 'trian'\n(Did you mean train?)"],
    [['train', 'x', '--lamda', '1'], "unknown option '--lamda'\n(Did you mean --lambda?)"],
    [['train'], "missing required argument 'data'"],
    [['train', 'x', 'y'], 'too many arguments'],
    [['train', 'x', '--lambda', '0'], "'--lambda <number>' argument '0' is invalid. Wanted a num"],
    [['train', 'x', '--lambda', 'abc'], "argument 'abc' is invalid. Wanted a number above 0."],
    [['train', 'x', '--lambda', '1e999'], "argument '1e999' is invalid"],
    [['train', 'x', '--epochs', '1.5'], 'Wanted a whole number of at least 1.'],
    [['train', 'x', '--threads', '0'], "'--threads <number>' argument '0' is invalid"],
    [['train', 'x', '--seed', '-1'], "'--seed <number>' argument '-1' is invalid"],
    [['train', 'x', '--holdout', '1'], 'Wanted a number between 0 and 1.'],
    [['train', 'x', '--time', '-3'], "'--time <seconds>' argument '-3' is invalid"],
    [['train', 'x', '--tolerance', 'NaN'], 'Wanted a number of at least 0.'],
    [['train', 'x', '--solver', 'sgd'], "argument 'sgd' is invalid. Allowed choices are auto"],
    [['train', 'x', '--penalty', 'l3'], 'Allowed choices are l2, l1, elastic-net.'],
    [['train', 'x', '--loss', 'hing'], "unknown loss 'hing'; did you mean 'hinge'?"],
    [['train', 'x', '--loss', './none.js'], "loss './none.js' cannot be loaded"],
    [['train', 'x', '--epsilon', '1'], '--epsilon 1: not a setting of the hinge loss'],
    [
      ['train', 'x', '--loss', 'huber', '--epsilon', '1'],
      '--epsilon 1: not a setting of the huber loss, which has --delta',
    ],
    [['train', 'x', '--l1-ratio', '0.5'], '--l1-ratio 0.5: a setting of --penalty elastic-net'],
    [['train', 'x', '--step', 'sqrt'], '--step is a setting of --solver dso; the solver is auto'],
    [['train', 'x', '--no-svrg', '--solver', 'ring'], '--no-svrg is a setting of --solver dso'],
    [['train', 'x', '--mode', 'rows', '--solver', 'dso'], '--mode is a setting of --solver ring'],
    [['train', 'x', '--paper', '--solver', 'ring'], '--paper is a setting of --solver dso'],
    [['train', 'x', '--paper', '--no-svrg'], "'--paper' cannot be used with option '--no-svrg'"],
    [['train', 'x', '--test', 'y', '--holdout', '0.1'], "'--test <file>' cannot be used with"],
    [['train', 'x', '--json', '-o', '-'], '--output - and --json both want standard output'],
    [['train', '-', '--test', '-'], 'there is one standard input'],
    [['predict', 'm', 'x', '--scores', '--probabilities'], 'cannot be used with option'],
    [['predict', '-', '-'], 'there is one standard input'],
    [['inspect', 'm', '--top', 'many'], "'--top <number>' argument 'many' is invalid"],
    [['generate'], "required option '--like <name>' not specified"],
    [['generate', '--like', 'imagenet'], 'Allowed choices are real-sim, webspam, splice.'],
  ];

  test.each(cases)('dso %j', async (args, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'x'), good);
    const run = await runDso(args, { folder });
    expect(run.stderr).toMatch(/^dso: /);
    expect(run.stderr).toContain(message);
    expect(run.code).toBe(2);
    expect(run.stdout.length).toBe(0);
    expect(readdirSync(folder)).toEqual(['x']);
  });
});

describe('an output that cannot be written is refused before any work', () => {
  // The input is bad as well: the complaint about the output comes first, so nothing was read.
  const badData = 'no data at all\n';

  test.each([
    ['-o', 'none/x.model', 'there is no folder none'],
    ['-o', 'sub', 'that is a folder'],
    ['-o', 'data.svm', 'that is also an input'],
    ['-o', 'data.svm/x.model', 'there is no folder data.svm'],
    ['--log', 'none/run.jsonl', 'there is no folder none'],
  ])('train %s %s', async (option, path, message) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'data.svm'), badData);
    const run = await runDso(['train', 'data.svm', option, path], { folder });
    expect(run.stderr).toContain(message);
    expect(run.code).toBe(2);
    expect(readFileSync(join(folder, 'data.svm'), 'utf8')).toBe(badData);
  });

  test('predict', async () => {
    const run = await runDso(['predict', 'm', 'd', '-o', 'none/p.txt'], {
      folder: temporaryFolder(),
    });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('--output none/p.txt: there is no folder none');
  });
});

import { describe, expect, test } from 'vitest';
import { commands } from '../../../../src/apps/cli/commands/index.ts';
import { main } from '../../../../src/apps/cli/program.ts';
import { lossNames } from '../../../../src/problem/losses/index.ts';
import { penaltyNames } from '../../../../src/problem/penalties/index.ts';
import { memoryIo } from '../../../support/memory-io.ts';

describe('usage errors: exit code 2, the option is named', () => {
  // No file called x exists: all of this is found before any input is opened.
  const cases: [string[], string][] = [
    [['trian', 'x'], "unknown command 'trian'\n(Did you mean train?)"],
    [['train', 'x', '--lamda', '1'], "unknown option '--lamda'\n(Did you mean --lambda?)"],
    [['train'], "missing required argument 'data'"],
    [['train', 'x', 'y'], 'too many arguments'],
    [['train', 'x', '--lambda', '0'], '--lambda is 0; it must be a number above 0'],
    [['train', 'x', '--lambda', 'abc'], '--lambda is abc; it must be a number above 0'],
    [['train', 'x', '--lambda', '1e999'], '--lambda is 1e999; it must be'],
    [['train', 'x', '--epochs', '1.5'], '--epochs is 1.5; it must be a whole number from 1'],
    [['train', 'x', '--threads', '0'], '--threads is 0; it must be a whole number from 1 to 1024'],
    [['train', 'x', '--seed', '-1'], '--seed is -1; it must be a whole number of at least 0'],
    [['train', 'x', '--holdout', '1'], '--holdout is 1; it must be a number above 0 and below 1'],
    [['train', 'x', '--time', '-3'], '--time is -3; it must be a number above 0'],
    [['train', 'x', '--tolerance', 'NaN'], '--tolerance is NaN; it must be a number above 0'],
    [['train', 'x', '--epsilon', '-1'], '--epsilon is -1; it must be a number of at least 0'],
    [['train', 'x', '--solver', 'sdg'], '--solver is sdg; it must be one of auto'],
    [['train', 'x', '--penalty', 'l3'], '--penalty is l3; it must be one of l2, l1, elastic-net'],
    [['train', 'x', '--loss', 'hing'], "unknown loss 'hing'; did you mean 'hinge'?"],
    [['train', 'x', '--loss', './none.js'], 'dso: ./none.js: no such file\n'],
    [['train', 'x', '--hash', '31'], '--hash is 31; it must be a whole number from 1 to 30'],
    [
      ['train', 'x', '--epsilon', '1'],
      '--epsilon is not an option of the hinge loss, which has no parameter',
    ],
    [
      ['train', 'x', '--loss', 'huber', '--epsilon', '1'],
      '--epsilon is not an option of the huber loss, which has --delta',
    ],
    [['train', 'x', '--l1-ratio', '0.5'], '--l1-ratio is an option of --penalty elastic-net'],
    [
      ['train', 'x', '--step', 'sqrt'],
      '--step is an option of --solver dso, dso-async, sgd, psgd;',
    ],
    [['train', 'x', '--no-svrg', '--solver', 'ring'], '--no-svrg is an option of --solver dso'],
    [['train', 'x', '--mode', 'rows', '--solver', 'dso'], '--mode is an option of --solver ring'],
    [['train', 'x', '--paper', '--solver', 'ring'], '--paper is an option of --solver dso'],
    [['train', 'x', '--paper', '--no-svrg'], "'--paper' cannot be used with option '--no-svrg'"],
    [['train', 'x', '--test', 'y', '--holdout', '0.1'], "'--test <file>' cannot be used with"],
    [['train', 'x', '--json', '-o', '-'], '--output - and --json both use standard output'],
    [['train', '-', '--test', '-'], 'there is one standard input'],
    [['predict', 'm', 'x', '--scores', '--probabilities'], 'cannot be used with option'],
    [['predict', '-', '-'], 'there is one standard input'],
    [['inspect', 'm', '--top', 'many'], '--top is many; it must be a whole number'],
    [['generate'], "required option '--like <name>' not specified"],
    [
      ['generate', '--like', 'imagenet'],
      '--like is imagenet; it must be one of real-sim, webspam, splice',
    ],
  ];

  test.each(cases)('dso %j', async (args, message) => {
    const io = memoryIo();
    expect(await main(args, io)).toBe(2);
    expect(io.stderr.text).toMatch(/^dso: /);
    expect(io.stderr.text).toContain(message);
    expect(io.stdout.text).toBe('');
  });
});

describe('earlier spellings are accepted', () => {
  // The file does not exist: the data is opened after the options have been accepted.
  const cases: string[][] = [
    ['report', 'no.svm'],
    ['train', 'no.svm', '--report'],
    ['train', 'no.svm', '--progressive', '--report-every', '5'],
    ['train', 'no.svm', '--solver', 'dso', '--initialize', '2'],
    ['train', 'no.svm', '--paper'],
  ];

  test.each(cases)('dso %s %s %s %s %s', async (...words) => {
    const io = memoryIo();
    expect(await main(words.filter(Boolean), io)).toBe(3);
    expect(io.stderr.text).toContain('no.svm: no such file');
  });

  test('and are not in the help', async () => {
    const io = memoryIo();
    expect(await main(['train', '--help-all'], io)).toBe(0);
    expect(io.stdout.text).toContain('--warm-start <model>');
    expect(io.stdout.text).not.toMatch(/--(?:init|initialize|report|report-every|paper)\b/);
  });
});

describe('help', () => {
  test('names every loss and penalty', async () => {
    const io = memoryIo();
    expect(await main(['train', '--help'], io)).toBe(0);
    for (const name of [...lossNames, ...penaltyNames]) expect(io.stdout.text).toContain(name);
    expect(io.stderr.text).toBe('');
  });

  test.each(['predict', 'generate', 'export', 'runs', 'runs show', 'liblinear-train'])(
    '%s has one screen: --help-all is --help, and not listed',
    async (name) => {
      const [io, same] = [memoryIo(), memoryIo()];
      expect(await main([...name.split(' '), '--help-all'], io)).toBe(0);
      expect(await main([...name.split(' '), '--help'], same)).toBe(0);
      expect(io.stdout.text).toContain(`Usage: dso ${name} `);
      expect(io.stdout.text).toBe(same.stdout.text);
      expect(io.stdout.text).not.toContain('--help-all');
    },
  );

  // A line break inside a sentence comes on top of those that fit the text to the terminal.
  test.each(Object.entries(commands))('%s: line breaks only between sentences', (_, entry) => {
    const lines = entry.description.split('\n');
    expect(lines.filter((line) => !line.endsWith('.'))).toEqual([]);
    if (lines.length > 1) expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(JSON.stringify(entry.arguments ?? {})).not.toContain('\\n');
  });

  test('without any argument goes to standard error', async () => {
    const io = memoryIo();
    expect(await main([], io)).toBe(2);
    expect(io.stdout.text).toBe('');
    expect(io.stderr.text).toMatch(/^Usage: dso /);
  });
});

describe('errors', () => {
  test('bad data: exit code 3 and no stack', async () => {
    const io = memoryIo();
    expect(await main(['inspect', 'no such.model'], io)).toBe(3);
    expect(io.stderr.text).toBe('dso: no such.model: no such file\n');
  });

  test('in red on a terminal', async () => {
    const io = memoryIo({ terminal: true });
    await main(['inspect', 'no such.model'], io);
    const red = '\u001b[31mno such.model: no such file\u001b[39m';
    expect(io.stderr.text).toContain(red);
  });

  test('with a stack when DSO_DEBUG is set', async () => {
    const io = memoryIo({ environment: { DSO_DEBUG: '1' } });
    await main(['inspect', 'no such.model'], io);
    expect(io.stderr.text).toMatch(/^ {4}at .*file\.ts/m);
  });
});

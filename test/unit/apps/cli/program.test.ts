import { describe, expect, test } from 'vitest';
import { main } from '../../../../src/cli/program.ts';
import { lossNames } from '../../../../src/losses/index.ts';
import { penaltyNames } from '../../../../src/penalties/index.ts';
import { memoryIo } from '../../../support/memory-io.ts';

describe('usage errors: exit code 2, the option is named', () => {
  // No file called x exists: all of this is found before any input is opened.
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
    [['train', 'x', '--tolerance', 'NaN'], 'Wanted a number above 0.'],
    [['train', 'x', '--epsilon', '-1'], 'Wanted a number of at least 0.'],
    [['train', 'x', '--solver', 'sdg'], "argument 'sdg' is invalid. Allowed choices are auto"],
    [['train', 'x', '--penalty', 'l3'], 'Allowed choices are l2, l1, elastic-net.'],
    [['train', 'x', '--loss', 'hing'], "unknown loss 'hing'; did you mean 'hinge'?"],
    [['train', 'x', '--loss', './none.js'], "loss './none.js' cannot be loaded"],
    [['train', 'x', '--epsilon', '1'], '--epsilon 1: not a setting of the hinge loss'],
    [
      ['train', 'x', '--loss', 'huber', '--epsilon', '1'],
      '--epsilon 1: not a setting of the huber loss, which has --delta',
    ],
    [['train', 'x', '--l1-ratio', '0.5'], '--l1-ratio 0.5: a setting of --penalty elastic-net'],
    [
      ['train', 'x', '--step', 'sqrt'],
      '--step is a setting of --solver dso, dso-async, sgd, psgd;',
    ],
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
    const io = memoryIo();
    expect(await main(args, io)).toBe(2);
    expect(io.stderr.text).toMatch(/^dso: /);
    expect(io.stderr.text).toContain(message);
    expect(io.stdout.text).toBe('');
  });
});

describe('help', () => {
  test('names every loss and penalty', async () => {
    const io = memoryIo();
    expect(await main(['train', '--help'], io)).toBe(0);
    for (const name of [...lossNames, ...penaltyNames]) expect(io.stdout.text).toContain(name);
    expect(io.stderr.text).toBe('');
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
    expect(io.stderr.text).toMatch(/^ {4}at .*format\.ts/m);
  });
});

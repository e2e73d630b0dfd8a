import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { lossNames } from '../../src/problem/losses/index.ts';
import { penaltyNames } from '../../src/problem/penalties/index.ts';
import { solverNames } from '../../src/solvers/index.ts';
import { runDso } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary.ts';

const hasShell = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runDso(['completion', shell]);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.toString();
}

/** Names of all commands, as the help lists them. */
async function commandNames(): Promise<string[]> {
  const help = (await runDso(['--help'])).stdout.toString();
  const [, list] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help)!;
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
}

/** A folder with a few files, and the script. */
async function workplace(shell: string): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'script'), await script(shell));
  writeFileSync(join(folder, 'mail.svm'), '');
  writeFileSync(join(folder, 'my mail.model'), '');
  mkdirSync(join(folder, 'mails'));
  return folder;
}

describe('bash', () => {
  beforeEach(({ skip }) => skip(!hasShell('bash'), 'bash is not installed'));

  /** What the function offers for these words, the cursor behind the last one. */
  function complete(folder: string, ...words: string[]): string[] {
    const run = spawnSync(
      'bash',
      [
        '--norc',
        '-euc',
        'source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dso || true; ' +
          `printf '%s\\n' \${COMPREPLY[@]+"\${COMPREPLY[@]}"}`,
        'bash',
        'dso',
        ...words,
      ],
      { cwd: folder, encoding: 'utf8' },
    );
    expect([run.status, run.stderr]).toEqual([0, '']);
    return run.stdout.split('\n').filter((line) => line !== '');
  }

  test('commands', async () => {
    const folder = await workplace('bash');
    const names = await commandNames();
    expect(complete(folder, '')).toEqual(expect.arrayContaining([...names, '--help', '-V']));
    expect(complete(folder, 'pre')).toEqual(['predict']);
    expect(complete(folder, 'help', 'ser')).toEqual(['serve']);
    expect(complete(folder, 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  test('options and their values', async () => {
    const folder = await workplace('bash');
    expect(complete(folder, 'train', '--pena')).toEqual(['--penalty', '--penalty-factors']);
    expect(complete(folder, 'train', '--penalty', '')).toEqual([...penaltyNames]);
    expect(complete(folder, 'train', 'x', '--solver', '')).toEqual([...solverNames]);
    expect(complete(folder, 'train', '--solver', '=', 'ps')).toEqual(['psgd']);
    expect(complete(folder, 'train', '--solver', '=')).toEqual([...solverNames]);
    expect(complete(folder, 'predict', '--format', 'j')).toEqual(['jsonl']);
    expect(complete(folder, 'train', '--loss', 'squared')).toEqual(
      lossNames.filter((name) => name.startsWith('squared')),
    );
    expect(complete(folder, 'train', '--lambda', '')).toEqual([]);
    // The earlier name of describe.
    expect(complete(folder, 'report', '--lab')).toEqual(complete(folder, 'describe', '--lab'));
    expect(complete(folder, 'report', '--lab')).toContain('--label');
    expect(complete(folder, 'report', '--format', 'csv', 'mail.')).toEqual(['mail.svm']);
    // An option of another command is none of this one.
    expect(complete(folder, 'inspect', '--sol')).toEqual([]);
  });

  test('files where files are expected', async () => {
    const folder = await workplace('bash');
    const all = ['mail.svm', 'mails', 'my mail.model'];
    expect(complete(folder, 'train', 'm').sort()).toEqual(all);
    expect(complete(folder, 'train', '-o', 'my')).toEqual(['my mail.model']);
    expect(complete(folder, 'predict', 'x', '--format', 'csv', 'mail.').sort()).toEqual([
      'mail.svm',
    ]);
    // Both arguments are there: nothing more to come.
    expect(complete(folder, 'predict', 'x', '-', 'm')).toEqual([]);
    expect(complete(folder, 'doctor', 'm')).toEqual([]);
  });

  test('works after eval in a shell, with its own completion', async () => {
    const folder = await workplace('bash');
    const run = spawnSync(
      'bash',
      ['--norc', '-c', 'eval "$(cat script)"; complete -p dso; compgen -A function _dso'],
      { cwd: folder, encoding: 'utf8' },
    );
    expect(run.stdout).toBe('complete -F _dso dso\n_dso\n');
  });
});

describe('zsh', () => {
  test('names every command and balances its quotes', async () => {
    const text = await script('zsh');
    expect(text).toMatch(/^#compdef dso\n/);
    for (const name of await commandNames())
      expect(text).toMatch(new RegExp(`^ +'?${name}[:)]`, 'm'));
    expect(text).toContain(
      `'--solver=[${solverNames.join(', ')} (default: auto)]:value:(${solverNames.join(' ')})'`,
    );
    expect(text).toContain(`'(-o --output)'{-o,--output=}'[`);
    expect(text).toMatch(/^ +describe \| report\)$/m);
    // Quotes and groups as sh has them too.
    const body = text.replace(/^if [\s\S]*$/m, '');
    const run = spawnSync('sh', ['-n'], { input: body, encoding: 'utf8' });
    expect(run.stderr).not.toMatch(/quote|EOF/i);
  });

  test('is read by zsh', async ({ skip }) => {
    skip(!hasShell('zsh'), 'zsh is not installed');
    const folder = await workplace('zsh');
    const run = spawnSync('zsh', ['-f', '-n', 'script'], { cwd: folder, encoding: 'utf8' });
    expect([run.status, run.stderr]).toEqual([0, '']);
  });
});

describe('fish', () => {
  test('has a line for every command and option', async () => {
    const lines = (await script('fish')).trimEnd().split('\n');
    const word = String.raw`(?:'(?:[^'\\]|\\.)*'|[^\s'\\]+)`;
    for (const line of lines.slice(1)) {
      expect(line).toMatch(new RegExp(`^complete -c dso(?: ${word})+$`));
    }
    for (const name of await commandNames()) {
      expect(lines.join('\n')).toContain(`-n __fish_use_subcommand -a '${name}' -d `);
    }
    expect(lines.join('\n')).toContain(`-l penalty -x -a '${penaltyNames.join(' ')}' -d `);
  });

  test('is what fish offers', async ({ skip }) => {
    skip(!hasShell('fish'), 'fish is not installed');
    const folder = await workplace('fish');
    const complete = (line: string): string[] => {
      const words = ['--no-config', '-c', `source script; complete -C "${line}"`];
      const { stdout } = spawnSync('fish', words, { cwd: folder, encoding: 'utf8' });
      return stdout.split('\n').map((offer) => offer.split('\t')[0]);
    };
    expect(complete('dso train --penalty ')).toEqual(expect.arrayContaining([...penaltyNames]));
    expect(complete('dso report --lab')).toContain('--label');
  });
});

test('an unknown shell is a usage error', async () => {
  const { code, stderr } = await runDso(['completion', 'csh']);
  expect(code).toBe(2);
  expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
});

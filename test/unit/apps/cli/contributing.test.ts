/** The option and the command that CONTRIBUTING.md adds: compiled by the project's settings, then run. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import { addCommand, type CommandEntry, describeOption } from '../../../../src/apps/cli/command.ts';
import { commands } from '../../../../src/apps/cli/commands/index.ts';
import { Terminal } from '../../../../src/apps/cli/terminal.ts';
import { libraryValues, type OptionTable } from '../../../../src/train/options/option.ts';
import { parseValue } from '../../../../src/train/options/types.ts';
import { memoryIo } from '../../../support/memory-io.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');

mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache', 'contributing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The block that begins with this comment. */
function block(comment: string): string {
  const start = text.indexOf(`\`\`\`typescript\n// ${comment}`);
  expect(start, comment).toBeGreaterThan(0);
  const begin = text.indexOf('\n', text.indexOf('//', start)) + 1;
  return text.slice(begin, text.indexOf('```', begin));
}

const source = '../../src';
const head = block('command file src/apps/cli/commands/head.ts');
writeFileSync(join(folder, 'head.ts'), head.replaceAll("'../", `'${source}/apps/cli/`));
writeFileSync(
  join(folder, 'added.ts'),
  `import { command } from '${source}/apps/cli/command.ts';
import { flag, optionsWith } from '${source}/train/options/option.ts';
import { whole } from '${source}/train/options/types.ts';
export const options = optionsWith({ group: 'data', affectsModel: true, progressive: true })({
${block('option in src/train/options/data.ts')}});
export const commands = {
${block('command in src/apps/cli/commands/index.ts')}};
`,
);

const added = async () =>
  (await import(pathToFileURL(join(folder, 'added.ts')).href)) as {
    options: OptionTable;
    commands: Record<string, CommandEntry>;
  };

test('the examples compile', () => {
  const settings = {
    extends: '../../tsconfig.json',
    include: ['*.ts', '../../types'],
    exclude: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const compiler = join(dirname(manifest), 'bin', 'tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', folder]);
  expect(status, stdout.toString()).toBe(0);
});

test('the option is parsed, refused, described and handed to the library', async () => {
  const { options } = await added();
  const [[name, entry]] = Object.entries(options);
  const type = entry.type!;
  expect(parseValue('--skip-rows', '3', type)).toBe(3);
  expect(() => parseValue('--skip-rows', '-1', type)).toThrow(
    '--skip-rows is -1; it must be a whole number of at least 0',
  );
  expect(describeOption(entry)).toBe('ignore the first N rows (default: 0)');
  expect(libraryValues(options, { [name]: 3 })).toEqual({ skipRows: 3 });
});

test('the command is new and runs', async () => {
  const { commands: own } = await added();
  const [[name, entry]] = Object.entries(own);
  expect(commands).not.toHaveProperty(name);
  const io = memoryIo();
  const program = new Command('dso').exitOverride();
  let code: number | undefined;
  addCommand(program, name, entry, async ({ load }, args, made) => {
    const run = await load();
    const given = { flags: made.opts(), terminal: new Terminal(io), words: [], program };
    code = await run(given, ...(args as string[]));
  });
  const file = join(folder, 'lines.txt');
  writeFileSync(file, 'a\nb\nc\n');
  await program.parseAsync([name, file, '-n', '2'], { from: 'user' });
  expect([code, io.stdout.text]).toEqual([undefined, 'a\nb\n']);
});

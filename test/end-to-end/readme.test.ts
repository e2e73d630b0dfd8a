import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { executable } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import {
  type CodeBlock,
  codeBlocks,
  comparable,
  leftOut,
  localLinks,
} from '../support/markdown.ts';

const lastingFolder = lastingFolders();

/*
 * Every block of the documents that says `sh`, `js` or `ts` is run, in the order of the document
 * and in one folder per document, with the built package; documents run in parallel. A block with a file name is written to
 * that file instead. A `text` block right behind one that was run is what it prints; a line `…` in
 * it represents lines left out.
 *
 * Not run: `console`, which clones, installs or calls npm (this test is a part of `npm test`, and
 * would call itself), and languages that are not ours, such as the `python` reader of a model file.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Whether to paste what the commands print into the documents instead of comparing it. */
const update = process.env.DSO_UPDATE_DOCS === '1';

/** Its commands take minutes and prove nothing: tests never look at the clock. */
const measurements = 'docs/bench.md';

const extensions: Readonly<Record<string, string>> = { js: 'mjs', ts: 'mts' };

/** A folder in which `dso` is a command and a package. */
function installedFolder(): string {
  const folder = lastingFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/dso'), 'dir');
  mkdirSync(join(folder, '.bin'));
  const command = join(folder, '.bin/dso');
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${executable}" "$@"\n`);
  chmodSync(command, 0o755);
  return folder;
}

/** Runs a program; both of its outputs go to one file, in the order in which they were written. */
async function run(folder: string, program: string, args: readonly string[]) {
  const path = [join(folder, '.bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const log = join(folder, '.output');
  const file = openSync(log, 'w');
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, PATH: path, DSO_NO_RECORD: '' },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output: readFileSync(log, 'utf8') };
}

function runBlock(folder: string, { language, text, line }: CodeBlock) {
  if (language === 'sh') return run(folder, 'sh', ['-ec', text]);
  const name = `line-${line}.${extensions[language]}`;
  writeFileSync(join(folder, name), text);
  return run(folder, process.execPath, [name]);
}

/** The output as the document would show it: with as many lines before and after a gap. */
function abridge(found: string, shown: string): string {
  const lines = found.trim().split('\n');
  const pasted = shown.trim().split('\n');
  const gap = pasted.indexOf(leftOut);
  if (gap < 0) return lines.join('\n');
  const tail = lines.slice(lines.length - (pasted.length - gap - 1));
  return [...lines.slice(0, gap), leftOut, ...tail].join('\n');
}

const isCode = ({ language }: CodeBlock): boolean => ['sh', 'js', 'ts'].includes(language);
const withCode = documents.filter((name) => codeBlocks(join(root, name)).some(isCode));
const withLinks = documents.filter((name) => localLinks(join(root, name)).length > 0);

test.concurrent.each(withCode.filter((name) => name !== measurements))(
  '%s: its code does what it says',
  async (name) => {
    const folder = installedFolder();
    const path = join(root, name);
    let document = readFileSync(path, 'utf8');
    let output: string | undefined;
    for (const block of codeBlocks(path)) {
      const location = `${name}:${block.line}`;
      if (block.language === 'text' && block.follows && output !== undefined) {
        const printed = abridge(output, block.text);
        const same = comparable(printed).join('\n') === comparable(block.text).join('\n');
        if (update && !same) document = document.replace(block.text, () => `${printed}\n`);
        if (!update) expect(comparable(block.text), location).toEqual(comparable(printed));
      }
      output = undefined;
      if (!isCode(block)) continue;
      if (block.file !== undefined) {
        writeFileSync(join(folder, block.file), block.text);
        continue;
      }
      const result = await runBlock(folder, block);
      expect(result.status, `${location}\n${result.output}`).toBe(0);
      output = result.output;
    }
    if (update) writeFileSync(path, document);
  },
);

test.each(withLinks)('%s: its links lead somewhere', (name) => {
  const links = localLinks(join(root, name));
  expect(links.filter((link) => !existsSync(join(root, dirname(name), link)))).toEqual([]);
});

test.concurrent('the code of the documents fits the types of the package', async () => {
  const folder = installedFolder();
  for (const name of documents) {
    for (const { language, file, text, line } of codeBlocks(join(root, name))) {
      const extension = extensions[language];
      if (extension === undefined) continue;
      const own = `${name.replaceAll('/', '-')}-${line}.${extension}`;
      writeFileSync(join(folder, file ?? own), text);
    }
  }
  const settings = {
    compilerOptions: {
      strict: true,
      // Parameters in plain JavaScript have no types.
      noImplicitAny: false,
      module: 'nodenext',
      target: 'es2023',
      allowJs: true,
      checkJs: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: ['*.mjs', '*.mts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status, output } = await run(folder, process.execPath, [compiler, '-p', '.']);
  expect(status, output).toBe(0);
});

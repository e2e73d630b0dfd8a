import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(`${root}docs`)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Boxes of the drawing: lines with a function, its file and what it does. */
function boxes(): { name: string; path: string }[] {
  const drawing = read('docs/architecture.md')
    .split('## From `dso train` to the first epoch')[1]
    .split('```')[1];
  return [...drawing.matchAll(/^ *(?<name>\w+) +(?<path>src\/\S+\.ts) /gm)].map(({ groups }) => ({
    name: groups!.name,
    path: groups!.path,
  }));
}

/** Paths of sources that a document names; examples in fenced blocks and placeholders (NAME) are left out. */
function sourcesNamed(document: string): string[] {
  const paths = proseOf(document).matchAll(/`((?:src|assembly|ui|experiments|test)\/[\w./-]+)`/g);
  return [...paths].map(([, path]) => path).filter((path) => !/\b[A-Z]{2,}\b/.test(path));
}

describe('docs/architecture.md: the way from dso train to the first epoch', () => {
  test('has about ten boxes', () => {
    expect(boxes().length).toBeGreaterThanOrEqual(10);
    expect(boxes().length).toBeLessThanOrEqual(14);
  });

  test.each(boxes())('$name is a function of $path', ({ name, path }) => {
    const declaration = new RegExp(
      `(?:function\\*? |const |^ {2}(?:async )?(?:override )?)${name}\\b.*\\(`,
      'm',
    );
    expect(read(path)).toMatch(declaration);
  });
});

test.each(documents)('%s: the source files it names exist', (document) => {
  const missing = sourcesNamed(document).filter((path) => !existsSync(`${root}${path}`));
  expect(missing).toEqual([]);
});

/** The anchor that Markdown gives a heading. */
function anchorOf(heading: string): string {
  const words = heading.replace(/[`*]/g, '').toLowerCase();
  return words.replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-');
}

function proseOf(document: string): string {
  return read(document).replace(/^```[\s\S]*?^```/gm, '');
}

test.each(documents)('%s: the sections it links to exist', (document) => {
  const links = [...proseOf(document).matchAll(/\]\((?<file>[^)#\s:]*)#(?<anchor>[^)]+)\)/g)];
  const missing = links.filter(({ groups }) => {
    const target = groups!.file ? posix.join(posix.dirname(document), groups!.file) : document;
    const headings = [...proseOf(target).matchAll(/^#+ (.*)$/gm)].map(([, text]) => anchorOf(text));
    return !headings.includes(groups!.anchor);
  });
  expect(missing.map(([link]) => link)).toEqual([]);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../../../src/apps/cli/program.ts';
import { visibleText } from '../../../../src/reporting/format.ts';
import { memoryIo } from '../../../support/memory-io.ts';
import { temporaryFolder } from '../../data/support/files.ts';
import { writeParquet } from '../../data/tables/support.ts';

/** A color of dso's own, a title of the window, a cleared screen by C1, and a line that begins anew. */
const evil = '\u001b[31mEVIL\u001b]0;owned\u0007\u009b2J\rok';

/** What dso itself writes on a terminal: colors, and the live line. */
const lead = '\u001b\\[';
const own = new RegExp(`${lead}(?:\\d+m|K|J|\\d+A)|\r${lead}[KJ]`, 'g');

async function run(terminal: boolean, ...words: string[]) {
  const io = memoryIo({ terminal, columns: 300 });
  const code = await main(words, io);
  return { code, text: io.stdout.text + io.stderr.text };
}

/** Runs a command with and without a terminal; its texts hold the word, and nothing to obey. */
async function expectHarmless(code: number, ...words: string[]): Promise<void> {
  for (const terminal of [true, false]) {
    const found = await run(terminal, ...words);
    expect(found.code, found.text).toBe(code);
    expect(found.text).toContain('EVIL');
    expect(found.text).not.toContain('\u001b[31mEVIL');
    const rest = terminal ? found.text.replaceAll(own, '') : found.text;
    expect(rest).not.toMatch(/[^\P{Cc}\t\n]/u);
  }
}

const rows = (label: (row: number) => string, feature: (row: number) => string): string =>
  Array.from({ length: 12 }, (_, row) => `${label(row)},${feature(row)},${row}\n`).join('');

test('labels, names of columns, categories and files', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder, name);
  const data = at(`${evil}.csv`);
  const model = at(`${evil}.model`);
  const label = (row: number) => `"${evil}${row % 3}"`;
  writeFileSync(
    data,
    `label,"${evil} c","${evil} x"\n${rows(label, (row) => `"${evil}${row % 2}"`)}`,
  );
  await expectHarmless(0, 'describe', data);
  await expectHarmless(0, 'describe', data, '--json');
  await expectHarmless(0, 'train', data, '-o', model);
  await expectHarmless(0, 'train', data, '-o', model, '--describe', '--json');
  for (const words of [[], ['--json'], ['--class', `${evil}1`]]) {
    await expectHarmless(0, 'inspect', model, ...words);
  }
  await expectHarmless(2, 'inspect', model, '--class', `${evil}7`);
  await expectHarmless(0, 'evaluate', model, data);
  await expectHarmless(0, 'predict', model, data);
  const { text } = await run(true, 'predict', model, data, '--json');
  expect(text.replaceAll(own, '')).not.toMatch(/[^\P{Cc}\t\n]/u);
  await expectHarmless(0, 'predict', model, data, '--scores', '--header');
  await expectHarmless(3, 'convert', data, '-o', at(`${evil}.dsob`));
  await expectHarmless(0, 'path', data, '--count', '2', '--test', data, '-o', model);
});

test('words of errors', { timeout: 60_000 }, async () => {
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder, name);
  const cases: [string, string][] = [
    ['word.svm', `1 ${evil}:1\n`],
    ['label.svm', `1 1:1\n${evil} 2:1\n`],
    ['clash.csv', `label,${evil}=a,${evil}\n1,2,"a"\n0,1,"a"\n`],
    ['keys.jsonl', `{${JSON.stringify(evil)}: 1}\n`],
    ['nested.jsonl', `{"label": 1, ${JSON.stringify(evil)}: {"a": 1e99}}\n`],
    ['word.vw', `1 | a:${evil}\n`],
    [`${evil}.csv`, 'a,b\n1,2\n'],
    [`${evil}.model.svm`, 'x\n'],
  ];
  for (const [name, text] of cases) {
    writeFileSync(at(name), text);
    await expectHarmless(3, 'train', at(name), '-o', at('none.model'));
    await expectHarmless(3, 'train', at(name), '-o', at('none.model'), '--progressive');
  }
  await expectHarmless(3, 'inspect', at(`${evil}.missing`));
  await expectHarmless(2, 'train', at('word.svm'), `--${evil}`);
});

test('names of columns in Parquet', { timeout: 60_000 }, async () => {
  const numbers = Array.from({ length: 12 }, (_, row) => row);
  const path = writeParquet([
    { name: 'label', data: numbers.map((row) => `${evil}${row % 2}`), type: 'STRING' },
    { name: evil, data: numbers, type: 'DOUBLE' },
    { name: `${evil} empty`, data: numbers.map(() => 0), type: 'DOUBLE' },
  ]);
  await expectHarmless(0, 'describe', path);
  await expectHarmless(
    2,
    'train',
    path,
    '--label',
    'nothing',
    '-o',
    join(temporaryFolder(), 'none.model'),
  );
});

test('escapes show what was there', () => {
  expect(visibleText('a\u001b[2Jb\u009bc\u202ed')).toBe('a\\u001b[2Jb\\u009bc\\u202ed');
  expect(visibleText('a\tb\n\u001b[1mc')).toBe('a\tb\n\\u001b[1mc');
  expect(visibleText('\u001b[1mc\u001b[22m\u001b[2J', true)).toBe('\u001b[1mc\u001b[22m\\u001b[2J');
});

import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { csvOf, jsonLinesOf, sampleTable, vowpalOf } from '../support/tables.ts';

const lastingFolder = lastingFolders();

/** A file, its options, and all of the message behind `dso: `. */
const faults: [string, string, string[], string][] = [
  ['ragged.csv', 'a,b,y\n1,2,0\n1,2\n', [], 'ragged.csv:3: 2 fields; the header has 3'],
  ['quote.tsv', 'a\ty\n"x\t1\n', [], 'quote.tsv:2: a quote that is never closed'],
  [
    'none.csv',
    'a,b\n1,2\n',
    [],
    'none.csv:1: no column called label, target, class or y (name it with --label COLUMN); ' +
      'the columns are a, b',
  ],
  [
    'gap.csv',
    'a,y\n1,0\nNA,1\n',
    ['--missing', 'error'],
    'gap.csv:3: column "a" has no value; expected one (--missing indicator and --missing zero accept them)',
  ],
  [
    'cut.jsonl',
    '{"y": 1, "a": 2}\n{"y": 1,\n',
    [],
    'cut.jsonl:2: not JSON; expected an object like {"label": 1, "age": 30}',
  ],
  [
    'base.vw',
    '1 | a\n1 1 0.5 | a\n',
    [],
    'base.vw:2: base "0.5": scores have no initial value here; expected none, or 0',
  ],
  [
    'late.svm',
    '1 1:1\nspam 2:1\n',
    [],
    'late.svm:2: label "spam" is not a number; expected a line like "+1 3:0.5 7:1.2"',
  ],
];

describe.concurrent('bad data: exit code 3 with file and line', () => {
  test.each(faults)('%s', async (name, text, options, message) => {
    const folder = lastingFolder();
    writeFileSync(join(folder, name), text);
    const run = await runDso(['train', name, '--quiet', ...options], { folder });
    expect(run.stderr).toBe(`dso: ${message}\n`);
    expect(run.code).toBe(3);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test('from standard input', async () => {
    const input = `a,y\n${'1,0\n'.repeat(2000)}word,1\n`;
    const run = await runDso(['train', '-', '-o', 'm'], { folder: lastingFolder(), input });
    expect(run.stderr).toContain('dso: standard input:2002: column "a": "word" is not a number');
    expect(run.code).toBe(3);
  });

  test('rows without a label, where they are judged by it', async () => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'a.csv'), 'a,y\n1,0.5\n2,1.5\n3,2\n');
    writeFileSync(join(folder, 'b.csv'), 'a,y\n1,0.5\n2,\n');
    const fit = ['train', 'a.csv', '--loss', 'square', '--quiet', '-o', 'm'];
    expect((await runDso(fit, { folder })).code).toBe(0);
    for (const words of [
      ['evaluate', 'm', 'b.csv', '--quiet'],
      [...fit, '--test', 'b.csv'],
    ]) {
      const run = await runDso(words, { folder });
      expect(run.stderr).toBe('dso: b.csv:3: no label in column "y"; expected one\n');
      expect(run.code).toBe(3);
    }
    const run = await runDso(['predict', 'm', 'b.csv', '--quiet'], { folder });
    expect(run.stdout.toString().split('\n')).toHaveLength(3);
  });

  test('a column that is not there: exit code 2', async () => {
    const run = await runDso(['train', '-', '--label', 'z', '-o', 'm'], {
      folder: lastingFolder(),
      input: 'a,y\n1,0\n2,1\n',
    });
    expect(run.stderr).toContain(
      'dso: --label z: no such column in standard input:1; the columns are a, y',
    );
    expect(run.code).toBe(2);
  });
});

describe.concurrent('the same rows in any format', () => {
  test('give the same model, compressed or from standard input, and say what was read', async () => {
    const table = sampleTable({ rows: 300, numeric: 3, categorical: 2 }, 11);
    const positive = {
      ...table,
      // Numbers of all sizes would make a hard problem.
      cells: table.cells.map((record) =>
        record.map((cell) => (typeof cell === 'number' ? Math.fround(Math.tanh(cell)) : cell)),
      ),
      labels: table.labels.map((label) => (Number(label) > 0 ? 1 : 0)),
    };
    const folder = lastingFolder();
    const csv = csvOf(positive);
    writeFileSync(join(folder, 'a.csv'), csv);
    writeFileSync(join(folder, 'b.csv.gz'), gzipSync(csv));
    writeFileSync(join(folder, 'c.tsv.zst'), zstdCompressSync(csvOf(positive, '\t')));
    writeFileSync(join(folder, 'd.jsonl'), jsonLinesOf(positive));
    const scores: Record<string, string> = {};
    const problem = ['--loss', 'logistic', '--lambda', '0.1', '--tolerance', '1e-9'];
    problem.push('--scale', 'std', '--intercept');
    for (const name of ['a.csv', 'b.csv.gz', 'c.tsv.zst', 'd.jsonl', '-']) {
      const input = name === '-' ? csv : '';
      const train = await runDso(['train', name, ...problem, '--missing', 'zero', '-o', 'model'], {
        folder,
        input,
      });
      expect(train.stderr).toMatch(
        /read as (CSV|TSV|JSON lines): label (column )?"y", weight (column )?"weight"/,
      );
      expect(train.code).toBe(0);
      const predict = await runDso(['predict', 'model', 'a.csv', '--scores'], { folder });
      expect(predict.code).toBe(0);
      scores[name] = predict.stdout.toString();
    }
    expect(
      new Set([scores['a.csv'], scores['b.csv.gz'], scores['c.tsv.zst'], scores['-']]).size,
    ).toBe(1);
    const numbers = (text: string) => text.trim().split('\n').map(Number);
    const others = numbers(scores['d.jsonl']);
    for (const [row, score] of numbers(scores['a.csv']).entries()) {
      // Columns come in another order, which changes the course of training, not its end.
      expect(others[row]).toBeCloseTo(score, 3);
    }
  });

  test('convert keeps the names, and refuses labels that are words', async () => {
    const folder = lastingFolder();
    const table = sampleTable({ rows: 20, numeric: 1, categorical: 1 }, 5);
    writeFileSync(join(folder, 'x.vw'), vowpalOf(table));
    const done = await runDso(['convert', 'x.vw', '-o', 'x.dsob'], { folder });
    expect(done.stderr).toContain('read as Vowpal Wabbit text');
    expect(done.code).toBe(0);
    const info = await runDso(['convert', '--info', 'x.dsob', '--json'], { folder });
    expect(JSON.parse(info.stdout.toString()).names).toBeGreaterThan(1);
    const golden = fileURLToPath(new URL('../golden/data/people.csv', import.meta.url));
    copyFileSync(golden, join(folder, 'people.csv'));
    const refused = await runDso(['convert', 'people.csv', '-o', 'people.dsob'], { folder });
    expect(refused.stderr).toContain('people.csv: label "yes" is not a number');
    expect(refused.code).toBe(3);
    expect(readdirSync(folder).sort()).toEqual(['people.csv', 'x.dsob', 'x.vw']);
  });
});

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { runDso } from '../support/command-line.ts';
import { lastingFolders } from '../support/lasting-folder.ts';
import { runHere } from '../support/run-here.ts';
import { sampleText } from '../support/sample-text.ts';

const lastingFolder = lastingFolders();

const good = '+1 1:0.5 3:1\n-1 2:1\n';

/** What is wrong, the text, and what the message must say. */
const badTexts: [string, string, RegExp][] = [
  ['NaN as a value', `${good}+1 2:nan\n`, /^dso: bad\.svm:3: .*nan/i],
  ['infinity as a value', `${good}+1 2:inf\n`, /^dso: bad\.svm:3: .*inf/i],
  ['a value beyond float32', `${good}+1 2:1e39\n`, /^dso: bad\.svm:3: .*1e39/],
  ['NaN as a label', `${good}nan 2:1\n`, /^dso: bad\.svm:3: .*nan/i],
  ['infinity as a label', `${good}-inf 2:1\n`, /^dso: bad\.svm:3: .*inf/i],
  ['a pair without a colon', `+1 1:1\n-1 2\n`, /^dso: bad\.svm:2: .*"2"/],
  ['a pair without a value', `+1 1:1\n-1 2:\n`, /^dso: bad\.svm:2: .*value/],
  ['a pair without an index', `+1 1:1\n-1 :5\n`, /^dso: bad\.svm:2: .*index/],
  ['a word as a value', `+1 1:1\n-1 2:abc\n`, /^dso: bad\.svm:2: .*"abc"/],
  ['a fractional index', `+1 1:1\n-1 2.5:1\n`, /^dso: bad\.svm:2: .*2\.5/],
  ['a negative index', `+1 1:1\n-1 -3:1\n`, /^dso: bad\.svm:2: .*-3/],
  ['index 0', `${good}+1 0:1\n`, /^dso: bad\.svm:3: .*0.*--zero-based/],
  ['an index that is too large', `${good}-1 2147483647:1\n`, /^dso: bad\.svm:3: .*2147483646/],
  ['a repeated index', `${good}-1 2:1 2:3\n`, /^dso: bad\.svm:3: .*--sum-duplicates/],
  ['a label that is no number', `${good}spam 1:1\n`, /^dso: bad\.svm:3: .*"spam"/],
  ['an empty file', '', /^dso: bad\.svm: /],
  ['nothing but comments', '# one\n\n# two\n', /^dso: bad\.svm: /],
  ['one class only', '+1 1:1\n+1 2:1\n', /^dso: bad\.svm: .*class/],
  [
    'labels that are neither two nor whole',
    '1 1:1\n2.5 2:1\n3 1:2\n',
    /^dso: bad\.svm: labels 1, 2\.5, 3 are not whole/,
  ],
];

test.each(badTexts)(
  '%s: exit code 3, the position is named, no file is touched',
  async (_, text, message) => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'bad.svm'), text);
    writeFileSync(join(folder, 'old.model'), 'an older model');
    const args = ['train', 'bad.svm', '-o', 'old.model', '--log', 'run.jsonl', '--quiet'];
    const run = await runHere(args, folder);
    expect(run.stderr).toMatch(message);
    expect(run.stderr.trim().split('\n')).toHaveLength(1);
    expect(run.code).toBe(3);
    expect(run.stdout.length).toBe(0);
    expect(readdirSync(folder).sort()).toEqual(['bad.svm', 'old.model']);
    expect(readFileSync(join(folder, 'old.model'), 'utf8')).toBe('an older model');
  },
);

describe.concurrent('bad data: exit code 3', () => {
  test('a truncated gzip', async () => {
    const folder = lastingFolder();
    const whole = gzipSync(sampleText({ rows: 300, columns: 30, perRow: 5 }));
    writeFileSync(join(folder, 'cut.svm.gz'), whole.subarray(0, whole.length / 2));
    const run = await runDso(['train', 'cut.svm.gz'], { folder });
    expect(run.code).toBe(3);
    expect(run.stderr).toMatch(/^dso: cut\.svm\.gz: /m);
    expect(readdirSync(folder)).toEqual(['cut.svm.gz']);
  });

  test('a missing file', async () => {
    const run = await runDso(['train', 'none.svm'], { folder: lastingFolder() });
    expect(run.code).toBe(3);
    expect(run.stderr).toMatch(/^dso: .*none\.svm/m);
  });

  test('bad test data is found before training', async () => {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'train.svm'), good);
    writeFileSync(join(folder, 'test.svm'), '+1 x:1\n');
    const run = await runDso(['train', 'train.svm', '--test', 'test.svm'], { folder });
    expect(run.code).toBe(3);
    expect(run.stderr).toMatch(/^dso: test\.svm:1: /m);
    expect(run.stderr).not.toContain('epoch');
    expect(readdirSync(folder).sort()).toEqual(['test.svm', 'train.svm']);
  });

  test('the line is the one of the input, also far into it and from standard input', async () => {
    const text = `${sampleText({ rows: 5000, columns: 50, perRow: 6 })}+1 7:oops\n`;
    const run = await runDso(['train', '-', '-o', 'm'], { folder: lastingFolder(), input: text });
    expect(run.code).toBe(3);
    expect(run.stderr).toMatch(/^dso: standard input:5001: .*"oops"/m);
  });
});

describe.concurrent('a bad model: exit code 3', () => {
  async function inspect(content: Uint8Array | string) {
    const folder = lastingFolder();
    writeFileSync(join(folder, 'x.model'), content);
    return runDso(['inspect', 'x.model'], { folder });
  }

  test('another kind of file, an empty and a newer file', async () => {
    for (const [content, message] of [
      ['+1 1:1\n', 'dso: x.model: not a dso model'],
      ['', 'dso: x.model: an empty file'],
      ['dso-model 7\n', 'dso: x.model: model format 7'],
    ]) {
      const run = await inspect(content);
      expect(run.stderr).toContain(message);
      expect(run.code).toBe(3);
    }
  });

  test('a missing file and a folder', async () => {
    const folder = lastingFolder();
    mkdirSync(join(folder, 'sub'));
    const missing = await runDso(['inspect', 'none.model'], { folder });
    expect(missing.stderr).toBe('dso: none.model: no such file\n');
    expect(missing.code).toBe(3);
    const directory = await runDso(['inspect', 'sub'], { folder });
    expect(directory.stderr).toContain('sub: a directory; expected a file');
    expect(directory.code).toBe(3);
  });

  test('damaged or truncated', async () => {
    const folder = lastingFolder();
    await runDso(['train', '-', '-o', 'm'], { folder, input: good });
    const bytes = readFileSync(join(folder, 'm'));
    const flipped = Buffer.from(bytes);
    flipped[bytes.length - 3] ^= 4;
    const damaged = await inspect(flipped);
    expect(damaged.stderr).toContain('x.model: damaged model');
    expect(damaged.code).toBe(3);
    const truncated = await inspect(bytes.subarray(0, bytes.length - 1));
    expect(truncated.stderr).toContain('x.model: truncated model');
    expect(truncated.code).toBe(3);
  });

  test('labels the model does not know, in evaluate', async () => {
    const folder = lastingFolder();
    await runDso(['train', '-', '-o', 'm'], { folder, input: good });
    const run = await runDso(['evaluate', 'm', '-'], { folder, input: '0 1:1\n1 2:1\n' });
    expect(run.code).toBe(3);
    expect(run.stderr).toContain(
      'dso: standard input: the model does not know label 0 (first in row 1); ' +
        'its classes are -1 and 1',
    );
  });
});

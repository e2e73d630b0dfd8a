import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parseFasta, readFasta } from '../../../experiments/support/fasta.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const text = '> chr_num=1, position=7, label=-1\nACGT\n> position=9, label=1\nAC\r\nGG\n';

function parse(input: string) {
  return parseFasta(new TextEncoder().encode(input), 'a.fasta');
}

test('labels and letters, over several lines and either line end', () => {
  const { labels, letters, length } = parse(text);
  expect([...labels]).toEqual([-1, 1]);
  expect(length).toBe(4);
  expect(new TextDecoder().decode(letters)).toBe('ACGTACGG');
});

test('plain, gzip and bzip2 hold the same', async () => {
  const folder = temporaryFolder();
  const plain = join(folder, 'a.fasta');
  writeFileSync(plain, text);
  writeFileSync(`${plain}.gz`, gzipSync(text));
  const expected = parse(text);
  expect((await readFasta(plain)).letters).toEqual(expected.letters);
  expect((await readFasta(`${plain}.gz`)).letters).toEqual(expected.letters);
  if (spawnSync('bzip2', ['--keep', plain]).error) {
    writeFileSync(`${plain}.bz2`, '');
    await expect(readFasta(`${plain}.bz2`)).rejects.toThrow('bzip2');
    return;
  }
  expect((await readFasta(`${plain}.bz2`)).letters).toEqual(expected.letters);
  writeFileSync(`${plain}.bz2`, 'no bzip2 data');
  await expect(readFasta(`${plain}.bz2`)).rejects.toThrow('a.fasta.bz2');
});

test.each([
  ['>label=1\nACGT\n>label=-1\nACG\n', 'before line 5 has 3 letters; expected 4'],
  ['>label=2\nACGT\n', "line 1 is '>label=2'; expected label=1 or label=-1"],
  ['ACGT\n', 'line 1 has no header'],
  ['>label=1\n>label=-1\nA\n', 'has 0 letters; expected at least one'],
  ['', 'no sequence'],
])('%j is refused', (input, message) => {
  expect(() => parse(input)).toThrow(message);
});

import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Random, stream } from '../src/math/random.ts';
import { cacheFolder, type Sample } from './samples.ts';

const fields = Array.from({ length: 20 }, (_, index) => `x${index}`);
const linesPerWrite = 5000;

interface Kind {
  readonly title: string;
  readonly ending: string;
  readonly head?: string;
  line(random: Random): string;
}

const number = (random: Random) => (100 * random.uniform()).toPrecision(6);
const word = (random: Random) => `word${random.below(1000)}`;
const mixed = (random: Random) => fields.map((_, k) => (k % 2 ? number(random) : word(random)));

const kinds: readonly Kind[] = [
  {
    title: 'CSV, numbers',
    ending: 'numbers.csv',
    head: `y,${fields.join(',')}\n`,
    line: (random) => `${random.below(2)},${fields.map(() => number(random)).join(',')}\n`,
  },
  {
    title: 'CSV, half categories',
    ending: 'mixed.csv',
    head: `y,${fields.join(',')}\n`,
    line: (random) => `${random.below(2)},${mixed(random).join(',')}\n`,
  },
  {
    title: 'JSON lines, half categories',
    ending: 'mixed.jsonl',
    line: (random) => {
      const values = mixed(random).map((text, k) => [fields[k], k % 2 ? Number(text) : text]);
      return `${JSON.stringify({ y: random.below(2), ...Object.fromEntries(values) })}\n`;
    },
  },
  {
    title: 'Vowpal Wabbit',
    ending: 'words.vw',
    line: (random) => {
      const words = fields.map((_, k) =>
        k % 2 ? `${word(random)}:${number(random)}` : word(random),
      );
      return `${random.below(2)} |w ${words.join(' ')}\n`;
    },
  },
];

/** About 100 MB of text in each format that has names for columns, written once. */
export function namedSamples(): Sample[] {
  return kinds.map((kind) => {
    const path = join(cacheFolder, kind.ending);
    if (!existsSync(path)) write(path, kind);
    return { title: kind.title, path };
  });
}

function write(path: string, { head = '', line }: Kind): void {
  process.stderr.write(`  writing ${path} …\n`);
  const random = stream(1, 1);
  const file = openSync(`${path}.new`, 'w');
  writeSync(file, head);
  for (let bytes = 0; bytes < 1e8; ) {
    bytes += writeSync(file, Array.from({ length: linesPerWrite }, () => line(random)).join(''));
  }
  closeSync(file);
  renameSync(`${path}.new`, path);
}

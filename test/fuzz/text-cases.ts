import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReadOptions } from '../../src/data/read/pieces.ts';
import type { Random } from '../../src/math/random.ts';
import { pick } from './draw.ts';
import { bytesOfText, byteText, mutateText } from './mutate.ts';
import { tokensOf } from './text-tokens.ts';

export const textFormats = ['libsvm', 'csv', 'tsv', 'jsonl', 'vw'] as const;
export type TextFormat = (typeof textFormats)[number];

/** An option of the reader, and how the command line has it. */
interface Choice {
  readonly options: ReadOptions;
  readonly flags: string;
}

interface Entry {
  readonly text: string;
  /** Without which the whole input is refused. */
  readonly needed: Choice | undefined;
}

/** One input: bytes, and how they are read. */
export interface TextCase {
  readonly format: TextFormat;
  /** Of the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly options: ReadOptions;
  readonly flags: string;
}

const folder = join(import.meta.dirname, 'corpus', 'text');

const bare: Choice = { options: { header: false, label: 1 }, flags: '--no-header --label 1' };
const texts: Choice = { options: { textLabels: true }, flags: '--text-labels' };
const zeroBased: Choice = { options: { zeroBased: true }, flags: '--zero-based' };
const hashed: Choice = { options: { hashBits: 3 }, flags: '--hash 3' };
const missing: readonly Choice[] = [
  { options: { missing: 'zero' }, flags: '--missing zero' },
  { options: { missing: 'error' }, flags: '--missing error' },
];
const declared: Choice = {
  options: { missingValues: ['-999', 'x'] },
  flags: '--missing-values -999,x',
};
const fields: readonly Choice[] = [
  { options: { categorical: ['x'] }, flags: '--categorical x' },
  { options: { categorical: ['age', 'city'] }, flags: '--categorical age,city' },
  { options: { ignore: ['x', 'city'] }, flags: '--ignore x,city' },
  { options: { label: 'x' }, flags: '--label x' },
  { options: { weight: 'n' }, flags: '--weight n' },
];

const needs: Readonly<Record<string, Choice>> = {
  'limits.svm': zeroBased,
  'bare.csv': bare,
  'labels.csv': texts,
  'names.vw': texts,
};

const tabular = [
  bare,
  texts,
  hashed,
  declared,
  ...missing,
  ...fields,
  { options: { delimiter: ';' }, flags: "--delimiter ';'" },
];

const choices: Readonly<Record<TextFormat, readonly Choice[]>> = {
  libsvm: [zeroBased, texts, { options: { sumDuplicates: true }, flags: '--sum-duplicates' }],
  csv: tabular,
  tsv: tabular,
  jsonl: [texts, hashed, declared, ...missing, ...fields],
  vw: [texts, hashed],
};

/** The committed inputs and how they are damaged. */
export class TextCases {
  readonly #entries: Readonly<Record<TextFormat, readonly Entry[]>>;
  readonly #tokens: Readonly<Record<TextFormat, readonly string[]>>;

  constructor() {
    const files = readdirSync(folder).sort();
    const all = textFormats.map((format) => {
      const ending = format === 'libsvm' ? '.svm' : `.${format}`;
      const found = files.filter((file) => file.endsWith(ending));
      const entries = found.map((file) => ({
        text: byteText(readFileSync(join(folder, file))),
        needed: needs[file],
      }));
      return [format, entries] as const;
    });
    this.#entries = Object.fromEntries(all) as Record<TextFormat, Entry[]>;
    const tokens = textFormats.map((format) => [format, tokensOf(format)]);
    this.#tokens = Object.fromEntries(tokens);
  }

  next(random: Random): TextCase {
    const format = pick(random, textFormats);
    const entry = pick(random, this.#entries[format]);
    const foreign = random.below(16) === 0 ? pick(random, textFormats) : format;
    const other = pick(random, this.#entries[foreign]).text;
    const tokens = this.#tokens[format];
    const text =
      random.below(64) === 0 ? entry.text : mutateText(random, entry.text, { other, tokens });
    const chosen: Choice[] = entry.needed && random.below(8) > 0 ? [entry.needed] : [];
    while (random.below(3) === 0) chosen.push(pick(random, choices[format]));
    // Without an ending the first line decides on the format.
    const ending = format === 'libsvm' ? 'svm' : format;
    return {
      format,
      name: random.below(8) === 0 ? 'input' : `input.${ending}`,
      bytes: bytesOfText(text),
      options: Object.assign({}, ...chosen.map(({ options }) => options)),
      flags: [...new Set(chosen.map(({ flags }) => flags))].join(' '),
    };
  }
}

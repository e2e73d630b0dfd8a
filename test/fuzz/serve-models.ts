/** Models of every kind that a server can have, each trained from a small file, and rows for them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Random, stream } from '../../src/math/random.ts';
import { readModel } from '../../src/model/file.ts';
import type { Model } from '../../src/model/model.ts';
import { runHere } from '../support/run-here.ts';
import { sampleText } from '../support/sample-text.ts';
import { chance, pick } from './draw.ts';
import type { Json } from './json-forgery.ts';

export interface ServedModel {
  readonly name: string;
  readonly model: Model;
  /** A row such as those that it was trained on. */
  readonly row: (random: Random) => Json;
}

const columns = 12;
const colours = ['red', 'green', 'Zürich', 'a "b"', '雪', '__proto__', 'constructor'];
const numbers = [0, 1, -1, 0.5, 1e-30, 3e38, -3e38, 123456789.123, 2 ** 40];

const numberOf = (random: Random): number =>
  chance(random, 0.3) ? pick(random, numbers) : Math.round(1000 * random.normal()) / 1000;

function sparseRow(random: Random): Json {
  const count = random.below(6);
  if (chance(random, 0.4)) return Array.from({ length: count }, () => numberOf(random));
  const indices = Array.from({ length: count }, () => random.below(columns + 3));
  return { indices, values: indices.map(() => numberOf(random)) };
}

function namedRow(random: Random): Json {
  const row: Record<string, Json> = {};
  if (chance(random, 0.9)) row.age = numberOf(random);
  if (chance(random, 0.9)) row.colour = pick(random, [...colours, 'unseen']);
  if (chance(random, 0.5)) row.income = pick<Json>(random, [null, numberOf(random), '17', '']);
  if (chance(random, 0.2)) row[pick(random, ['other', 'label', 'colour=red', 'a.b'])] = 1;
  return row;
}

/** Rows as CSV and as JSON lines. */
function tables(): { csv: string; lines: string } {
  const random = stream(9, 1);
  const rows = Array.from({ length: 80 }, () => {
    const colour = random.below(colours.length);
    const age = Math.round(100 * random.normal()) / 10;
    const income = random.below(5) === 0 ? null : random.below(100);
    return {
      label: age + colour + random.normal() > 3 ? 1 : 0,
      age,
      colour: colours[colour],
      income,
    };
  });
  const csv = rows.map(({ label, age, colour, income }) =>
    [label, age, `"${colour.replaceAll('"', '""')}"`, income ?? ''].join(','),
  );
  return {
    csv: `label,age,colour,income\n${csv.join('\n')}\n`,
    lines: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  };
}

const short = ['--epochs', '20', '--quiet', '--threads', '1'];

/** What each is trained on, and how. */
const kinds = {
  numeric: { data: 'numeric.svm', options: '--intercept', row: sparseRow },
  table: { data: 'table.csv', options: '--label label --loss logistic', row: namedRow },
  lines: { data: 'lines.jsonl', options: '--label label --scale std', row: namedRow },
  hashed: {
    data: 'lines.jsonl',
    options: '--label label --hash 6 --scale unit-rows',
    row: namedRow,
  },
  classes: { data: 'classes.svm', options: '--loss logistic', row: sparseRow },
  counts: { data: 'classes.svm', options: '--loss poisson --intercept', row: sparseRow },
  mean: { data: 'table.csv', options: '--label income --loss square', row: namedRow },
};

export async function trainModels(folder: string): Promise<ServedModel[]> {
  const text = sampleText({ rows: 80, columns, perRow: 5 });
  const { csv, lines } = tables();
  const counted = text.split('\n').map((line, row) => line.replace(/^\S+/, String(row % 3)));
  const files = { 'numeric.svm': text, 'classes.svm': counted.join('\n') };
  const named = { 'table.csv': csv.replaceAll(/,\n/g, ',0\n'), 'lines.jsonl': lines };
  for (const [name, content] of Object.entries({ ...files, ...named })) {
    writeFileSync(join(folder, name), content);
  }
  const models: ServedModel[] = [];
  for (const [name, { data, options, row }] of Object.entries(kinds)) {
    const path = join(folder, `${name}.model`);
    const args = ['train', join(folder, data), ...options.split(' '), ...short, '-o', path];
    const { code, stderr } = await runHere(args);
    if (code !== 0 && code !== 4) throw new Error(`${args.join(' ')}: ${stderr}`);
    models.push({ name, model: await readModel(path), row });
  }
  return models;
}

import { type Random, stream } from '../../src/math/random.ts';

/** A value of a table: a number, a category, or nothing. */
export type Cell = number | string | null;

/** A table whose first fields are numbers and whose others are categories. */
export interface SampleTable {
  readonly fields: readonly string[];
  readonly numeric: number;
  readonly cells: readonly (readonly Cell[])[];
  readonly labels: readonly (number | string)[];
  readonly weights: readonly number[];
}

/** What a format can have trouble with, and what it has not. */
const awkward = [
  'plain',
  'with blank',
  'a,b',
  'say "no"',
  'two\nlines',
  'Zürich',
  '雪',
  "it's",
  'x;y',
];

export interface TableShape {
  readonly rows: number;
  readonly numeric: number;
  readonly categorical: number;
  readonly textLabels?: boolean;
  /** Categories and names may hold anything. */
  readonly awkward?: boolean;
}

export function sampleTable(shape: TableShape, seed: number): SampleTable {
  const random = stream(seed, 5);
  const { rows, numeric, categorical, textLabels = false } = shape;
  const fields = [
    ...Array.from({ length: numeric }, (_, index) =>
      shape.awkward ? `n "${index}",x` : `n${index}`,
    ),
    ...Array.from({ length: categorical }, (_, index) => `c${index}`),
  ];
  const cells = Array.from({ length: rows }, () =>
    fields.map((_, field) => {
      if (random.below(10) === 0) return null;
      return field < numeric ? drawNumber(random) : drawText(random, shape.awkward ?? false);
    }),
  );
  const labels = Array.from({ length: rows }, (_, row) =>
    // The first labels may be numbers: they become texts with those that are none.
    textLabels && row % 3 === 2 ? ['spam', 'ham'][random.below(2)] : random.below(3) - 1,
  );
  const weights = Array.from({ length: rows }, () => random.below(5) / 2);
  return { fields, numeric, cells, labels, weights };
}

/** Numbers of all sizes, that float32 holds. */
function drawNumber(random: Random): number {
  const power = 10 ** (random.below(60) - 30);
  const draws = [0, random.below(100), random.normal(), random.normal() * power];
  return Math.fround(draws[random.below(draws.length)]);
}

function drawText(random: Random, isAwkward: boolean): string {
  if (isAwkward && random.below(3) === 0) return awkward[random.below(awkward.length)];
  return `w${random.below(30)}`;
}

/** The rows as names and values, the way they ought to come back. */
export function namedRows({ fields, numeric, cells }: SampleTable): Record<string, number>[] {
  return cells.map((record) => {
    const row: Record<string, number> = {};
    for (const [field, cell] of record.entries()) {
      if (cell === null) row[`${fields[field]}=?`] = 1;
      else if (field >= numeric) row[`${fields[field]}=${cell}`] = 1;
      else if (cell !== 0) row[fields[field]] = cell as number;
    }
    return row;
  });
}

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

/** Separated values with quotes where they are needed, and sometimes where they are not. */
export function csvOf(table: SampleTable, delimiter = ',', lineEnd = '\n'): string {
  const write = (cell: Cell, index: number) => {
    const text = cell === null ? ['', 'NA', '?', 'null'][index % 4] : `${cell}`;
    return /["\n\r,;\t]/.test(text) || index % 7 === 3 ? quoted(text) : text;
  };
  const head = [...table.fields, 'weight', 'y'].map((name) => write(name, 0));
  const lines = table.cells.map((record, row) =>
    [...record, table.weights[row], table.labels[row]]
      .map((cell, index) => write(cell, index + row))
      .join(delimiter),
  );
  return [head.join(delimiter), ...lines].map((line) => `${line}${lineEnd}`).join('');
}

export function jsonLinesOf(table: SampleTable): string {
  const lines = table.cells.map((record, row) => {
    const values = record.map((cell, field) => [table.fields[field], cell]);
    const object = { y: table.labels[row], weight: table.weights[row] };
    return JSON.stringify({ ...object, ...Object.fromEntries(values) });
  });
  return lines.map((line) => `${line}\n`).join('');
}

/** Vowpal Wabbit text; names and categories must not be awkward, labels are numbers. */
export function vowpalOf(table: SampleTable): string {
  const names = namedRows(table);
  const lines = names.map((row, index) => {
    const features = Object.entries(row).map(([name, value]) => {
      const word = name.replace('=', '_');
      return value === 1 && index % 2 === 0 ? word : `${word}:${value}`;
    });
    const half = features.length >> 1;
    const parts = [features.slice(0, half), features.slice(half)].map((part) => part.join(' '));
    return `${table.labels[index]} ${table.weights[index]} 't${index}| ${parts[0]} |b ${parts[1]}`;
  });
  return lines.map((line) => `${line}\n`).join('');
}

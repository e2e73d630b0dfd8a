/** Small data, drawn by a generator of its own, so that no file of src decides what is trained on. */
import { writeFileSync } from 'node:fs';
import { type ColumnSource, parquetWriteFile } from 'hyparquet-writer';
import { convertDataset, type Dataset, datasetFromRows } from '../../../src/index.ts';

export type LabelKind = 'sign' | 'value' | 'count' | 'class';

interface Row {
  readonly indices: readonly number[];
  readonly values: readonly number[];
  readonly score: number;
}

/** Numbers in [0, 1) by the method mulberry32: whole numbers only, the same on every platform. */
function drawer(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Three decimals, which text, float32 and float64 agree on. */
const rounded = (number: number) => Math.round(1000 * number) / 1000;

function drawRows(rows: number, columns: number, perRow: number, seed: number): Row[] {
  const draw = drawer(seed);
  const weights = Array.from({ length: columns }, () => 2 * draw() - 1);
  return Array.from({ length: rows }, () => {
    const indices: number[] = [];
    for (let column = 0; column < columns; column += 1) {
      // Columns of different frequency, as in real data.
      const share = (2 * perRow * (columns - column)) / (columns * (columns + 1));
      if (perRow === columns || draw() < share) indices.push(column);
    }
    const values = indices.map(() => rounded(2 * draw() - 1));
    const products = values.map((value, entry) => value * weights[indices[entry]]);
    const noise = 0.4 * (draw() + draw() - 1);
    return { indices, values, score: products.reduce((sum, term) => sum + term, noise) };
  });
}

const shapes = {
  sparse: drawRows(400, 150, 12, 1),
  dense: drawRows(160, 14, 14, 2),
  test: drawRows(120, 150, 12, 3),
};

export type Shape = keyof typeof shapes;

const labelOf: Readonly<Record<LabelKind, (row: Row) => number>> = {
  sign: ({ score }) => (score > 0 ? 1 : -1),
  value: ({ score }) => rounded(score),
  count: ({ score }) => Math.floor(2 * Math.abs(score)),
  class: ({ score }) => (score < -0.6 ? 1 : score < 0 ? 2 : score < 0.6 ? 3 : 4),
};

/** Weights of rows: some are 0. */
const weightsOf = (rows: number) => Array.from({ length: rows }, (_, row) => (row % 5) / 2);

export function dataset(shape: Shape, kind: LabelKind, weighted = false): Dataset {
  const rows = shapes[shape];
  const columns = shape === 'dense' ? 14 : 150;
  const weights = weighted ? { weights: weightsOf(rows.length) } : {};
  return datasetFromRows({ rows, labels: rows.map(labelOf[kind]), columns, ...weights });
}

function libsvmOf(rows: readonly Row[], label: (row: Row) => string | number): string {
  const lines = rows.map((row) => {
    const entries = row.indices.map((index, entry) => `${index + 1}:${row.values[entry]}`);
    return [label(row), ...entries].join(' ');
  });
  return `${lines.join('\n')}\n`;
}

/** No, one or several topics. */
const topicsOf = ({ score, values }: Row) =>
  [score > 0 && 'sport', score < 0.3 && 'music', values[0] > 0 && 'film']
    .filter((topic) => topic !== false)
    .join(',') || 'none';

interface Customer {
  readonly plan: string | null;
  readonly months: number | null;
  readonly calls: number;
  readonly weight: number;
  readonly outcome: 'left' | 'stayed';
}

function customers(): Customer[] {
  const draw = drawer(4);
  return Array.from({ length: 200 }, (_, row) => {
    const plan = ['basic', 'plus', 'family', null][Math.floor(3.3 * draw())];
    const months = draw() < 0.1 ? null : 1 + Math.floor(36 * draw());
    const calls = rounded(6 * draw() * draw());
    const odds = 0.6 * calls - 0.08 * (months ?? 10) + (plan === 'basic' ? 0.8 : 0);
    const outcome = odds + draw() > 0.7 ? 'left' : 'stayed';
    return { plan, months, calls, weight: (1 + (row % 4)) / 2, outcome };
  });
}

function csvOf(rows: readonly Customer[], separator: string): string {
  const names = Object.keys(rows[0]) as (keyof Customer)[];
  const lines = rows.map((row) => names.map((name) => row[name] ?? ''));
  return [names, ...lines].map((line) => `${line.join(separator)}\n`).join('');
}

function vowpalOf(rows: readonly Customer[]): string {
  const lines = rows.map(({ plan, months, calls, weight, outcome }) => {
    const label = outcome === 'left' ? 1 : -1;
    return `${label} ${weight} | months:${months ?? 0} plan_${plan ?? 'none'} |use calls:${calls}`;
  });
  return `${lines.join('\n')}\n`;
}

function writeTables(): void {
  const rows = customers();
  writeFileSync('table.csv', csvOf(rows, ','));
  writeFileSync('table.tsv', csvOf(rows, '\t'));
  writeFileSync('table.jsonl', `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
  writeFileSync('table.vw', vowpalOf(rows));
  const column = (name: keyof Customer, type: 'STRING' | 'DOUBLE'): ColumnSource => ({
    name,
    type,
    data: rows.map((row) => row[name]),
  });
  parquetWriteFile({
    filename: 'table.parquet',
    columnData: [
      column('plan', 'STRING'),
      column('months', 'DOUBLE'),
      column('calls', 'DOUBLE'),
      column('weight', 'DOUBLE'),
      column('outcome', 'STRING'),
    ],
  });
}

/** As in the documentation of the library: the pinball loss for the 90th percentile. */
const customLoss = `
export const name = 'pinball';
export const task = 'regression';
export const smooth = false;
export const parameter = 0.9;
export const value = (u, y, tau) => (u < y ? tau * (y - u) : (1 - tau) * (u - y));
export const derivative = (u, y, tau) => (u < y ? -tau : 1 - tau);
export const curvature = () => 0;
export const conjugate = (s, y) => y * s;
export const conjugateDerivative = (s, y) => y;
export const conjugateLow = (y, tau) => -tau;
export const conjugateHigh = (y, tau) => 1 - tau;
export const dualStep = (alpha, u, q, y, tau) => {
  const pull = y - u + q * alpha;
  return pull === 0 ? 0 : Math.min(tau, Math.max(tau - 1, pull / q));
};
`;

/** A positive factor for each of the columns. */
export const factors = Float64Array.from({ length: 150 }, (_, column) => 0.5 + (column % 4) / 2);

/** Writes every file that the runs read into the current folder. */
export async function writeFiles(): Promise<void> {
  for (const kind of ['sign', 'value', 'count', 'class'] as const) {
    writeFileSync(`${kind}.svm`, libsvmOf(shapes.sparse, labelOf[kind]));
    writeFileSync(`${kind}.test.svm`, libsvmOf(shapes.test, labelOf[kind]));
  }
  writeFileSync('topics.svm', libsvmOf(shapes.sparse, topicsOf));
  writeFileSync('factors.txt', `${[...factors].join('\n')}\n`);
  writeFileSync('pinball.mjs', customLoss);
  writeTables();
  await convertDataset('sign.svm', 'sign.dsob');
}

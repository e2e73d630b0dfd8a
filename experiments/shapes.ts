/** Table "datasets": m, d, |Ω| and density of the paper's data, of ours and of the generator's. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { figure } from '../bench/table.ts';
import type { Dataset } from '../src/data/dataset.ts';
import { generateDataset } from '../src/data/generate.ts';
import { scaleShape, shapeNames } from '../src/data/shapes.ts';
import { readDataset } from '../src/train/read.ts';
import type { Experiment, Outcome, Setting } from './support/experiment.ts';
import { readFasta } from './support/fasta.ts';
import { kmerColumns, kmersPerRow } from './support/kmers.ts';
import { section } from './support/report.ts';
import type { Sequences } from './support/sequences.ts';
import { combine } from './support/verdict.ts';

interface ShapeRow {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** |Ω|/(m d) in per cent. */
  readonly density: number;
  readonly perRow: number;
  readonly longestRow?: number;
  /** Positive rows for one negative; for two classes only. */
  readonly balance?: number;
}

/** As printed in the paper, s in per cent. */
const paperTable = [
  { name: 'real-sim', rows: 57.76e3, columns: 20.95e3, nonzeros: 2.97e6, density: 0.245 },
  { name: 'webspam-t', rows: 350e3, columns: 16.61e6, nonzeros: 1.28e9, density: 0.022 },
];

/** From its section on terascale learning. */
const paperSplice = { name: 'splice (paper)', rows: 50e6, columns: 11.7e6, nonzeros: 50e6 * 2000 };

/** Parts of the generator's presets that are generated here, at scale 1. */
const shares = { 'real-sim': 0.5, webspam: 0.002, splice: 0.0001 } as const;

/** k-mers up to this length, as in the splice experiment. */
const longestWord = 6;

function densityOf(rows: number, columns: number, nonzeros: number): number {
  return (100 * nonzeros) / (rows * columns);
}

function shapeRow(name: string, rows: number, columns: number, nonzeros: number): ShapeRow {
  const density = densityOf(rows, columns, nonzeros);
  return { name, rows, columns, nonzeros, density, perRow: nonzeros / rows };
}

/** The larger label is the positive one; undefined for more or fewer than two. */
function balanceOf(labels: readonly Float64Array[]): number | undefined {
  const counts = new Map<number, number>();
  for (const part of labels) {
    for (const label of part) {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      if (counts.size > 2) return undefined;
    }
  }
  if (counts.size !== 2) return undefined;
  const [[, negative], [, positive]] = [...counts].sort((a, b) => a[0] - b[0]);
  return positive / negative;
}

function shapeOfDataset(name: string, dataset: Dataset): ShapeRow {
  let longestRow = 0;
  for (const { rowOffsets } of dataset.parts) {
    for (let i = 0; i + 1 < rowOffsets.length; i++) {
      longestRow = Math.max(longestRow, rowOffsets[i + 1] - rowOffsets[i]);
    }
  }
  const balance = balanceOf(dataset.parts.map(({ labels }) => labels));
  return {
    ...shapeRow(name, dataset.rows, dataset.columns, dataset.nonzeros),
    longestRow,
    ...(balance !== undefined && { balance }),
  };
}

/** The shape the k-mers of sequences have, without making them. */
function shapeOfSequences(sequences: Sequences): ShapeRow {
  const { length, labels, name } = sequences;
  const perRow = kmersPerRow(length, longestWord);
  const columns = kmerColumns(length, longestWord)[longestWord];
  const balance = balanceOf([labels]);
  return {
    ...shapeRow(`${name}, k ≤ ${longestWord}`, labels.length, columns, labels.length * perRow),
    longestRow: perRow,
    ...(balance !== undefined && { balance }),
  };
}

async function shapesOfFiles(folder: string): Promise<ShapeRow[]> {
  const rows: ShapeRow[] = [];
  for (const file of readdirSync(folder).sort()) {
    const path = join(folder, file);
    if (/\.svm(\.gz|\.zst)?$/.test(file)) {
      rows.push(shapeOfDataset(file, await readDataset(path)));
    } else if (/\.fasta(\.gz|\.bz2)?$/.test(file)) {
      rows.push(shapeOfSequences(await readFasta(path)));
    }
  }
  return rows;
}

function count(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`;
  return value >= 1e4 ? `${(value / 1e3).toFixed(2)} K` : String(Math.round(value));
}

function cells(row: ShapeRow): string[] {
  const { name, rows, columns, nonzeros, density, perRow, longestRow, balance } = row;
  return [
    name,
    count(rows),
    count(columns),
    count(nonzeros),
    density.toPrecision(3),
    figure(perRow),
    longestRow === undefined ? '–' : String(longestRow),
    balance === undefined ? '–' : balance.toPrecision(3),
  ];
}

async function perform(setting: Setting): Promise<Outcome> {
  const { scale, seed, data, say } = setting;
  const paper = [...paperTable, paperSplice].map(({ name, rows, columns, nonzeros }) =>
    shapeRow(name, rows, columns, nonzeros),
  );
  const made = shapeNames.map((like) => {
    const name = `${like} × ${Number((shares[like] * scale).toPrecision(3))}`;
    return shapeOfDataset(name, generateDataset({ like, scale: shares[like] * scale, seed }).train);
  });
  const present = existsSync(data);
  const files = present ? await shapesOfFiles(data) : [];
  const head = ['data', 'm', 'd', '|Ω|', 's (%)', '|Ω|/m', 'longest row', 's⁺:s⁻'];
  say(section("the paper's data", head, paper.map(cells)));
  say(section('generated here', head, made.map(cells)));
  if (present) say(section(`files in ${data}`, head, files.map(cells)));
  return {
    results: { paper, generated: made, files },
    claims: [
      {
        claim: 'the table: m, d, |Ω| and density s of real-sim and webspam-t agree with each other',
        measured: paperTable
          .map(({ name, rows, columns, nonzeros, density }) => {
            const own = densityOf(rows, columns, nonzeros).toFixed(3);
            return `${name}: s = ${density} %, |Ω|/(m d) = ${own} %`;
          })
          .join('; '),
        verdict: combine(
          paperTable.map(({ rows, columns, nonzeros, density }) => {
            return Math.abs(densityOf(rows, columns, nonzeros) - density) < 0.0006;
          }),
        ),
      },
      {
        claim: 'generated data has the rows of the paper’s: |Ω|/m',
        measured: made
          .map(({ name, perRow }, k) => {
            return `${name}: ${figure(perRow)}, expected ${figure(scaleShape(shapeNames[k], 1).perRow)}`;
          })
          .join('; '),
        verdict: combine(
          made.map(({ perRow }, k) => {
            return Math.abs(perRow / scaleShape(shapeNames[k], 1).perRow - 1) < 0.15;
          }),
        ),
      },
    ],
    figures: [],
    comparisons: [],
    skipped: present ? [] : [`files: no folder ${data} (--data or DSO_DATA says where to look)`],
  };
}

export const shapes: Experiment = {
  name: 'shapes',
  summary: "the data sets' rows, columns, non-zeros and density (table 1)",
  time: 1,
  extras: {},
  run: perform,
};

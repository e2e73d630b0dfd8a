import type { Dataset } from '../data/dataset.ts';
import { hashShare, joinHashes, type RowHashes } from '../data/fingerprint.ts';
import { type Classes, classesFrom, distinctLabels, enoughLabels } from '../data/labels.ts';
import { columnCounts, rowLengths } from '../data/row-packing.ts';
import { chooseRows, selectRows } from '../data/split.ts';
import { isWeighted, rowWeights } from '../data/weights.ts';
import type { EntryCounts } from '../engine/partition.ts';
import {
  type Company,
  gatherFloats,
  gatherNumbers,
  gatherValues,
  sumNumbers,
} from '../engine/processes/process-group.ts';
import { DataError } from '../errors.ts';
import { CompensatedSum } from '../math/sum.ts';
import type { HashPayload } from './tasks.ts';
import { threadCount, threadPool } from './threads.ts';

/** The rows that one process of a job has read, and the shape of all the data. */
export interface Share {
  /** Rows of this process; columns and non-zeros count here alone. */
  readonly dataset: Dataset;
  /** Which of all rows is the first one here. */
  readonly firstRow: number;
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
  /** Whether rows of any process have weights, and what all rows count together. */
  readonly weighted: boolean;
  readonly mass: number;
  readonly company: Company | undefined;
}

/** Counts what the processes have read together; alone, a process has all of it. */
export async function share(dataset: Dataset, company?: Company): Promise<Share> {
  const { rows, columns, nonzeros } = dataset;
  const all = await gatherValues(company, {
    rows,
    columns,
    nonzeros,
    weighted: isWeighted(dataset),
  });
  const total = (counts: readonly number[]) => counts.reduce((whole, count) => whole + count, 0);
  const weighted = all.some((one) => one.weighted);
  const allRows = total(all.map((one) => one.rows));
  return {
    dataset,
    firstRow: total(all.slice(0, company?.rank ?? 0).map((one) => one.rows)),
    rows: allRows,
    columns: Math.max(...all.map((one) => one.columns)),
    nonzeros: total(all.map((one) => one.nonzeros)),
    weighted,
    mass: weighted ? await massOf(dataset, company) : allRows,
    company,
  };
}

/** The sum of all weights in the order of all rows: the same bits however many processes there are. */
async function massOf(dataset: Dataset, company: Company | undefined): Promise<number> {
  const here = rowWeights(dataset) ?? new Float64Array(dataset.rows).fill(1);
  const sums = new CompensatedSum();
  for (const weights of company ? await gatherFloats(company, here) : [here]) {
    for (let row = 0; row < weights.length; row++) sums.add(weights[row]);
  }
  return sums.total;
}

/** Rows that count nothing leave nothing to train on, and too much of them no number to divide by. */
export function checkMass({ dataset, mass }: Share): void {
  if (mass > 0 && mass < Infinity) return;
  const found = mass > 0 ? 'weights of rows whose sum is not finite' : 'all rows have weight 0';
  throw new DataError(`${dataset.name}: ${found}; expected a positive, finite sum`);
}

/** Sets a random part of all rows aside, the same ones whoever has them. */
export async function splitShare(
  whole: Share,
  fraction: number,
  seed: number,
): Promise<{ train: Share; test: Share }> {
  const { dataset, firstRow, rows, columns, company } = whole;
  const chosen = chooseRows({ name: dataset.name, rows }, fraction, seed);
  const mine = chosen.subarray(firstRow, firstRow + dataset.rows);
  const side = async (which: number, title: string) => {
    const selected = selectRows(dataset, mine, which, `${dataset.name} (${title} part)`);
    return share({ ...selected, columns }, company);
  };
  return { train: await side(0, 'training'), test: await side(1, 'held-out') };
}

/** The classes of all rows, or an error that says what labels there are. */
export async function classesOfShare(
  { dataset, company }: Share,
  multiLabel: boolean,
): Promise<Classes> {
  const here = distinctLabels(dataset, enoughLabels);
  const all = new Set((await gatherValues(company, here)).flat());
  return classesFrom([...all], dataset, multiLabel);
}

/** |Ω_i| and |Ω̄_j| of all the data; an intercept adds one to every row and a column of its own. */
export async function countShare(
  { dataset, columns, rows, company }: Share,
  intercept: boolean,
): Promise<EntryCounts> {
  const lengths = await allLengths(dataset, company);
  const all = columns + (intercept ? 1 : 0);
  const counted = dataset.stored?.countColumns(all) ?? columnCounts(dataset, all);
  const counts = company ? await sumNumbers(company, counted) : counted;
  if (intercept) {
    for (let i = 0; i < lengths.length; i++) lengths[i]++;
    counts[columns] = rows;
  }
  return { rows: lengths, columns: counts };
}

async function allLengths(dataset: Dataset, company: Company | undefined): Promise<Int32Array> {
  const lengths = rowLengths(dataset);
  return company ? gatherNumbers(company, lengths) : lengths;
}

/** Fewer entries than these are hashed before a thread has been told to. */
const worthThreads = 1e6;

/** The hash that one process with all the rows would compute. */
export async function hashOfShare(all: Share, threads?: number): Promise<string> {
  const { dataset, firstRow, columns, rows, company } = all;
  const here = (await hashesOfParts(dataset, firstRow, threads)).map((words) => [...words]);
  const hashes = (await gatherValues(company, here)).flat();
  return joinHashes(
    hashes.map((words) => Uint32Array.from(words)),
    columns,
    rows,
  );
}

async function hashesOfParts(
  dataset: Dataset,
  firstRow: number,
  threads: number | undefined,
): Promise<RowHashes[]> {
  const { parts, nonzeros, stored } = dataset;
  if (stored || nonzeros < worthThreads || threadCount(threads) === 1) {
    return [hashShare(dataset, firstRow)];
  }
  const pool = threadPool(threadCount(threads));
  let row = firstRow;
  return Promise.all(
    parts.map((part) => {
      const payload: HashPayload = { part, row };
      row += part.labels.length;
      return pool.run<RowHashes>('hash', payload);
    }),
  );
}

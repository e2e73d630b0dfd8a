import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Dataset, isWeighted, rowWeights } from '../data/dataset.ts';
import { hashShard, joinHashes, type RowHashes } from '../data/fingerprint.ts';
import {
  type Classes,
  type ClassOptions,
  classesFrom,
  countLabels,
  sumCounts,
} from '../data/labels.ts';
import { columnCounts, packRows, rowLengths, unpackRows } from '../data/row-packing.ts';
import { chooseRows, selectRows } from '../data/split.ts';
import { workersOfRanks } from '../engine/block-layout.ts';
import type { NonzeroCounts, Placement } from '../engine/partition.ts';
import {
  gatherFloats,
  gatherNumbers,
  gatherValues,
  type ProcessGroup,
  singleProcess,
  sumNumbers,
} from '../engine/processes/process-group.ts';
import { threadCount, threadPool } from '../engine/thread-pool.ts';
import { DataError } from '../errors.ts';
import { CompensatedSum, sum } from '../math/vectors.ts';
import type { HashPayload } from './tasks.ts';

/** The rows that one process of a group has read, and the shape of all the data. */
export interface DataShard extends Pick<Dataset, 'rows' | 'columns' | 'nonzeros'> {
  /** Rows of this process; columns and non-zeros count here alone. */
  readonly dataset: Dataset;
  /** Which of all rows is the first one here. */
  readonly firstRow: number;
  /** Whether rows of any process have weights, and the sum of all. */
  readonly weighted: boolean;
  readonly totalWeight: number;
  readonly group: ProcessGroup;
}

/** Counts what all processes have read. */
export async function dataShard(
  dataset: Dataset,
  group: ProcessGroup = singleProcess,
): Promise<DataShard> {
  const { rows, columns, nonzeros } = dataset;
  const here = { rows, columns, nonzeros, weighted: isWeighted(dataset) };
  const all = await gatherValues(group, here);
  const total = (counts: readonly number[]) => counts.reduce((whole, count) => whole + count, 0);
  const weighted = all.some((one) => one.weighted);
  const allRows = total(all.map((one) => one.rows));
  return {
    dataset,
    firstRow: total(all.slice(0, group.rank).map((one) => one.rows)),
    rows: allRows,
    columns: Math.max(...all.map((one) => one.columns)),
    nonzeros: total(all.map((one) => one.nonzeros)),
    weighted,
    totalWeight: weighted ? await totalWeightOf(dataset, group) : allRows,
    group,
  };
}

/** The sum of all weights in the order of all rows: the same bits however many processes there are. */
async function totalWeightOf(dataset: Dataset, group: ProcessGroup): Promise<number> {
  const here = rowWeights(dataset) ?? new Float64Array(dataset.rows).fill(1);
  const sums = new CompensatedSum();
  for (const weights of await gatherFloats(group, here)) {
    for (let row = 0; row < weights.length; row++) sums.add(weights[row]);
  }
  return sums.total;
}

/** The sum of losses is divided by the total weight. */
export function checkTotalWeight({ dataset, totalWeight }: DataShard): void {
  if (totalWeight > 0 && totalWeight < Infinity) return;
  const found =
    totalWeight > 0 ? 'weights of rows whose sum is not finite' : 'all rows have weight 0';
  throw new DataError(`${dataset.name}: ${found}; expected a positive, finite sum`);
}

/** Sets a random part of all rows aside, the same ones whichever process has them. */
export async function splitShard(
  whole: DataShard,
  fraction: number,
  seed: number,
): Promise<{ train: DataShard; test: DataShard }> {
  const { dataset, firstRow, rows, columns, group } = whole;
  const chosen = chooseRows({ name: dataset.name, rows }, fraction, seed);
  const mine = chosen.subarray(firstRow, firstRow + dataset.rows);
  const side = async (which: number, title: string) => {
    const selected = selectRows(dataset, mine, which, `${dataset.name} (${title} part)`);
    return dataShard({ ...selected, columns }, group);
  };
  return { train: await side(0, 'training'), test: await side(1, 'held-out') };
}

/** The classes of all rows, or an error that says what labels there are. */
export async function classesOfShard(
  { dataset, group }: DataShard,
  options: ClassOptions,
): Promise<Classes> {
  const here = [...countLabels(dataset)];
  return classesFrom(sumCounts(await gatherValues(group, here)), dataset, options);
}

/** |Ω_i| and |Ω̄_j| of all the data; an intercept adds one to every row and a column of its own. */
export async function countShard(
  { dataset, columns, rows, group }: DataShard,
  intercept: boolean,
): Promise<NonzeroCounts> {
  const lengths = await gatherNumbers(group, rowLengths(dataset));
  const all = columns + (intercept ? 1 : 0);
  const counted = dataset.stored?.countColumns(all) ?? columnCounts(dataset, all);
  const counts = await sumNumbers(group, counted);
  if (intercept) {
    for (let i = 0; i < lengths.length; i++) lengths[i]++;
    counts[columns] = rows;
  }
  return { rows: lengths, columns: counts };
}

/** Fewer non-zeros are hashed faster than a thread starts. */
const worthThreads = 1e6;

/** The hash that one process with all the rows would compute. */
export async function hashOfShard(all: DataShard, threads?: number): Promise<string> {
  const here = (await hashesOfParts(all, threadCount(threads))).map((words) => [...words]);
  const hashes = (await gatherValues(all.group, here)).flat();
  const arrays = hashes.map((words) => Uint32Array.from(words));
  return joinHashes(arrays, all.columns, all.rows);
}

async function hashesOfParts(
  { dataset, firstRow }: DataShard,
  threads: number,
): Promise<RowHashes[]> {
  const { parts, nonzeros, stored } = dataset;
  if (stored || nonzeros < worthThreads || threads === 1) {
    // Threads get first what is posted to them now.
    await yieldToEventLoop();
    return [hashShard(dataset, firstRow)];
  }
  let row = firstRow;
  return Promise.all(
    parts.map((part) => {
      const payload: HashPayload = { part, row };
      row += part.labels.length;
      return threadPool(threads).run<RowHashes>('hash', payload);
    }),
  );
}

/**
 * Brings every row to the process that plays its worker. Processes send rows in the order of their
 * positions, and each knows all positions and all lengths, so only the rows have to be sent.
 * `rowOrder`: the row of the new data set at each of the process's positions.
 */
export async function moveRows(
  { dataset, firstRow, columns, weighted, group }: DataShard,
  { rowBounds, rowOrder }: Pick<Placement, 'rowBounds' | 'rowOrder'>,
  counts: Int32Array,
  intercept: boolean,
): Promise<{ readonly dataset: Dataset; readonly rowOrder: Int32Array }> {
  const { rank, size } = group;
  if (size === 1) return { dataset, rowOrder };
  const lengths = intercept ? counts.map((count) => count - 1) : counts;
  const firsts = workersOfRanks(rowBounds.length - 1, size);
  const orderOf = (target: number) =>
    rowOrder.subarray(rowBounds[firsts[target]], rowBounds[firsts[target + 1]]);
  const outgoing = Array.from({ length: size }, (_, target) => {
    const here = rowsBetween(orderOf(target), firstRow, dataset.rows);
    const local = here.map((row) => row - firstRow);
    return packRows(dataset, local, weighted);
  });
  const incoming = await group.exchange(outgoing);
  const sources = await gatherValues(group, [firstRow, dataset.rows]);
  const order = orderOf(rank);
  const received = sources.map(([first, count]) => rowsBetween(order, first, count));
  const ends = sources.map(([first, count]) => first + count);
  const parts = received.flatMap((rows, source) => {
    const lengthsOfRows = rows.map((row) => lengths[row]);
    return unpackRows(incoming[source], lengthsOfRows, undefined, weighted);
  });
  const nonzeros = parts.reduce((total, { indices }) => total + indices.length, 0);
  // The columns of all processes: an intercept comes behind the last one that any of them has.
  const { stored: _, ...schema } = dataset;
  return {
    dataset: { ...schema, columns, parts, rows: order.length, nonzeros, notices: [] },
    rowOrder: indicesIn(received, ends, order),
  };
}

/** Those of `count` consecutive rows. */
function rowsBetween(rows: Int32Array, first: number, count: number): Int32Array {
  return rows.filter((row) => row >= first && row < first + count);
}

/**
 * Where each row of `order` is among all that were received: those of a source follow those of the
 * sources before it, in the order of their positions.
 */
function indicesIn(
  received: readonly Int32Array[],
  ends: readonly number[],
  order: Int32Array,
): Int32Array {
  const lengths = Int32Array.from(received, (rows) => rows.length);
  const next = received.map((_, source) => sum(lengths.subarray(0, source)));
  const indices = new Int32Array(new SharedArrayBuffer(4 * order.length));
  for (let k = 0; k < order.length; k++) {
    indices[k] = next[ends.findIndex((end) => order[k] < end)]++;
  }
  return indices;
}

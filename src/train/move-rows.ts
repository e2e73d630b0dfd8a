import type { Dataset } from '../data/dataset.ts';
import { packRows, unpackRows } from '../data/row-packing.ts';
import { type Company, gatherValues } from '../engine/processes/process-group.ts';
import { workersOfRanks } from '../parallel/traffic.ts';
import type { Share } from './shard.ts';

/** Which place, and so which worker, all rows go to. */
export interface RowPlaces {
  /** Worker q has the places rowBounds[q] … rowBounds[q+1]-1. */
  readonly rowBounds: Int32Array;
  /** Which of all rows is at each place. */
  readonly rowOrder: Int32Array;
}

/** The rows of the workers that a process plays. */
export interface MovedRows {
  readonly dataset: Dataset;
  /** Which row of the data set is at each of the process's places. */
  readonly rowOrder: Int32Array;
}

/**
 * Brings every row to the process that plays its worker. Processes send rows in the order of their
 * places, and everybody knows all places and all lengths, so nothing but the rows has to be sent.
 */
export async function moveRows(
  { dataset, firstRow, columns, weighted, company }: Share,
  places: RowPlaces,
  lengths: Int32Array,
): Promise<MovedRows> {
  if (!company) return { dataset, rowOrder: places.rowOrder };
  const { rank, size } = company;
  const firsts = workersOfRanks(places.rowBounds.length - 1, size);
  const orderOf = (target: number) =>
    places.rowOrder.subarray(
      places.rowBounds[firsts[target]],
      places.rowBounds[firsts[target + 1]],
    );
  const outgoing = Array.from({ length: size }, (_, target) => {
    const here = orderOf(target).filter((row) => isBetween(row, firstRow, dataset.rows));
    return packRows(
      dataset,
      here.map((row) => row - firstRow),
      weighted,
    );
  });
  const incoming = await company.exchange(outgoing);
  // The columns of all processes: an intercept comes behind the last one that any of them has.
  const { stored: _, ...meaning } = dataset;
  const of = { ...meaning, columns };
  const sources = await ranges(company, firstRow, dataset.rows);
  return unpack(orderOf(rank), sources, lengths, incoming, weighted, of);
}

const isBetween = (row: number, first: number, count: number) =>
  row >= first && row < first + count;

type Range = readonly [first: number, count: number];

function ranges(company: Company, first: number, count: number): Promise<Range[]> {
  return gatherValues<Range>(company, [first, count]);
}

function unpack(
  order: Int32Array,
  sources: readonly Range[],
  lengths: Int32Array,
  incoming: readonly Uint8Array[],
  weighted: boolean,
  of: Omit<Dataset, 'stored'>,
): MovedRows {
  const rowsFrom = sources.map(([first, count]) =>
    order.filter((row) => isBetween(row, first, count)),
  );
  const parts = rowsFrom.flatMap((rows, source) =>
    unpackRows(
      incoming[source],
      rows.map((row) => lengths[row]),
      undefined,
      weighted,
    ),
  );
  // Rows of a source lie behind those of the sources before it, in the order of their places.
  const next = rowsFrom.map((_, source) =>
    rowsFrom.slice(0, source).reduce((sum, rows) => sum + rows.length, 0),
  );
  const ends = sources.map(([first, count]) => first + count);
  const rowOrder = new Int32Array(new SharedArrayBuffer(4 * order.length));
  for (let place = 0; place < order.length; place++) {
    const source = ends.findIndex((end) => order[place] < end);
    rowOrder[place] = next[source]++;
  }
  const nonzeros = parts.reduce((sum, { indices }) => sum + indices.length, 0);
  return { dataset: { ...of, parts, rows: order.length, nonzeros, notices: [] }, rowOrder };
}

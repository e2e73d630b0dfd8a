import type { Dataset } from '../../src/data/dataset.ts';
import { datasetFromRows } from '../../src/data/from-arrays.ts';
import type { Sample } from './data.ts';

type Dense = Pick<Sample, 'rows' | 'labels'>;

/** A sample whose rows count as the weights say. */
export function weighted({ rows, labels }: Dense, weights: readonly number[]): Dataset {
  const sparse = rows.map((row) => {
    const indices = [...row.keys()].filter((j) => row[j] !== 0);
    return { indices, values: indices.map((j) => row[j]) };
  });
  return datasetFromRows({ rows: sparse, labels, weights, columns: rows[0].length });
}

/** The same with every row repeated as often as its weight says. */
export function repeated({ rows, labels }: Dense, weights: readonly number[]): Dataset {
  const order = weights.flatMap((weight, row) => new Array<number>(weight).fill(row));
  const copies = { rows: order.map((row) => rows[row]), labels: order.map((row) => labels[row]) };
  return weighted(
    copies,
    order.map(() => 1),
  );
}

import type { Arena } from '../engine/arena.ts';
import type { Partition } from '../engine/partition.ts';
import { UsageError } from '../errors.ts';
import { clamp } from '../math/scalars.ts';
import type { Start } from '../solvers/method.ts';
import type { Problem } from '../solvers/objective/problem.ts';
import type { Input, Run } from './lay-out.ts';
import type { TrainOptions } from './options/options.ts';
import type { Share } from './shard.ts';

/** A point in the order of the data: weights by column, the intercept last, and α by row. */
export interface StartingPoint {
  readonly weights: Float64Array;
  readonly alpha?: Float64Array;
}

/** How many rows are trained on is known only once those of the hold-out are set aside. */
export function checkStartRows(
  { rows, columns, company }: Share,
  { start, alpha }: TrainOptions,
  vectors: number,
): void {
  if (company && (alpha || start?.alpha)) {
    throw new UsageError('alpha is for one process: the rows of several are spread');
  }
  const demand = (name: string, found: number | undefined, wanted: number, of: string) => {
    if (found === undefined || found === wanted) return;
    throw new UsageError(`start.${name} has ${found} numbers; the model has ${wanted}: ${of}`);
  };
  const several = vectors === 1 ? '' : ` of each of ${vectors} vectors`;
  demand('weights', start?.weights.length, vectors * columns, `one for each column${several}`);
  demand('intercepts', start?.intercepts?.length, vectors, 'one for each vector');
  demand('alpha', start?.alpha?.length, vectors * rows, `one for each row trained on${several}`);
}

/** One vector of the point that the options give. */
export function startOfVector(
  { start }: TrainOptions,
  vector: number,
  { train: { rows, columns }, factors }: Pick<Input, 'train' | 'factors'>,
): StartingPoint | undefined {
  if (!start) return undefined;
  const weights = new Float64Array(columns + 1);
  weights.set(start.weights.subarray(vector * columns, (vector + 1) * columns));
  // Weights are those of the data as it is; columns divided by s want them times s.
  if (factors) for (let j = 0; j < columns; j++) weights[j] *= factors[j];
  weights[columns] = start.intercepts?.[vector] ?? 0;
  const alpha = start.alpha?.subarray(vector * rows, (vector + 1) * rows);
  return { weights, ...(alpha && { alpha }) };
}

export function allocateStart(arena: Arena, partition: Partition): Required<Start> {
  return {
    weights: arena.float64(partition.travelling),
    alpha: arena.float64(partition.rowOrder.length),
  };
}

/**
 * Puts a point in the order of the places of this process; its weights go into their box, since P is
 * infinite outside.
 */
export function layOutStart(
  start: Required<Start>,
  { weights, alpha }: StartingPoint,
  { grid, box }: Problem,
): Start {
  const { columnOrder, rowOrder } = grid.partition;
  for (let place = 0; place < columnOrder.length; place++) {
    const w = weights[columnOrder[place]];
    start.weights[place] = box ? clamp(w, box.low[place], box.high[place]) : w;
  }
  if (!alpha) return { weights: start.weights };
  for (let place = 0; place < rowOrder.length; place++) start.alpha[place] = alpha[rowOrder[place]];
  return start;
}

/** A dual point in the order of the rows trained on. */
export function alphaByRow(
  { problem }: Run,
  dualPoint: Float64Array | undefined,
): Float64Array | undefined {
  if (!dualPoint) return undefined;
  const { rowOrder } = problem.grid.partition;
  const alpha = new Float64Array(rowOrder.length);
  for (let place = 0; place < rowOrder.length; place++) alpha[rowOrder[place]] = dualPoint[place];
  return alpha;
}

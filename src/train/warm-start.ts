import type { Dataset } from '../data/dataset.ts';
import {
  type Classes,
  classesFrom,
  countLabels,
  isSameLabel,
  type Label,
  sumCounts,
} from '../data/labels.ts';
import type { Arena } from '../engine/arena.ts';
import type { Partition } from '../engine/partition.ts';
import { gatherValues, type ProcessGroup } from '../engine/processes/process-group.ts';
import { UsageError } from '../errors.ts';
import { clamp } from '../math/scalars.ts';
import { type Model, positiveClass, vectorCount, weightsOf } from '../model/model.ts';
import type { Loss } from '../problem/losses/loss.ts';
import type { Problem } from '../solvers/objective/problem.ts';
import type { WarmStart } from '../solvers/solver.ts';
import type { ProblemBuffers } from './layout.ts';
import type { TrainOptions } from './options/options.ts';
import type { Training } from './prepare.ts';
import type { DataShard } from './shard.ts';

/** A point in the order of the data: weights by column, the intercept last, and α by row. */
export interface StartingPoint {
  readonly weights: Float64Array;
  readonly alpha?: Float64Array;
}

/** Not checked earlier: the number of training rows is known once the hold-out is set aside. */
export function checkStartRows(
  { rows, columns, group }: DataShard,
  { start, alpha }: TrainOptions,
  vectors: number,
): void {
  if (group.size > 1 && (alpha || start?.alpha)) {
    throw new UsageError('alpha is for one process: the rows of several are spread');
  }
  const demand = (name: string, found: number | undefined, expected: number, of: string) => {
    if (found === undefined || found === expected) return;
    throw new UsageError(`start.${name} has ${found} numbers; the model has ${expected}: ${of}`);
  };
  const several = vectors === 1 ? '' : ` of each of ${vectors} vectors`;
  demand('weights', start?.weights.length, vectors * columns, `one for each column${several}`);
  demand('intercepts', start?.intercepts?.length, vectors, 'one for each vector');
  demand('alpha', start?.alpha?.length, vectors * rows, `one for each row trained on${several}`);
}

/** One vector of the point that the options give. */
export function startOfVector(
  { options: { start }, shard: { rows, columns }, factors }: Training,
  vector: number,
): StartingPoint | undefined {
  if (!start) return undefined;
  const weights = new Float64Array(columns + 1);
  weights.set(start.weights.subarray(vector * columns, (vector + 1) * columns));
  // Weights are those of the data as it is; columns divided by s need them times s.
  if (factors) for (let j = 0; j < columns; j++) weights[j] *= factors[j];
  weights[columns] = start.intercepts?.[vector] ?? 0;
  const alpha = start.alpha?.subarray(vector * rows, (vector + 1) * rows);
  return { weights, ...(alpha && { alpha }) };
}

export function allocateStart(arena: Arena, partition: Partition): Required<WarmStart> {
  return {
    weights: arena.float64(partition.bufferLength),
    alpha: arena.float64(partition.rowOrder.length),
  };
}

/** Puts a point in the order of the positions here, its weights into their box: P is infinite outside. */
export function layOutStart(
  start: Required<WarmStart>,
  { weights, alpha }: StartingPoint,
  { grid, box, centre, interceptPosition }: Problem,
): WarmStart {
  const { columnOrder, rowOrder } = grid.partition;
  for (let k = 0; k < columnOrder.length; k++) {
    const w = weights[columnOrder[k]];
    start.weights[k] = box ? clamp(w, box.low[k], box.high[k]) : w;
  }
  if (interceptPosition >= 0) start.weights[interceptPosition] -= centre;
  if (!alpha) return { weights: start.weights };
  for (let k = 0; k < rowOrder.length; k++) start.alpha[k] = alpha[rowOrder[k]];
  return start;
}

/** A dual point in the order of the rows trained on. */
export function alphaByRow(
  { problem }: ProblemBuffers,
  dualPoint: Float64Array | undefined,
): Float64Array | undefined {
  if (!dualPoint) return undefined;
  const { rowOrder } = problem.grid.partition;
  const alpha = new Float64Array(rowOrder.length);
  for (let k = 0; k < rowOrder.length; k++) alpha[rowOrder[k]] = dualPoint[k];
  return alpha;
}

type StartOption = NonNullable<TrainOptions['start']>;

interface StartOptions {
  /** The loss to train; default: one for the model's own task. */
  readonly loss?: Loss;
  readonly multiLabel?: boolean;
  /** Of two classes the positive one; default: that of the model. */
  readonly positive?: Label;
  /** Of all the data, where a process has only some; default: those of the data set. */
  readonly columns?: number;
}

/**
 * A model as the point to start from on other data. Features are found by name where both have
 * names, else by column; classes by label. What the model does not know starts at 0.
 */
export function startFromModel(
  model: Model,
  dataset: Dataset,
  options: StartOptions = {},
): StartOption {
  return startFrom(model, dataset, countLabels(dataset), options);
}

/** The same in all processes of a group, none of which may have read all labels. */
export async function startInGroup(
  model: Model,
  dataset: Dataset,
  options: StartOptions,
  group: ProcessGroup,
): Promise<StartOption> {
  const counts = await gatherValues(group, [...countLabels(dataset)]);
  return startFrom(model, dataset, sumCounts(counts), options);
}

function startFrom(
  model: Model,
  dataset: Dataset,
  counts: ReadonlyMap<number, number>,
  options: StartOptions,
): StartOption {
  const { loss, multiLabel = model.multiLabel ?? false, columns = dataset.columns } = options;
  if (loss && model.task !== loss.task) {
    throw new UsageError(
      `the model to start from is for ${model.task}; the ${loss.name} loss is for ${loss.task}`,
    );
  }
  const found =
    model.task === 'regression'
      ? undefined
      : classesFrom(counts, dataset, {
          multiLabel,
          positive: positiveOf(model, options, classesFrom(counts, dataset, { multiLabel })),
        });
  const vectors = found ? vectorsFor(model, found) : [0];
  const isPair = found !== undefined && !multiLabel && found.classes.length === 2;
  // The score of a model with two classes counts for its own positive one.
  const isReversed =
    isPair && vectorCount(model) === 1 && !isSameLabel(found.classes[1], model.classes![1]);
  const signed = (value: number) => (isReversed ? 0 - value : value);
  const sources = columnsIn(model, dataset, columns);
  const weights = new Float64Array(vectors.length * columns);
  for (const [vector, source] of vectors.entries()) {
    if (source === undefined) continue;
    const from = weightsOf(model, source);
    const to = weights.subarray(vector * columns, (vector + 1) * columns);
    for (let column = 0; column < columns; column += 1) {
      if (sources[column] >= 0) to[column] = signed(from[sources[column]]);
    }
  }
  const intercepts = Float64Array.from(vectors, (source) =>
    source === undefined ? 0 : signed(model.intercepts[source]),
  );
  return { weights, intercepts, ...(isPair && { positive: found.classes[1] }) };
}

/** The positive class to be trained; undefined: as the data decides. */
function positiveOf(
  model: Model,
  { positive }: StartOptions,
  { classes, multiLabel }: Classes,
): Label | undefined {
  if (positive !== undefined || multiLabel || classes.length !== 2) return positive;
  const own = positiveClass(model);
  const isThere = own !== undefined && classes.some((label) => isSameLabel(label, own));
  return isThere ? own : undefined;
}

/** The vector of the model that each vector to train starts from, if any. */
function vectorsFor(model: Model, found: Classes): (number | undefined)[] {
  const known = (model.classes ?? []).map(String);
  const indices = found.classes.map((label) => known.indexOf(String(label)));
  const sources = indices.map((index) => (index < 0 ? undefined : index));
  const before = vectorCount(model);
  // The one vector of two classes says nothing about each of them against others.
  if (vectorCount(found) > 1) return before === 1 ? sources.map(() => undefined) : sources;
  if (before > 1) return [sources[1]];
  if (!indices.includes(-1)) return [0];
  throw new UsageError(
    `the model to start from has classes ${known.join(' and ')}; the data has ${found.classes.join(' and ')}`,
  );
}

/** Of each column of the data, the column of the model, -1 for none. */
function columnsIn(model: Model, { featureNames }: Dataset, columns: number): Int32Array {
  const { featureNames: names, recipe } = model;
  if (!names || !featureNames || recipe?.hashBits !== undefined) {
    return Int32Array.from({ length: columns }, (_, j) => (j < model.columns ? j : -1));
  }
  const columnOf = new Map(names.map((name, column) => [name, column]));
  return Int32Array.from({ length: columns }, (_, j) => columnOf.get(featureNames[j]) ?? -1);
}

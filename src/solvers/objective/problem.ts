import type { Arena } from '../../engine/arena.ts';
import type { Grid } from '../../engine/grid.ts';
import type { Partition } from '../../engine/partition.ts';
import type { Team } from '../../engine/team.ts';
import type { Loss } from '../../problem/losses/loss.ts';
import type { Penalty } from '../../problem/penalties/index.ts';
import { boundsOf } from '../../problem/penalties/separable.ts';
import { reserve } from '../block-state.ts';
import type { Box } from '../kernels/kernels.ts';

/**
 * P(w) = λ Σ_j f_j φ(w_j) + (1/W) Σ_i c_i ℓ(⟨w, x_i⟩, y_i), W = Σ c_i, laid out on the grid. Rows and
 * columns are in the partition's order throughout; an unpenalised intercept is a column of ones with
 * f = 0.
 */
export interface Problem {
  /** m and d, wherever the rows and columns are. */
  readonly rows: number;
  readonly columns: number;
  /** |Ω|, with the intercept's column. */
  readonly nonzeros: number;
  readonly grid: Grid;
  /** Less `centre`. */
  readonly labels: Float64Array;
  /**
   * What was subtracted from the labels, and from the intercept. A loss of u − y does not change by
   * it, but numbers are far more exact near 0 than far from it.
   */
  readonly centre: number;
  /** c_i, how much each row counts; all 1 where nothing else is said. */
  readonly rowWeights: Float64Array;
  /** W, of all rows wherever they are: what the sum of losses is divided by. */
  readonly totalWeight: number;
  /** λ l1 f_j and λ l2 f_j: all that kernels and solvers know of λ. */
  readonly l1: Float64Array;
  readonly l2: Float64Array;
  /** λ f_j */
  readonly strength: Float64Array;
  readonly penalty: { readonly l1: number; readonly l2: number };
  /** Where weights are bounded, the ends of each column's box; the intercept's are infinite. */
  readonly box?: Box;
  /** The ends that all of them have but the intercept's. */
  readonly bounds?: { readonly low: number; readonly high: number };
  readonly lambda: number;
  /** Whether the last column is one of ones without a penalty. */
  readonly intercept: boolean;
  /** Position of the intercept's column among those that are at home here, −1 if it is not. */
  readonly interceptPosition: number;
}

export type ProblemMemory = ReturnType<typeof allocateProblem>;

export function allocateProblem(arena: Arena, partition: Partition, penalty: Penalty) {
  const rows = partition.rowOrder.length;
  const columns = partition.columnOrder.length;
  const isBounded = boundsOf(penalty) !== undefined;
  return {
    ...reserve(arena, 'float64', rows, ['labels', 'rowWeights']),
    ...reserve(arena, 'float64', columns, ['l1', 'l2', 'strength']),
    ...(isBounded && { box: reserve(arena, 'float64', columns, ['low', 'high']) }),
  };
}

interface ProblemOptions {
  readonly penalty: Penalty;
  readonly lambda: number;
  readonly factors: Float64Array | undefined;
  readonly intercept: boolean;
  /** Default: 0. */
  readonly centre?: number;
  /** Of the rows here, in their order; given together with `totalWeight`, the sum of all. */
  readonly rowWeights?: Float64Array | undefined;
  readonly totalWeight?: number | undefined;
}

export function layOutProblem(
  memory: ProblemMemory,
  grid: Grid,
  targets: Float64Array,
  options: ProblemOptions,
): Problem {
  const { rowBounds, rowOrder, columnOrder, columnPosition, workerNonzeros, size } = grid.partition;
  const { penalty, lambda, factors, intercept, rowWeights, centre = 0 } = options;
  const { strength, l1, l2, box } = memory;
  const { labels, rowWeights: counts } = memory;
  for (let k = 0; k < rowOrder.length; k++) labels[k] = targets[rowOrder[k]] - centre;
  if (!rowWeights) counts.fill(1);
  else for (let k = 0; k < rowOrder.length; k++) counts[k] = rowWeights[rowOrder[k]];
  const interceptPosition = intercept ? columnOrder.indexOf(columnPosition.length - 1) : -1;
  for (let position = 0; position < columnOrder.length; position++) {
    const factor = factors && position !== interceptPosition ? factors[columnOrder[position]] : 1;
    const own = position === interceptPosition ? 0 : lambda * factor;
    strength[position] = own;
    l1[position] = own * penalty.l1;
    l2[position] = own * penalty.l2;
  }
  const bounds = boundsOf(penalty);
  if (box && bounds) {
    box.low.fill(bounds.low);
    box.high.fill(bounds.high);
    if (interceptPosition >= 0) box.low[interceptPosition] = -Infinity;
    if (interceptPosition >= 0) box.high[interceptPosition] = Infinity;
  }
  return {
    rows: rowBounds[size],
    columns: columnPosition.length,
    nonzeros: workerNonzeros.reduce((sum, nonzeros) => sum + nonzeros, 0),
    grid,
    ...memory,
    centre,
    totalWeight: options.totalWeight ?? rowBounds[size],
    penalty: { l1: penalty.l1, l2: penalty.l2 },
    ...(bounds && { bounds }),
    lambda,
    intercept,
    interceptPosition,
  };
}

/**
 * Whether the infimum of P is 0 and an intercept alone comes as near to it as one likes: all rows that
 * count are of one class, or all counts of a Poisson regression are 0. Every thread calls it.
 */
export function infimumIsZero(
  { grid, intercept, labels, rowWeights }: Problem,
  { task, link, module }: Loss,
  team: Team,
): boolean {
  const { rowStarts } = grid.partition;
  const [highest, lowest] = team.reduce(
    2,
    (worker, values) => {
      values.fill(-Infinity);
      for (let i = rowStarts[worker]; i < rowStarts[worker + 1]; i++) {
        if (rowWeights[i] === 0) continue;
        values[0] = Math.max(values[0], labels[i]);
        values[1] = Math.max(values[1], -labels[i]);
      }
    },
    'max',
  );
  if (!intercept || module) return false;
  if (task === 'classification') return highest === -lowest;
  return link === 'log' && highest === 0;
}

import type { Loss } from '../../problem/losses/loss.ts';
import type { SolverContext } from '../solver.ts';
import type { Vector, Vectors } from '../vectors/vectors.ts';

/** Of losses with L1, and the least without. */
const withL1 = 8;
const least = 4;

/**
 * The width that losses are smoothed over at first: 4 √s, with s the mean of |x_i|²/(λ W), by how much a
 * change of α_i moves its own margin. A large width costs little, a small one much. `rows` and `columns` are free.
 */
export function startingWidth(
  { problem, objective, team }: SolverContext,
  vectors: Vectors,
  loss: Loss,
  { rows, columns }: { readonly rows: Vector; readonly columns: Vector },
): { readonly width: number; readonly widest: number } {
  const { totalWeight, penalty } = problem;
  rows.own.set(objective.ownRows(problem.rowWeights));
  team.barrier();
  vectors.transposedSquares(rows, columns);
  const [squares, sizes] = team.reduce(2, (part, values) => {
    const of = (all: Float64Array) => objective.columnsOf(all, part);
    const [q, l2] = [columns.all, problem.l2].map(of);
    for (let j = 0; j < q.length; j++) if (l2[j] > 0) values[0] += q[j] / l2[j];
    const [y, c] = [problem.labels, problem.rowWeights].map((all) => objective.rowsOf(all, part));
    for (let i = 0; i < y.length; i++) values[1] += c[i] * Math.abs(y[i]);
  });
  const unit = isBounded(loss) && sizes > 0 ? sizes / totalWeight : 1;
  const root = Math.sqrt(squares) / totalWeight;
  const width = unit * (penalty.l1 > 0 ? withL1 : Math.max(least, least * root));
  return { width, widest: width };
}

/** Whether slopes have bounds: then the width has the unit of margins, else margins and slopes share one. */
function isBounded({ conjugateLow, conjugateHigh, parameter }: Loss): boolean {
  return Math.max(-conjugateLow(1, parameter), conjugateHigh(1, parameter)) < Infinity;
}

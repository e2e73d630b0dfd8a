import type { Loss } from '../losses/loss.ts';
import { stream } from '../math/random.ts';
import { softThreshold } from '../math/scalars.ts';
import type { Workplace } from './method.ts';

/**
 * The appendix's starting point: every worker solves its own rows' problem by `passes` passes of
 * dual coordinate descent (Hsieh et al. 2008); α stays as it is there, and w is the mean of the
 * workers' weights. Columns whose penalty has no quadratic part stay at 0.
 */
export function localDualDescent(
  place: Workplace,
  loss: Loss,
  passes: number,
  alpha: Float64Array,
  weights: Float64Array,
): void {
  const { problem, objective, ring, team, seed } = place;
  const local = new Map<number, Float64Array>();
  for (let worker = team.first; worker < team.end; worker++) {
    local.set(
      worker,
      solveLocally(place, loss, passes, objective.rowsOf(alpha, worker), worker, seed),
    );
  }
  const share = 1 / problem.grid.size;
  ring.rotate((worker, block, iteration) => {
    const target = objective.columnsOf(weights, block);
    const mine = objective.columnsOf(local.get(worker) as Float64Array, block);
    if (iteration === 0) target.fill(0);
    for (let j = 0; j < target.length; j++) target[j] += share * mine[j];
  });
  team.barrier();
}

function solveLocally(
  { problem, objective }: Workplace,
  loss: Loss,
  passes: number,
  alpha: Float64Array,
  worker: number,
  seed: number,
): Float64Array {
  const { grid, l1, l2 } = problem;
  const { columnStarts } = grid.partition;
  const labels = objective.rowsOf(problem.labels, worker);
  const cells = grid.cells.slice(worker * grid.size, (worker + 1) * grid.size);
  const share = 1 / Math.max(1, alpha.length);
  const image = new Float64Array(problem.columns);
  const weights = new Float64Array(problem.columns);

  const add = (i: number, delta: number) => {
    for (let block = 0; block < grid.size; block++) {
      const { offsets, indices, values } = cells[block];
      for (let k = offsets[i]; k < offsets[i + 1]; k++) {
        const j = columnStarts[block] + indices[k];
        image[j] += delta * values[k];
        weights[j] = l2[j] > 0 ? softThreshold(image[j], l1[j]) / l2[j] : 0;
      }
    }
  };
  const score = (i: number) => {
    let u = 0;
    let norm = 0;
    for (let block = 0; block < grid.size; block++) {
      const { offsets, indices, values } = cells[block];
      for (let k = offsets[i]; k < offsets[i + 1]; k++) {
        const j = columnStarts[block] + indices[k];
        u += weights[j] * values[k];
        if (l2[j] > 0) norm += (values[k] * values[k]) / l2[j];
      }
    }
    return { u, norm };
  };

  const order = new Int32Array(alpha.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  const random = stream(seed, 1 + grid.size + worker);
  for (let i = 0; i < alpha.length; i++) if (alpha[i] !== 0) add(i, alpha[i] * share);
  for (let pass = 0; pass < passes; pass++) {
    random.shuffle(order, order.length);
    for (const i of order) {
      const { u, norm } = score(i);
      const next = loss.dualStep(alpha[i], u, norm * share, labels[i], loss.parameter);
      const delta = next - alpha[i];
      if (delta === 0) continue;
      alpha[i] = next;
      add(i, delta * share);
    }
  }
  return weights;
}

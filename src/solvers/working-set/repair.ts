import type { Loss } from '../../problem/losses/loss.ts';
import { workingStat as stat } from '../kernels/working-set-kernels.ts';
import type { ColumnSet, Steps } from './column-set.ts';
import { measureRows } from './curvatures.ts';

const mostCycles = 8;
/** Columns from this share of their bound on are watched. */
const watched = 0.5;

/**
 * Makes a dual point of a pure L1 penalty feasible by moving it, one violated constraint after the
 * other, α ← α + b h ∘ x_j: shrinking it as a whole loses as much as the worst violation, everywhere.
 * Columns below their bound are not pulled up to it, so this ends soon. What is left is for the
 * objective to scale. It takes the place of the working set. `allowed`: how far a |v_j| may be above
 * its bound, relative to it. Returns the non-zeros touched.
 */
export function repair(
  set: ColumnSet,
  repaired: Float64Array,
  id: number,
  { allowed, loss }: { readonly allowed: number; readonly loss: Loss },
): number {
  const { context, memory, columns, scale } = set;
  const { kernels, team, objective } = context;
  const { all, stats } = memory;
  set.choose((j) => all.l1[j] > 0 && Math.abs(all.image[j]) > watched * all.l1[j], id, 1);
  measureRows(set, loss.greatestCurvature, 0);
  team.barrier();
  set.sum();
  objective.ownRows(repaired).set(objective.ownRows(memory.alpha));
  const alphaOf = (worker: number) => objective.rowsOf(repaired, worker);
  const steps: Steps = {
    rows: ({ worker }) => alphaOf(worker),
    sweep: ({ worker, packed, rows }, begin, end) =>
      kernels.sweepDual(
        packed.columns,
        begin,
        end,
        rows.curvatures,
        alphaOf(worker),
        columns,
        allowed,
        scale,
        stats,
      ),
    step: (begin, end) =>
      kernels.stepDual(begin, end, memory.dots, columns, allowed, scale, memory.set.deltas, stats),
  };
  let work = 0;
  for (let k = 0; k < mostCycles; k++) {
    const found = set.cycle(steps);
    work += found[stat.work];
    if (found[stat.worst] === 0) break;
  }
  objective.clipAlpha(repaired, repaired);
  team.barrier();
  return work;
}

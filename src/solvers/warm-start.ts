import type { Loss } from '../problem/losses/loss.ts';
import type { Objective } from './objective/objective.ts';
import type { SolverContext, WarmStart } from './solver.ts';

/** Over how much of the mean loss a kink is smoothed: measured, see docs/solvers.md. */
const kinkWidth = 0.1;
/** A best share of the step to α from here on is taken for the whole. */
const nearlyAll = 0.6;

/**
 * How far to go from the cold start towards a suggested α, given where D is greatest on the way. α
 * of another λ, or of weights that fit too well, can belong to weights that are far too large; but
 * a step that is only a little too long has many α at the right end of their domain, which a shorter
 * one would take away from there.
 */
export function startingShare(best: number): number {
  return best < nearlyAll ? best : 1;
}

/**
 * The α a run starts from: the one given, cut to its domain, or else what the margins of the
 * starting weights suggest, which are left in `margins`. Returns the passes this takes.
 */
export function startingAlpha(
  { objective }: SolverContext,
  start: WarmStart,
  loss: Loss,
  margins: Float64Array,
  alpha: Float64Array,
): number {
  if (start.alpha) {
    objective.clipAlpha(start.alpha, alpha);
    return 0;
  }
  objective.margins(start.weights, margins);
  const width = loss.smooth ? 0 : kinkWidth * objective.meanLoss(margins);
  objective.dualPoint(margins, alpha);
  if (width > 0) soften(objective, loss, margins, width, alpha);
  return 1;
}

/**
 * At a kink −ℓ' knows nothing between the ends of its domain, where the rows that matter most have
 * their α. Instead: argmax_a −ℓ*(−a) − u a − (q/2)(a − c)², the slope of the loss smoothed over
 * a stretch of width q, with c the middle of the domain.
 */
function soften(
  objective: Objective,
  loss: Loss,
  margins: Float64Array,
  width: number,
  alpha: Float64Array,
): void {
  const { parameter } = loss;
  const { labels, rowWeights } = objective.problem;
  const [y, c, u, a] = [labels, rowWeights, margins, alpha].map((all) => objective.ownRows(all));
  for (let i = 0; i < a.length; i++) {
    const low = loss.conjugateLow(y[i], parameter);
    const middle = -0.5 * (low + loss.conjugateHigh(y[i], parameter));
    // A domain without an end has no middle.
    if (!Number.isFinite(middle)) continue;
    a[i] = c[i] * loss.dualStep(middle, u[i], width, y[i], parameter);
  }
}

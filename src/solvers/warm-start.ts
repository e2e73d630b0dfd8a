import type { Loss } from '../problem/losses/loss.ts';
import type { SolverContext, WarmStart } from './solver.ts';

/** Over how much of the mean loss a kink is smoothed: measured, see docs/solvers.md. */
const kinkWidth = 0.1;
/** A best share of the step to α from here on is taken for the whole. */
const nearlyAll = 0.6;

/**
 * How far to go from the cold start towards a suggested α, given where D is greatest on the way. α
 * of another λ, or of weights that fit too well, can stand for weights that are far too large; but
 * a step that is only a little too long has many α at the right end of their domain, which a shorter
 * one would take away from there.
 */
export function startingShare(best: number): number {
  return best < nearlyAll ? best : 1;
}

/**
 * The α a run starts from: what is given, cut to its domain, or else what the margins of the
 * starting weights suggest, for which `margins` is room. Returns the passes this takes.
 */
export function startingAlpha(
  context: SolverContext,
  start: WarmStart,
  loss: Loss,
  margins: Float64Array,
  alpha: Float64Array,
): number {
  const { objective, kernels, problem, team } = context;
  if (!start.alpha) objective.margins(start.weights, margins);
  const width = start.alpha || loss.smooth ? 0 : kinkWidth * meanLoss(context, margins);
  for (let worker = team.first; worker < team.end; worker++) {
    const labels = objective.rowsOf(problem.labels, worker);
    const rowWeights = objective.rowsOf(problem.rowWeights, worker);
    const target = objective.rowsOf(alpha, worker);
    const u = objective.rowsOf(margins, worker);
    if (start.alpha) {
      const given = objective.rowsOf(start.alpha, worker);
      kernels.shiftAlpha(given, labels, rowWeights, 0, given.length, 0, target);
    } else {
      kernels.dualPoint(u, labels, rowWeights, 0, u.length, target);
      if (width > 0) soften(loss, u, labels, rowWeights, width, target);
    }
  }
  return start.alpha ? 0 : 1;
}

/**
 * At a kink −ℓ' knows nothing between the ends of its domain, where the rows that matter most have
 * their α. Instead: argmax_a −ℓ*(−a) − u a − (q/2)(a − c)², the slope of the loss smoothed over
 * a stretch of width q, with c the middle of the domain.
 */
function soften(
  loss: Loss,
  margins: Float64Array,
  labels: Float64Array,
  rowWeights: Float64Array,
  width: number,
  alpha: Float64Array,
): void {
  const { parameter } = loss;
  for (let i = 0; i < alpha.length; i++) {
    const y = labels[i];
    const middle = -0.5 * (loss.conjugateLow(y, parameter) + loss.conjugateHigh(y, parameter));
    // A domain without an end has no middle.
    if (!Number.isFinite(middle)) continue;
    alpha[i] = rowWeights[i] * loss.dualStep(middle, margins[i], width, y, parameter);
  }
}

/** (1/Σc) Σ c_i ℓ(u_i, y_i) */
function meanLoss(
  { objective, kernels, problem, team }: SolverContext,
  margins: Float64Array,
): number {
  const [sum] = team.reduce(1, (worker, values) => {
    const u = objective.rowsOf(margins, worker);
    const labels = objective.rowsOf(problem.labels, worker);
    const rowWeights = objective.rowsOf(problem.rowWeights, worker);
    values[0] = kernels.lossSum(u, labels, rowWeights, 0, u.length);
  });
  return sum / problem.totalWeight;
}

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
  const { objective, problem, team } = context;
  if (start.alpha) {
    objective.clipAlpha(start.alpha, alpha);
    return 0;
  }
  objective.margins(start.weights, margins);
  const width = loss.smooth ? 0 : kinkWidth * objective.meanLoss(margins);
  objective.dualPoint(margins, alpha);
  if (width > 0) {
    const { rowStarts } = problem.grid.partition;
    soften(loss, problem, { margins, alpha, width }, rowStarts[team.first], rowStarts[team.end]);
  }
  return 1;
}

/**
 * At a kink −ℓ' knows nothing between the ends of its domain, where the rows that matter most have
 * their α. Instead: argmax_a −ℓ*(−a) − u a − (q/2)(a − c)², the slope of the loss smoothed over
 * a stretch of width q, with c the middle of the domain.
 */
function soften(
  loss: Loss,
  { labels, rowWeights }: SolverContext['problem'],
  point: { margins: Float64Array; alpha: Float64Array; width: number },
  begin: number,
  end: number,
): void {
  const { parameter } = loss;
  const { margins, alpha, width } = point;
  for (let i = begin; i < end; i++) {
    const y = labels[i];
    const middle = -0.5 * (loss.conjugateLow(y, parameter) + loss.conjugateHigh(y, parameter));
    // A domain without an end has no middle.
    if (!Number.isFinite(middle)) continue;
    alpha[i] = rowWeights[i] * loss.dualStep(middle, margins[i], width, y, parameter);
  }
}

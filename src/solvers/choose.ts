import { UsageError } from '../errors.ts';
import { lossByName, lossNames } from '../problem/losses/index.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { penaltyIncompatibility } from '../problem/penalties/separable.ts';
import { planAuto, planInterior, planRing, suitedGrid } from './auto.ts';
import { interiorIncompatibility } from './interior/plan.ts';
import { entryOf, type Solver, type SolverPlan, solverEntries } from './registry.ts';
import type { DataShape, ProblemSummary } from './solver.ts';

/** Functions that a loss needs for a duality gap. */
const dualParts = [
  'conjugate',
  'conjugateDerivative',
  'conjugateLow',
  'conjugateHigh',
  'dualStep',
] as const;

/** What a loss lacks to be trained with, in words; undefined when it has everything. */
function missing(loss: Loss): string | undefined {
  const lacking = dualParts.filter((part) => typeof loss[part] !== 'function');
  if (lacking.length > 0) {
    return `loss '${loss.name}' has no ${lacking.join(', ')}: every solver needs them for its dual steps and the duality gap`;
  }
  const builtIn = (lossNames as readonly string[]).includes(loss.name);
  if (loss.module || (builtIn && lossByName(loss.name).value === loss.value)) return undefined;
  return `loss '${loss.name}' is not built in: threads load a custom loss from a module, so make it with loadLoss('./${loss.name}.js')`;
}

function planOf(solver: Solver, request: ProblemSummary): SolverPlan {
  if (solver.name === 'auto') return planAuto(request);
  if (solver.name === 'ring') return planRing(solver.settings, request);
  if (solver.name === 'interior-point')
    return planInterior(request, 'as requested', solver.settings);
  if (!Object.hasOwn(solverEntries, solver.name)) {
    throw new UsageError(
      `solver is ${JSON.stringify(solver)}; make one with solvers.auto(), solvers.ring() or solvers.dso()`,
    );
  }
  return { name: solver.name, settings: solver.settings, reason: 'as requested' } as SolverPlan;
}

/** Decides what runs by options and data alone: machine and threads must not change the model. */
export function choose(solver: Solver, request: ProblemSummary): SolverPlan {
  const lack = missing(request.loss) ?? penaltyIncompatibility(request.penalty);
  if (lack) throw new UsageError(lack);
  const plan = planOf(solver, request);
  const mismatch = entryOf(plan).incompatible?.(request, plan.settings);
  if (mismatch) throw new UsageError(`${solver.name} is not compatible with ${mismatch}`);
  return plan;
}

/** A solver that may succeed where a plan does not: it takes the problem, and is no part of the plan. */
export function alternativeTo(
  plan: SolverPlan,
  request: ProblemSummary,
): Solver['name'] | undefined {
  for (let at: SolverPlan | undefined = plan; at; at = at.next?.plan) {
    if (at.name === 'interior-point') return undefined;
  }
  return interiorIncompatibility(request) ? undefined : 'interior-point';
}

/** The grid a plan runs on: the one given, or what suits the data and the solver. */
export function gridFor(plan: SolverPlan, given: number | undefined, shape: DataShape): number {
  const entry = entryOf(plan);
  const { leastGrid = 1 } = entry;
  const serial = entry.serial ?? entry.isSerial?.(plan.settings) ?? false;
  if (serial && given !== undefined && given > 1) {
    throw new UsageError(
      `a grid of ${given} was given; ${plan.name} is a serial method and runs on a grid of 1`,
    );
  }
  if (serial) return 1;
  const most = Math.max(1, Math.min(shape.rows, shape.columns));
  return given ?? Math.min(most, Math.max(leastGrid, suitedGrid(plan, shape)));
}

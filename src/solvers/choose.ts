import { UsageError } from '../errors.ts';
import { lossByName, lossNames } from '../problem/losses/index.ts';
import type { Loss } from '../problem/losses/loss.ts';
import { boundsOf, penaltyIncompatibility } from '../problem/penalties/separable.ts';
import { interiorSettings } from './interior/plan.ts';
import {
  entryOf,
  type InteriorSettings,
  type RingSettings,
  type Solver,
  type SolverPlan,
  solverEntries,
} from './registry.ts';
import type { RingRowsOptions } from './ring/rows.ts';
import type { DataShape, ProblemSummary } from './solver.ts';

/** Functions that a loss needs for a duality gap. */
const dualParts = [
  'conjugate',
  'conjugateDerivative',
  'conjugateLow',
  'conjugateHigh',
  'dualStep',
] as const;

/**
 * Non-zeros up to which a grid of 1, 2, 4 or 8 workers is the default; beyond, 16. More workers cut
 * rows into shorter pieces, which pays only where there is enough work. A rule on the data alone, so
 * that the same command gives the same model on any machine.
 */
const gridSteps = [
  [2.5e6, 1],
  [1e7, 2],
  [1e8, 4],
  [1e9, 8],
] as const;

export function defaultGrid({ rows, columns, nonzeros }: DataShape): number {
  const workers = gridSteps.find(([most]) => nonzeros < most)?.[1] ?? 16;
  return Math.max(1, Math.min(workers, rows, columns));
}

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

function rowOptions(request: ProblemSummary): RingRowsOptions {
  const { loss, penalty, lambda, intercept, factors } = request;
  const isBounded = boundsOf(penalty) !== undefined;
  return {
    mapped: isBounded || intercept || factors || penalty.l1 > 0 || penalty.l2 !== 1,
    bounded: isBounded,
    proximal: lambda,
    startInside: Math.abs(loss.conjugateDerivative(0, 1, loss.parameter)) > 100,
  };
}

/**
 * Columns up to which L-BFGS is faster for smooth losses, however few the rows: it builds a model of
 * the whole curvature, and copes with features of very different scale.
 */
const fewColumns = 64;

/**
 * Whether there are enough rows per column that steps on the weights beat those on rows: fewer are
 * enough where row mode has to find an intercept by proximal steps, or there are few columns.
 */
function isTall({ intercept, shape }: ProblemSummary): boolean {
  const rowsPerColumn = intercept || shape.columns <= fewColumns ? 1 : 100;
  return shape.rows > rowsPerColumn * shape.columns;
}

/** Steps on rows or on columns: whichever the loss allows and the shape favours, and why. */
function favouredMode(request: ProblemSummary): ['rows' | 'columns', string] {
  const { loss, penalty } = request;
  if (!loss.smooth) return ['rows', `${loss.name} is not smooth: dual steps, row by row`];
  if (!(penalty.l2 > 0)) {
    return ['columns', `${loss.name} with ${penalty.name}: primal steps, column by column`];
  }
  return isTall(request)
    ? ['columns', `${loss.name} on more rows than columns: primal steps, column by column`]
    : ['rows', `${loss.name} on this shape: dual steps, row by row`];
}

/** Why L-BFGS is the one to take, if it is: measured, see docs/solvers.md. */
function reasonForLbfgs(request: ProblemSummary): string | undefined {
  const { loss, penalty, shape } = request;
  const isFree = !(penalty.l1 > 0) && boundsOf(penalty) === undefined;
  if (!loss.smooth || !isFree) return undefined;
  if (shape.columns <= fewColumns) {
    return `${loss.name} on ${shape.columns} columns: few enough for second-order steps`;
  }
  return isTall(request) ? `${loss.name} on more rows than columns: second-order steps` : undefined;
}

function planAuto(request: ProblemSummary): SolverPlan {
  const reason = reasonForLbfgs(request);
  if (reason) return { name: 'lbfgs', settings: solverEntries.lbfgs.defaults, reason };
  return planRing({ mode: 'auto' }, request);
}

/** Row mode takes every loss, by proximal steps where the penalty has no curvature. */
function planRing({ mode: given, rotations }: RingSettings, request: ProblemSummary): SolverPlan {
  const [mode, reason] =
    given === 'auto' ? favouredMode(request) : ([given, 'as requested'] as const);
  const turns = rotations === undefined ? {} : { rotations };
  return mode === 'columns'
    ? { name: 'ring-columns', settings: turns, reason }
    : { name: 'ring-rows', settings: { ...rowOptions(request), ...turns }, reason };
}

function planInterior(given: InteriorSettings, request: ProblemSummary): SolverPlan {
  const settings = interiorSettings(request, given);
  return { name: 'interior-point', settings, reason: 'as requested' };
}

function planOf(solver: Solver, request: ProblemSummary): SolverPlan {
  if (solver.name === 'auto') return planAuto(request);
  if (solver.name === 'ring') return planRing(solver.settings, request);
  if (solver.name === 'interior-point') return planInterior(solver.settings, request);
  if (!Object.hasOwn(solverEntries, solver.name)) {
    throw new UsageError(
      `solver is ${JSON.stringify(solver)}; make one with solvers.auto(), solvers.ring() or solvers.dso()`,
    );
  }
  return { name: solver.name, settings: solver.settings, reason: 'as requested' } as SolverPlan;
}

/** Decides what runs by options and data alone: machine and threads must not change the model. */
export function choose(solver: Solver, request: ProblemSummary): SolverPlan {
  const plan = planOf(solver, request);
  const lack = missing(request.loss) ?? penaltyIncompatibility(request.penalty);
  if (lack) throw new UsageError(lack);
  const mismatch = entryOf(plan).incompatible?.(request, plan.settings);
  if (mismatch) throw new UsageError(`${solver.name} is not compatible with ${mismatch}`);
  return plan;
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
  return given ?? Math.min(most, Math.max(leastGrid, defaultGrid(shape)));
}

import { hasAllSlopes, type Loss } from '../problem/losses/loss.ts';
import { boundsOf } from '../problem/penalties/separable.ts';
import {
  interiorCost,
  interiorIncompatibility,
  interiorSettings,
  isKnown,
  mostColumns,
} from './interior/plan.ts';
import {
  entryOf,
  type InteriorSettings,
  type NextPlan,
  type RingSettings,
  type SolverPlan,
  solverEntries,
} from './registry.ts';
import type { RingRowsOptions } from './ring/rows.ts';
import { stagedGrid } from './ring/stage-rules.ts';
import type { DataShape, ProblemSummary } from './solver.ts';

/**
 * What `auto` chooses: rules on shape, loss and penalty alone, measured in docs/solvers.md. Machine and
 * threads must not change the model.
 */

/** A step of the interior point method that takes no more nanoseconds is cheap whatever an epoch takes. */
const briefStep = 2e5;
/** Epochs of coordinate steps up to which a step of it is cheap, and up to which it is affordable. */
const [cheapStep, affordableStep] = [3, 200];
/** Steps that it is expected to take: as long may another method try before. */
const expectedSteps = 15;
/** Passes that another method has before it, at least: one of coordinate steps, `newton` and `working-set`. */
const [fewPasses, fewNewtonPasses] = [20, 500];
/** Passes of these two that take as long as an epoch of coordinate steps, and of dual steps on w itself. */
const newtonPasses = 10;
const rowPasses = 2;
/** Non-zeros from which on `auto` takes what can read them from disk, so that memory does not decide. */
const manyNonzeros = 3e8;

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

/** The grid that suits the data and the method. */
export function suitedGrid(plan: SolverPlan, shape: DataShape): number {
  const isStaged = plan.name === 'ring-rows' && plan.settings.staged;
  const grid = isStaged ? stagedGrid(shape) : defaultGrid(shape);
  const { parallelFrom } = entryOf(plan);
  if (parallelFrom === undefined) return grid;
  const most = Math.min(2, shape.rows, shape.columns);
  return shape.nonzeros < parallelFrom ? 1 : Math.max(most, grid);
}

function rowOptions(request: ProblemSummary, rotations: number | undefined): RingRowsOptions {
  const { loss, penalty, lambda, intercept, factors, stored = false } = request;
  const isBounded = boundsOf(penalty) !== undefined;
  const mapped = isBounded || intercept || factors || penalty.l1 > 0 || penalty.l2 !== 1;
  return {
    mapped,
    staged: !mapped && rotations === undefined,
    stored,
    bounded: isBounded,
    proximal: lambda,
    startInside: Math.abs(loss.conjugateDerivative(0, 1, loss.parameter)) > 100,
  };
}

/** Columns up to which a method that sees all columns at once is faster, however few the rows. */
const fewColumns = 64;

/**
 * Whether there are enough rows per column that steps on the weights beat those on rows: fewer are
 * enough where row mode has to find an intercept by proximal steps, or there are few columns.
 */
function isTall({ intercept, shape }: ProblemSummary): boolean {
  const rowsPerColumn = intercept || shape.columns <= fewColumns ? 1 : 100;
  return shape.rows > rowsPerColumn * shape.columns;
}

function isTallClassification(request: ProblemSummary): boolean {
  return request.loss.task === 'classification' && isTall(request);
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

/** Row mode takes every loss, by proximal steps where the penalty has no curvature. */
export function planRing(
  { mode: given, rotations }: RingSettings,
  request: ProblemSummary,
): SolverPlan {
  const [mode, reason] =
    given === 'auto' ? favouredMode(request) : ([given, 'as requested'] as const);
  const turns = rotations === undefined ? {} : { rotations };
  return mode === 'columns'
    ? { name: 'ring-columns', settings: turns, reason }
    : { name: 'ring-rows', settings: { ...rowOptions(request, rotations), ...turns }, reason };
}

export function planInterior(
  request: ProblemSummary,
  reason: string,
  given?: Pick<InteriorSettings, 'joining'>,
): SolverPlan {
  return { name: 'interior-point', settings: interiorSettings(request, given), reason };
}

/** The interior point method, and row by row where its steps lead nowhere: numbers may overflow. */
function interiorThenRows(request: ProblemSummary, reason: string): SolverPlan {
  return { ...planInterior(request, reason), next: { plan: planRing({ mode: 'rows' }, request) } };
}

/** Whether ℓ'' is positive everywhere, so that Newton steps know where they end. */
function isCurved(loss: Loss): boolean {
  return loss.openEnds || (loss.smooth && hasAllSlopes(loss) && loss.pieces !== 2);
}

/** The interior point method where it is cheap. */
function cheapInterior(request: ProblemSummary): SolverPlan | undefined {
  const { loss, penalty } = request;
  const cost = interiorCost(request);
  // Dual steps do well on losses that are not smooth, whatever the shape.
  const most = loss.smooth || !(penalty.l2 > 0) ? cheapStep : 0;
  if (!cost || (cost.time > briefStep && cost.epochs > most)) return undefined;
  const reason = `${loss.name} with ${penalty.name} on ${cost.size}: second-order steps`;
  return interiorThenRows(request, reason);
}

/** `plan`, and the interior point method after it where its steps are affordable. */
function withInterior(plan: SolverPlan, request: ProblemSummary): SolverPlan {
  const { loss, shape, grid = suitedGrid(plan, shape) } = request;
  const there = { ...request, grid };
  const cost = interiorCost(there);
  if (plan.name === 'interior-point' || !cost || cost.epochs > affordableStep) return plan;
  const budget = expectedSteps * cost.epochs;
  const isBrief = plan.name === 'ring-rows' && !plan.settings.mapped;
  const passes =
    plan.name === 'newton' || plan.name === 'working-set'
      ? Math.max(fewNewtonPasses, newtonPasses * budget)
      : Math.max(fewPasses, isBrief ? rowPasses * budget : budget);
  const next: NextPlan = {
    plan: interiorThenRows(there, `${loss.name} on ${cost.size}`),
    after: Math.round(passes),
  };
  return { ...plan, next };
}

/** A smooth loss with a quadratic penalty alone. */
function planSmooth(request: ProblemSummary): SolverPlan {
  const { loss } = request;
  if (isCurved(loss) || loss.task === 'regression' || isTallClassification(request)) {
    const reason = `${loss.name} with l2: Newton steps`;
    return { name: 'newton', settings: solverEntries.newton.defaults, reason };
  }
  return cheapInterior(request) ?? planRing({ mode: 'auto' }, request);
}

/** A linear program. As many weights as rows may be needed: dual steps where the set would become too large. */
function planLinear(request: ProblemSummary): SolverPlan {
  const { loss, penalty, shape } = request;
  const reason = `${loss.name} with ${penalty.name} is a linear program`;
  const settings = interiorSettings(request);
  const yields = settings.side === 'set' && shape.rows > mostColumns;
  const next: NextPlan = { plan: planRing({ mode: 'rows' }, request) };
  return {
    name: 'interior-point',
    settings: { ...settings, ...(yields && { yields }) },
    reason,
    next,
  };
}

function planInMemory(request: ProblemSummary): SolverPlan {
  const { loss, penalty, shape } = request;
  const isFree = boundsOf(penalty) === undefined;
  if (loss.smooth && isFree && !(penalty.l1 > 0)) {
    return withInterior(planSmooth(request), request);
  }
  const isSparse = loss.smooth && isFree;
  // Steps of interior point do not suffer from columns in raw units, whose products differ by 10¹².
  const isSmallRegression = loss.task === 'regression' && shape.columns <= fewColumns;
  const suitsSet =
    isSparse && ((isCurved(loss) && !isSmallRegression) || isTallClassification(request));
  const cheap = suitsSet ? undefined : cheapInterior(request);
  if (cheap) return cheap;
  if (isSparse) {
    const reason = `${loss.name} with ${penalty.name}: second-order steps on the columns with a weight`;
    const { defaults: settings } = solverEntries['working-set'];
    return withInterior({ name: 'working-set', settings, reason }, request);
  }
  const isLinear = !loss.smooth && !(penalty.l2 > 0);
  if (isLinear && isKnown(loss) && !interiorIncompatibility(request)) return planLinear(request);
  return withInterior(planRing({ mode: 'auto' }, request), request);
}

/** Of the methods that read non-zeros from disk. */
function planOnDisk(request: ProblemSummary): SolverPlan {
  const { loss, penalty } = request;
  const isFree = boundsOf(penalty) === undefined;
  const reason = `${loss.name}, data that may stay on disk`;
  if (loss.smooth && isFree && !(penalty.l1 > 0) && isTall(request)) {
    return { name: 'lbfgs', settings: solverEntries.lbfgs.defaults, reason };
  }
  return { ...planRing({ mode: 'rows' }, request), reason: `${reason}: dual steps, row by row` };
}

export function planAuto(request: ProblemSummary): SolverPlan {
  const staysOnDisk = request.fromDisk || request.shape.nonzeros >= manyNonzeros;
  return staysOnDisk ? planOnDisk(request) : planInMemory(request);
}

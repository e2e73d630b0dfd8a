import { UsageError } from '../errors.ts';
import { lossByName, lossNames } from '../losses/index.ts';
import type { Loss } from '../losses/loss.ts';
import type { Orientation } from '../parallel/grid.ts';
import type { Penalty } from '../penalties/penalty.ts';
import type { RingRowsOptions } from './ring-rows.ts';
import type { DsoSettings, Solver } from './solver.ts';

/** A solver made definite for one problem. */
export type Plan = (
  | { readonly solver: 'dso'; readonly settings: DsoSettings }
  | ({ readonly solver: 'ring'; readonly mode: 'rows' } & RingRowsOptions)
  | { readonly solver: 'ring'; readonly mode: 'columns'; readonly rotations?: number }
) & { readonly orientation: Orientation; readonly reason: string };

export interface Shape {
  readonly rows: number;
  readonly columns: number;
  readonly nonzeros: number;
}

/** Functions every loss must have before a duality gap can be had. */
const dualParts = [
  'conjugate',
  'conjugateDerivative',
  'conjugateLow',
  'conjugateHigh',
  'dualStep',
] as const;

/**
 * Non-zeros up to which a grid of 1, 2, 4 or 8 workers is the default; beyond, 16. Every worker
 * more cuts rows into shorter pieces, which costs time on one thread and is won back by many only
 * where there is enough to do. A rule on the data alone, so that the same command gives the same
 * model on any machine.
 */
const gridSteps = [
  [2.5e6, 1],
  [1e7, 2],
  [1e8, 4],
  [1e9, 8],
] as const;

export function defaultGrid({ rows, columns, nonzeros }: Shape): number {
  const wanted = gridSteps.find(([most]) => nonzeros < most)?.[1] ?? 16;
  return Math.max(1, Math.min(wanted, rows, columns));
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

function rowOptions(
  loss: Loss,
  penalty: Penalty,
  lambda: number,
  special: boolean,
): Omit<RingRowsOptions, 'rotations'> {
  return {
    mapped: special || penalty.l1 > 0 || penalty.l2 !== 1,
    proximal: lambda,
    startInside: Math.abs(loss.conjugateDerivative(0, 1, loss.parameter)) > 100,
  };
}

type RingMode = 'rows' | 'columns';

/** Rows per column from which column mode is the quicker one; more where ℓ has a flat side. */
const worthColumns = { steep: 1, flat: 10 };

/** Steps on rows or on columns: whichever the loss allows and the shape favours, and why. */
function favouredMode(loss: Loss, penalty: Penalty, shape: Shape): [RingMode, string] {
  if (!loss.smooth) return ['rows', `${loss.name} is not smooth: dual steps, row by row`];
  if (!(penalty.l2 > 0)) {
    return ['columns', `${loss.name} with ${penalty.name}: primal steps, column by column`];
  }
  const flat = loss.name === 'squared-hinge' || loss.name === 'smoothed-hinge';
  const least = flat ? worthColumns.flat : worthColumns.steep;
  return shape.rows > least * shape.columns
    ? ['columns', `${loss.name} on more rows than columns: primal steps, column by column`]
    : ['rows', `${loss.name} on this shape: dual steps, row by row`];
}

/**
 * Decides what runs. `special` says that columns differ in their penalty (factors, an intercept).
 * Column mode needs ℓ''; row mode takes every loss, at the price of proximal steps where the
 * penalty has no curvature. A rule on options and data, never on the machine.
 */
export function choose(
  solver: Solver,
  loss: Loss,
  penalty: Penalty,
  lambda: number,
  special: boolean,
  shape: Shape,
): Plan {
  if (!['auto', 'dso', 'ring'].includes(solver.name)) {
    throw new UsageError(
      `solver is ${JSON.stringify(solver)}; make one with solvers.auto(), solvers.ring() or solvers.dso()`,
    );
  }
  const lack = missing(loss);
  if (lack) throw new UsageError(lack);
  if (solver.name === 'dso') {
    if (solver.settings.initialize > 0 && !(penalty.l2 > 0)) {
      throw new UsageError(
        `dso cannot start from local dual coordinate descent with penalty '${penalty.name}': it needs a quadratic part (l2 or elastic-net)`,
      );
    }
    return { solver: 'dso', settings: solver.settings, orientation: 'rows', reason: 'as asked' };
  }
  const settings = solver.name === 'ring' ? solver.settings : { mode: 'auto' as const };
  if (settings.mode === 'columns' && !loss.smooth) {
    throw new UsageError(
      `ring in column mode needs a smooth loss; '${loss.name}' has no second derivative (use --mode rows)`,
    );
  }
  const [mode, reason] =
    settings.mode === 'auto'
      ? favouredMode(loss, penalty, shape)
      : ([settings.mode, 'as asked'] as const);
  const rotations = settings.rotations === undefined ? {} : { rotations: settings.rotations };
  if (mode === 'columns') {
    return { solver: 'ring', mode, orientation: 'columns', reason, ...rotations };
  }
  const options = rowOptions(loss, penalty, lambda, special);
  return { solver: 'ring', mode, orientation: 'rows', reason, ...options, ...rotations };
}

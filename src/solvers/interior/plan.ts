import type { Loss } from '../../problem/losses/loss.ts';
import { boundsOf } from '../../problem/penalties/separable.ts';
import type { ProblemSummary } from '../solver.ts';
import type { InteriorSettings } from './memory.ts';

/** Unknowns of a linear system: its matrix takes 800 MB. */
export const mostUnknowns = 10_000;
/** Columns of a growing set, at most: their matrix takes 128 MB. */
export const mostColumns = 4000;

/** Nanoseconds of the parts of a step: measured, see docs/solvers.md. */
const cost = { product: 0.4, denseProduct: 0.12, elimination: 0.03, passes: 30, unit: 60 } as const;
/** Nanoseconds that an epoch of a coordinate method takes for each non-zero. */
const epochCost = 20;
/** A growing set pays with L1 from this number of rows on where there are more columns, or from this time on. */
const fewRows = 1500;
const dear = 1e9;

/** From this share of non-zeros on rows are unpacked for their products. */
const denseFrom = 0.3;

/** Nanoseconds of a step with a system of columns × columns, and of rows × rows, by the shape alone. */
function stepCosts({ shape, grid = 1 }: Pick<ProblemSummary, 'shape' | 'grid'>) {
  const { rows: m, columns: d, nonzeros: z } = shape;
  const passes = cost.passes * z + cost.unit * (m + d);
  const isDense = z > denseFrom * m * d;
  const perRow = z / Math.max(1, m);
  const products = isDense ? cost.denseProduct * m * d * d : cost.product * z * perRow;
  const isPossible = (unknowns: number) => unknowns <= mostUnknowns;
  return {
    columns: isPossible(d) ? products + cost.elimination * d ** 3 + passes : Infinity,
    // That system is for one worker with all rows.
    rows:
      isPossible(m) && grid === 1
        ? cost.product * z * m + cost.elimination * m ** 3 + passes
        : Infinity,
  };
}

/**
 * Whether the columns that get a weight are better sought: their number may be far below that of rows
 * and columns.
 */
function isSparse({ penalty }: Pick<ProblemSummary, 'penalty'>): boolean {
  return penalty.l1 > 0 && boundsOf(penalty) === undefined;
}

/** The linear system that suits the problem; `joining`: columns that join a growing set, if it is given. */
function sideOf(request: ProblemSummary, joining: number | undefined): InteriorSettings['side'] {
  const { shape } = request;
  const costs = stepCosts(request);
  const isWide = shape.rows < shape.columns && shape.rows > fewRows;
  const isDear = Math.min(costs.columns, costs.rows) > dear;
  if (isSparse(request) && (joining !== undefined || isWide || isDear)) return 'set';
  return costs.rows < costs.columns ? 'rows' : 'columns';
}

/** `given`: what the user has set. */
export function interiorSettings(
  request: ProblemSummary,
  { joining }: Pick<InteriorSettings, 'joining'> = {},
): InteriorSettings {
  const { loss, penalty, intercept } = request;
  return {
    side: sideOf(request, joining),
    ...(joining !== undefined && { joining }),
    pieces: loss.pieces === 2 && loss.parameter > 0 ? 2 : 1,
    l1: penalty.l1 > 0,
    bounded: boundsOf(penalty) !== undefined,
    free: intercept ? 1 : 0,
  };
}

/** What the method cannot solve, and why. */
export function interiorIncompatibility(request: ProblemSummary): string | undefined {
  const { loss, shape, grid = 1 } = request;
  if (!loss.conjugateCurvature) {
    return `loss '${loss.name}': it needs the function conjugateCurvature, the second derivative of the conjugate`;
  }
  const { columns, rows } = stepCosts(request);
  if (Math.min(columns, rows) < Infinity || isSparse(request)) return undefined;
  const size = `${shape.rows} rows and ${shape.columns} columns`;
  const need = `without L1 its linear systems have the size of the smaller of both, ${mostUnknowns} at most`;
  return grid > 1 && shape.rows <= mostUnknowns
    ? `a grid of ${grid}: with ${size} it runs on a grid of 1`
    : `${size}: ${need}`;
}

/** Whether it is known where ℓ* has no curvature, or has ends that the method stays away from. */
export function isKnown({ pieces, openEnds }: Loss): boolean {
  return pieces !== undefined || openEnds;
}

/** What a step costs, and how many columns or rows its linear system has; of none with a growing set. */
export interface StepCost {
  /** Nanoseconds. */
  readonly time: number;
  /** Epochs of a coordinate method that take as long. */
  readonly epochs: number;
  readonly unknowns: number;
  /** In words. */
  readonly size: string;
}

/**
 * The cost of a step with the cheaper of the two linear systems, where one is small enough and the
 * loss is known to suit the method: of a custom one it is not.
 */
export function interiorCost(request: ProblemSummary): StepCost | undefined {
  const { loss, shape } = request;
  if (!isKnown(loss)) return undefined;
  const { columns, rows } = stepCosts(request);
  const time = Math.min(columns, rows);
  if (!loss.conjugateCurvature || time === Infinity) return undefined;
  const isTall = columns <= rows;
  const unknowns = isTall ? shape.columns : shape.rows;
  const size = `${unknowns} ${isTall ? 'columns' : 'rows'}`;
  return { time, epochs: time / (epochCost * Math.max(1, shape.nonzeros)), unknowns, size };
}

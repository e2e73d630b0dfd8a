import type { CertificateKernels } from './certificate.ts';
import type { DenseKernels, PanelKernels } from './dense.ts';
import type { ProximalKernels } from './proximal.ts';
import type { SegmentKernels } from './segments.ts';
import type { StageKernels } from './stages.ts';
import type { WorkingSetKernels } from './working-set-kernels.ts';

/**
 * The hot loops. Two implementations share the interface `Kernels` and agree to the last bit:
 * WebAssembly compiled from assembly/kernels.ts, two modules per built-in loss, with addresses of 32
 * bits and of 64, and plain JavaScript, which also serves custom losses and data beyond one
 * WebAssembly memory.
 *
 * A *cell* is the part X[I_q, J_r] of the data matrix in compressed form. Its *units* are the rows
 * of I_q (row orientation) or the columns of J_r (column orientation); unit k has the nonzeros
 * offsets[k] … offsets[k+1]-1 of indices (local to the other axis) and values.
 */
export interface Cell {
  readonly offsets: Int32Array;
  readonly indices: Int32Array;
  readonly values: Float32Array;
}

/**
 * Whole rows of one worker, across its cells: the nonzeros of row i in block b are
 * offsets[b·(rows+1) + i] … offsets[b·(rows+1) + i + 1]-1, and their columns count from starts[b].
 */
export interface WholeRows extends Cell {
  readonly rows: number;
  readonly blocks: number;
  readonly starts: Int32Array;
}

/** Entries by column: their rows, their values, and where they are in a list by rows. */
export interface ColumnEntries extends Cell {
  readonly places: Int32Array;
}

/** Arrays of doubles by name. */
export type Doubles<Names extends string> = Readonly<Record<Names, Float64Array>>;

/** The least and the greatest weight each column may have, low_j ≤ 0 ≤ high_j. */
export type Box = Doubles<'low' | 'high'>;

/**
 * How a column's dual image v_j becomes its weight in row mode:
 * w_j = soft(v_j + shift_j, threshold_j) · inverse_j, the minimiser of
 * λφ_j(w) + (prox_j/2)(w − center_j)² − v_j w; clipped to the column's box where there is one.
 */
export interface WeightMap extends Doubles<'image' | 'threshold' | 'inverse' | 'shift'> {
  readonly box?: Box;
}

/**
 * Labels and weights c_i of rows. In every kernel the loss of row i is c_i ℓ: α_i and slopes are
 * those of the weighted loss, and a row with c_i = 0 has no effect.
 */
type LabelledRows = Doubles<'labels' | 'rowWeights'>;

/** The rows of one worker where it steps on whole rows by itself. */
export interface LocalRows extends LabelledRows, Doubles<'alpha'> {
  /** Σ_j x_ij² / μ_j, with μ_j the curvature of column j's penalty. */
  readonly norms: Float64Array;
  /** |Ω_i| */
  readonly counts: Int32Array;
}

/** The rows of one worker in row mode. */
export interface RowState extends LocalRows {
  /** Σ_j x_ij² / μ_j · |Ω̄_j| / m: how much of the row collides with other rows. */
  readonly collisions: Float64Array;
  readonly level: Uint8Array;
  readonly skip: Uint8Array;
}

/** The changes a batch left behind: units[k] moved by deltas[k]. */
export interface Pending {
  readonly units: Int32Array;
  readonly deltas: Float64Array;
}

/** The changes begin … end-1 of a list. */
export function pendingPart(pending: Pending, begin: number, end: number): Pending {
  if (begin === 0) return pending;
  const { units, deltas } = pending;
  return { units: units.subarray(begin, end), deltas: deltas.subarray(begin, end) };
}

/** Slots of the `stats` array that step and sweep kernels add to. */
export const stat = { work: 0, effective: 1, slack: 2, length: 8 } as const;

/** Scalars of a dual step. */
export interface RowStep {
  /** ρ κ φ · stale · N/B: multiplies the collisions. */
  readonly damping: number;
  /** 1/W, W = Σ c_i */
  readonly inverseTotalWeight: number;
  /** What a change of α is multiplied with on its way to w (1/(λW)) or to the image (1/W). */
  readonly deltaScale: number;
  /** 1 to skip rows that rest at a bound. */
  readonly shrink: number;
}

/** The rows of one worker in column mode. */
export interface MarginState extends LabelledRows {
  readonly margins: Float64Array;
  /** c ℓ' and damped c ℓ'' at the margin, valid where dirty is 0. */
  readonly slopes: Float64Array;
  readonly curvatures: Float64Array;
  readonly dirty: Uint8Array;
  /** |Ω_i| / d */
  readonly density: Float64Array;
}

/** Σ c ℓ' x and Σ c ℓ'' x² of the columns of a batch. */
export type ColumnSums = Doubles<'gradients' | 'hessians'>;

/** The columns of one block in column mode; l1 and l2 are λ l1 f_j and λ l2 f_j. */
export interface ColumnState extends ColumnSums, Doubles<'weights' | 'l1' | 'l2'> {
  readonly box?: Box;
  /** |Ω̄_j| */
  readonly counts: Int32Array;
  readonly level: Uint8Array;
  readonly skip: Uint8Array;
}

/** Doubles per column in the paper's solver: one cache line, see saddleSlot. */
export const saddleStride = 8;

/** Slots of a column's line: w, AdaGrad's sum, λf/|Ω̄|, w₀, ∇₀ and the ends of its box. */
export const saddleSlot = {
  weight: 0,
  squares: 1,
  share: 2,
  snapshot: 3,
  gradient: 4,
  low: 5,
  high: 6,
} as const;

/** The rows of one worker in the paper's solver. */
export interface SaddleRows extends LabelledRows, Doubles<'alpha'> {
  /** Σ of squared gradients (AdaGrad). */
  readonly accumulators: Float64Array;
  /** 1/(W |Ω_i|) */
  readonly inverseCounts: Float64Array;
  /** Ends of the domain of α_i/c_i. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Snapshot of α and its full gradient, in α_i/c_i, per non-zero (SVRG). */
  readonly snapshot: Float64Array;
  readonly snapshotGradient: Float64Array;
}

export interface SaddleStep {
  /** Step sizes: η_t itself, or AdaGrad's numerator. */
  readonly weightStep: number;
  readonly alphaStep: number;
  readonly adagrad: boolean;
  readonly svrg: boolean;
  readonly l1: number;
  readonly l2: number;
  readonly inverseTotalWeight: number;
}

/** Doubles per column in stochastic gradient descent: one cache line, see sgdSlot. */
export const sgdStride = 8;

/**
 * Slots of a column's line: the weight; AdaGrad's sum of squared gradients; the step size by which
 * the penalty acts per unit of time; when the weight was last brought up to date; its sum over
 * time; λ l1 f_j and λ l2 f_j; AdaGrad's numerator η_j.
 */
export const sgdSlot = {
  weight: 0,
  squares: 1,
  rate: 2,
  seen: 3,
  sum: 4,
  l1: 5,
  l2: 6,
  scale: 7,
} as const;

/**
 * What a worker carries from row to row: time since the epoch began (steps with AdaGrad, else the
 * sum of step sizes), the age that step sizes fall with, and nonzeros touched so far.
 */
export const sgdClock = { time: 0, age: 1, work: 2, length: 8 } as const;

/** The rows of one worker; α_i is −c ℓ' at the row's last step. */
export type SgdRows = LabelledRows & Doubles<'alpha'>;

export interface SgdStep {
  /** Step sizes η_j/√G_j, or else η₀/√age for all columns. */
  readonly adagrad: boolean;
  /** η₀; AdaGrad's are in the columns' lines. */
  readonly stepSize: number;
  /** What a step adds to the age. */
  readonly aging: number;
  /** n/W of the worker's n rows: c_i times it is 1 in the mean. */
  readonly rowShare: number;
  /** Bounds of every weight but that of a column without a penalty, the intercept. */
  readonly bounds?: { readonly low: number; readonly high: number };
}

/** Numbers by row or by column, and lists of rows or columns. */
type Vector = Float64Array;
type Units = Int32Array;
/** The units order[begin] … order[end-1]. */
type Listed = [order: Units, begin: number, end: number];

/** Loops over whole vectors; in WebAssembly they are quick from the first call on. */
export interface VectorKernels {
  /** now ← now + β (now − previous); start and previous ← now as it was. */
  extrapolate(now: Vector, start: Vector, previous: Vector, beta: number): void;
  /** target ← from + share · (to − from); target may be one of the two. */
  interpolate(target: Vector, from: Vector, to: Vector, share: number): void;
  /** target ← factor · source */
  scaleInto(source: Vector, target: Vector, factor: number): void;
  /** target ← a + factor · b; target may be one of the two. */
  combine(target: Vector, a: Vector, factor: number, b: Vector): void;
  /** target ← a · b, number by number; target may be one of the two. */
  multiplyInto(a: Vector, b: Vector, target: Vector): void;
  /** Σ l1_j |w_j| + (l2_j/2) w_j² */
  penaltySum(weights: Vector, l1: Vector, l2: Vector): number;
  /** Σ soft(v_j, l1_j)² / (2 l2_j) over the columns with a quadratic part. */
  penaltyConjugateSum(image: Vector, l1: Vector, l2: Vector): number;
  /**
   * The same with bounded weights, at scale · v: Σ w_j (e_j − (l2_j/2) w_j) with
   * e_j = soft(scale v_j, l1_j) and w_j the weight in the box that attains it. Columns where e_j
   * points to a side without an end, and nothing else holds it, are left out.
   */
  boundedConjugateSum(image: Vector, l1: Vector, l2: Vector, box: Box, scale: number): number;
  /** d/ds of penaltySum at from + s (to − from), at a corner from the right. */
  penaltySlope(from: Vector, to: Vector, l1: Vector, l2: Vector, share: number): number;
  /** Σ from_j (to_j − from_j) */
  changeAlong(from: Vector, to: Vector): number;
  /** Σ (to_j − from_j)² */
  changeSquare(from: Vector, to: Vector): number;
  /** w_j = soft(v_j + shift_j, threshold_j) · inverse_j, clipped to the map's box. */
  mapWeights(map: WeightMap, weights: Vector): void;
  /** Σ_j w_j(v_j) · dv_j at start + share · (image − start). */
  mappedSlope(map: WeightMap, start: Vector, share: number): number;
  /**
   * Lists the units of the runs in order; leaves out those whose skip count is not 0, which counts
   * down, and which have not moved since `start`. Returns how many are listed.
   */
  listUnits(
    ...args: [runs: Units, run: number, skip: Uint8Array, now: Vector, start: Vector, active: Units]
  ): number;
}

export interface Kernels
  extends VectorKernels,
    DenseKernels,
    SegmentKernels,
    ProximalKernels,
    StageKernels,
    WorkingSetKernels,
    PanelKernels,
    CertificateKernels {
  readonly name: 'wasm' | 'plain';

  /** result[i] (+)= Σ_k source[index_k] · value_k for each unit i; starts from 0 when fresh. */
  gather(...args: [cell: Cell, ...Listed, fresh: boolean, source: Vector, result: Vector]): void;
  /** target[index_k] += deltas[p] · value_k for unit units[p], p = 0 … count-1, where deltas[p] is not 0. */
  scatter(cell: Cell, pending: Pending, count: number, target: Vector): void;
  /** result[i] += Σ_k |source[index_k] · value_k| for each unit i. */
  gatherSizes(...args: [cell: Cell, ...Listed, source: Vector, result: Vector]): void;
  /** target[index_k] += |deltas[p] · value_k|, for the same units. */
  scatterSizes(cell: Cell, pending: Pending, count: number, target: Vector): void;
  /** gather and gatherSizes in one pass, neither fresh. */
  gatherBoth(...args: [cell: Cell, ...Listed, source: Vector, result: Vector, sizes: Vector]): void;
  /** scatter and scatterSizes in one pass. */
  scatterBoth(
    ...args: [cell: Cell, pending: Pending, count: number, target: Vector, sizes: Vector]
  ): void;
  /** The scatter on the image v, followed by the map's w_j. */
  scatterMapped(cell: Cell, pending: Pending, count: number, map: WeightMap, weights: Vector): void;
  /** norms[i] += Σ x²·a[index], collisions[i] += Σ x²·b[index]. */
  rowNorms(
    ...args: [cell: Cell, units: number, a: Vector, b: Vector, norms: Vector, collisions: Vector]
  ): void;

  /** Dual steps of a batch whose margins are complete. Returns the number of pending changes. */
  stepRows(
    ...args: [...Listed, margins: Vector, RowState, RowStep, pending: Pending, stats: Vector]
  ): number;
  /** One worker, one row at a time: margin, dual step, update. */
  sweepRows(
    ...args: [cell: Cell, ...Listed, RowState, RowStep, weights: Vector, stats: Vector]
  ): void;
  sweepRowsMapped(
    ...args: [cell: Cell, ...Listed, RowState, RowStep, WeightMap, weights: Vector, stats: Vector]
  ): void;
  /**
   * One worker by itself, one whole row at a time: margin, dual step, and for each of its columns
   * weights[j] += (1/W) Δα · value · inverse[j], where 1/inverse[j] is the column's curvature.
   */
  sweepWholeRows(
    whole: WholeRows,
    ...args: [
      ...Listed,
      rows: LocalRows,
      inverseTotalWeight: number,
      inverse: Vector,
      weights: Vector,
      stats: Vector,
    ]
  ): void;
  /**
   * Dual steps of a batch whose margins are complete, one whole row after the other: a row also
   * takes account of what the rows before it have changed, drift[j] += (1/W) Δα · value · pull[j].
   * Drift must be 0 at first. Returns the number of pending changes.
   */
  stepWholeRows(
    whole: WholeRows,
    ...args: [
      ...Listed,
      margins: Vector,
      rows: RowState,
      step: RowStep,
      pull: Vector,
      drift: Vector,
      pending: Pending,
      stats: Vector,
    ]
  ): number;

  /** margins[index_k] += deltas[p] · value_k, and marks those rows dirty. */
  scatterColumns(cell: Cell, pending: Pending, count: number, rows: MarginState): void;
  /** gradients[j] (+)= Σ c_i ℓ'(u_i) x_ij, hessians[j] (+)= Σ c_i ℓ''(u_i) (1 + damping·density_i) x_ij². */
  gatherColumns(
    ...args: [cell: Cell, ...Listed, fresh: boolean, MarginState, ColumnSums, damping: number]
  ): void;
  /** Prox-Newton steps of a batch of columns. Returns the number of pending changes. */
  stepColumns(
    ...args: [...Listed, ColumnState, inverseTotalWeight: number, pending: Pending, stats: Vector]
  ): number;
  /** One worker, one column at a time. */
  sweepColumns(
    cell: Cell,
    ...args: [
      ...Listed,
      rows: MarginState,
      columns: ColumnState,
      damping: number,
      inverseTotalWeight: number,
      stats: Vector,
    ]
  ): void;

  /** Equation saddle_grad of the paper over the listed rows of a cell. */
  saddleRows(...args: [cell: Cell, ...Listed, SaddleRows, columns: Vector, SaddleStep]): void;
  /** Gradient steps on the listed rows; the penalty acts on a column when a row meets it. */
  sgdRows(
    ...args: [whole: WholeRows, ...Listed, SgdRows, lines: Vector, clock: Vector, SgdStep]
  ): void;
  /** Brings the columns listed up to date and starts a new count of time. */
  sgdSettle(lines: Vector, held: Units, clock: Vector): void;

  // Sums over rows, with labels y, row weights c and margins u.
  /** Σ c_i ℓ(u_i, y_i) */
  lossSum(u: Vector, y: Vector, c: Vector): number;
  /** Σ c_i ℓ*(−scale·α_i/c_i) */
  conjugateSum(alpha: Vector, y: Vector, c: Vector, scale: number): number;
  /** Σ (b_i − a_i) ℓ*'(−(a_i + η (b_i − a_i))/c_i): slope of −Σ c ℓ*(−α/c) from a to b. */
  conjugateSlope(a: Vector, b: Vector, y: Vector, c: Vector, eta: number): number;
  /** Σ (b_i − a_i) c_i ℓ'(a_i + η (b_i − a_i)): slope of Σ c ℓ from margins a to b. */
  lossSlope(a: Vector, b: Vector, y: Vector, c: Vector, eta: number): number;
  /** alpha[i] = −c_i ℓ'(u_i, y_i): the dual point a primal point suggests. */
  dualPoint(u: Vector, y: Vector, c: Vector, alpha: Vector): void;
  /**
   * Σ c_i ℓ(u_i, y_i), with α_i = −c_i ℓ' and c_i ℓ'' for steps on all rows at once: larger on steep
   * straight parts. `isBent`: ℓ has no straight part, which then need not be looked for.
   */
  expandLoss(
    ...args: [u: Vector, y: Vector, c: Vector, isBent: boolean, alpha: Vector, curvatures: Vector]
  ): number;
  /** target[i] = ℓ*'(−α_i/c_i) */
  dualSlopes(alpha: Vector, y: Vector, c: Vector, target: Vector): void;
  /** target[i] = clip(alpha[i] + c_i · shift) to the domain; returns the sum. */
  shiftAlpha(alpha: Vector, y: Vector, c: Vector, shift: number, target: Vector): number;
}

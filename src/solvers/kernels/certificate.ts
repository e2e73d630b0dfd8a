import { isOfResidual, type Loss } from '../../problem/losses/loss.ts';
import type { Box, Cell } from './kernels.ts';

type Vector = Float64Array;

/** What the value of a loss is computed from: y u, u − y, also e^u, or nobody knows. */
export const lossKind = { margin: 0, residual: 1, log: 2, custom: 3 } as const;

export function kindOfLoss(loss: Pick<Loss, 'task' | 'link' | 'module'>): number {
  if (loss.module !== undefined) return lossKind.custom;
  if (loss.link === 'log') return lossKind.log;
  return isOfResidual(loss) ? lossKind.residual : lossKind.margin;
}

/** Columns of a penalty, their image and how far off that may be; the one at `skip`, −1 for none, is left out. */
export interface BoundedColumns {
  readonly image: Vector;
  readonly errors: Vector;
  readonly l1: Vector;
  readonly l2: Vector;
  readonly skip: number;
}

/** Sums of a certificate and bounds on their rounding errors: see src/solvers/objective/certificate.ts. */
export interface CertificateKernels {
  /**
   * found ← by how much Σ c ℓ(u) may exceed its computed value, and Σ |c ℓ(u)|. Row i has counts[i] + more
   * operations on terms of sizes[i]; `adding`: the relative error of a sum over the rows.
   */
  lossErrors(
    ...args: [
      margins: Vector,
      labels: Vector,
      rowWeights: Vector,
      sizes: Vector,
      counts: Int32Array,
      more: number,
      adding: number,
      kind: number,
      found: Vector,
    ]
  ): void;
  /** found ← Σ c ℓ*(−scale α/c), compensated, Σ |c ℓ*| and bounds on the errors of the terms. */
  conjugateErrors(
    ...args: [
      alpha: Vector,
      labels: Vector,
      rowWeights: Vector,
      scale: number,
      kind: number,
      found: Vector,
    ]
  ): void;
  /** Σ c ℓ''(u), as single steps have it. */
  curvatureSum(margins: Vector, labels: Vector, rowWeights: Vector): number;
  /** sizes ← how far off the image may be, of counts[j] + more terms. */
  imageErrors(
    ...args: [image: Vector, sizes: Vector, counts: Int32Array, more: number, exactly: boolean]
  ): void;
  /** found ← Σ (λ f φ)*(scale v), and the most that it can be, each term times `rounding`. */
  penaltyBounds(
    ...args: [
      columns: BoundedColumns,
      box: Box | undefined,
      scale: number,
      rounding: number,
      found: Vector,
    ]
  ): void;
  /** The greatest |v|/l1 on a side where the weight has no bound, at least 0. */
  greatestRatio(columns: BoundedColumns, box: Box | undefined): number;
  /** errors ← l1 less the greatest |scale v| on a side where the box has room. */
  columnRooms(columns: BoundedColumns, box: Box | undefined, scale: number): void;
  /** squares[j] += Σ_i c_i x_ij² and sums[j] += Σ_i c_i x_ij over units of a cell. */
  addSquares(
    ...args: [
      cell: Cell,
      begin: number,
      end: number,
      byRow: boolean,
      rowWeights: Vector,
      squares: Vector,
      sums: Vector,
    ]
  ): void;
  /** high[j] + low[j] += Σ_i α_i x_ij with an error of about one rounding, over units of a cell. */
  addExactly(
    ...args: [
      cell: Cell,
      begin: number,
      end: number,
      byRow: boolean,
      alpha: Vector,
      high: Vector,
      low: Vector,
    ]
  ): void;
}

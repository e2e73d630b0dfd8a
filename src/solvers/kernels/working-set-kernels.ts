import type { Cell, Doubles, Pending } from './kernels.ts';

/**
 * The columns of a working set W, in the order of its cycles: where their weights have come to, the
 * sums Σ s_i x_i and Σ h_i x_i² of the model, their penalties, how far the last step was from 0 in
 * units of the gradient, and their non-zeros.
 */
export interface WorkingColumns
  extends Doubles<'now' | 'gradients' | 'hessians' | 'l1' | 'l2' | 'violations' | 'counts'> {}

/** Slots of what steps add to: non-zeros touched, the worst violation, the fall of the model. */
export const workingStat = { work: 0, worst: 1, gain: 2, length: 8 } as const;

type Vector = Float64Array;
/** The columns begin … end-1 of W; arrays of results begin with column `begin`. */
type Piece = [packed: Cell, begin: number, end: number];

/** Row weights c_i are part of slopes s, curvatures h and q = h ∘ (X d), d the change of the weights. */
export interface WorkingSetKernels {
  /** Copies the units order[begin … end-1] of a cell to these positions of another one. */
  packColumns(cell: Cell, order: Int32Array, begin: number, end: number, packed: Cell): void;
  /** The first columns of a cell by rows, where offsets has one number more than rows. */
  packRows(packed: Cell, columns: number, byRows: Cell): void;
  /**
   * s_i = c_i ℓ'(u_i), and ℓ'' and ℓ' without c_i; returns the largest ℓ''. `known`: ℓ' is there. Where the slope does not
   * change it is 0, and the damping of the model is to take over: what Loss.curvature gives there is
   * for steps without a line search.
   */
  modelRows(
    ...args: [
      margins: Vector,
      labels: Vector,
      rowWeights: Vector,
      known: boolean,
      derivatives: Vector,
      slopes: Vector,
      curvatures: Vector,
    ]
  ): number;
  /** Σ t_i c_i ℓ'(u_i), t = q/h, u the margins after a whole step; leaves ℓ' where the step changes it. */
  searchSlope(
    ...args: [
      next: Vector,
      labels: Vector,
      rowWeights: Vector,
      inverses: Vector,
      moved: Vector,
      derivatives: Vector,
    ]
  ): number;
  /** h_i = c_i max(ℓ''_i, least), in place, and 1/h_i, or 0. */
  boundCurvatures(curvatures: Vector, rowWeights: Vector, least: number, inverses: Vector): void;
  /**
   * Σ t_i (c_i ℓ'(u_i + t_i) − s_i − q_i), t = q/h. `isOpen`: ℓ' takes an exponential, and for a small
   * t_i it is told from ℓ'' where the model says that the slope has come to.
   */
  modelError(
    ...args: [
      margins: Vector,
      labels: Vector,
      rowWeights: Vector,
      slopes: Vector,
      inverses: Vector,
      moved: Vector,
      isOpen: boolean,
    ]
  ): number;
  /** Σ s_i x_i and Σ h_i x_i² */
  sumColumns(
    ...args: [...Piece, slopes: Vector, curvatures: Vector, gradients: Vector, hessians: Vector]
  ): void;
  /**
   * By non-zero how many of these columns, which step together, have its row. `sharing`, by rows, is 0
   * before and after.
   */
  countSharing(...args: [...Piece, sharing: Uint8Array, shares: Uint8Array]): void;
  /** The sums of sumColumns with h_i x_i² n_i, n_i the shares: with them steps together lower the model. */
  sumTogether(
    ...args: [
      ...Piece,
      slopes: Vector,
      curvatures: Vector,
      shares: Uint8Array,
      gradients: Vector,
      hessians: Vector,
    ]
  ): void;
  /**
   * Steps on one column after the other whose violation is larger than `above`, each followed by its
   * change of q.
   */
  sweepWorkingSet(
    ...args: [
      ...Piece,
      curvatures: Vector,
      moved: Vector,
      columns: WorkingColumns,
      scale: number,
      above: number,
      stats: Vector,
    ]
  ): void;
  /** Σ x_i a_i of each column. */
  dotColumns(...args: [...Piece, source: Vector, result: Vector]): void;
  /** The same for columns whose products with q are `dots`; leaves their changes in `deltas`. */
  stepWorkingSet(
    ...args: [
      begin: number,
      end: number,
      dots: Vector,
      columns: WorkingColumns,
      scale: number,
      above: number,
      deltas: Vector,
      stats: Vector,
    ]
  ): void;
  /** target_i += δ_a x_ia h_i */
  moveColumns(...args: [...Piece, deltas: Vector, curvatures: Vector, target: Vector]): void;
  /**
   * Moves α along h ∘ x_a for each column whose |v_a| is above (1 + allowed) l1_a, 1.3 times as far
   * as a model with these curvatures asks for.
   */
  sweepDual(
    ...args: [
      ...Piece,
      curvatures: Vector,
      alpha: Vector,
      columns: WorkingColumns,
      allowed: number,
      scale: number,
      stats: Vector,
    ]
  ): void;
  /** The same for columns whose products with α are `dots`, without moving α. */
  stepDual(
    ...args: [
      begin: number,
      end: number,
      dots: Vector,
      columns: WorkingColumns,
      allowed: number,
      scale: number,
      deltas: Vector,
      stats: Vector,
    ]
  ): void;
  /** Σ a_k (b_k + c_k), the even and the odd terms in sums of their own. */
  productOfSum(a: Vector, b: Vector, c: Vector): number;
  /** Σ a_k b_k c_k, in the same way. */
  productOfThree(a: Vector, b: Vector, c: Vector): number;
  /** target ← (to − from) ∘ factor */
  scaledChange(from: Vector, to: Vector, factor: Vector, target: Vector): void;
  /** target ← target + share · factor ∘ source */
  addScaled(target: Vector, share: number, factor: Vector, source: Vector): void;
  /** target ← target + share · source */
  addMultiple(target: Vector, share: number, source: Vector): void;
  /** Σ l1_a p_a sign(z_a), with side · |p_a| for p_a sign(z_a) where z_a is 0. */
  cornerSum(p: Vector, z: Vector, l1: Vector, side: number): number;
  /** As penaltySlope, at a corner from the left. */
  penaltySlopeBefore(from: Vector, to: Vector, l1: Vector, l2: Vector, share: number): number;
  /**
   * bent ← the direction, but −z_a for weights that would leave 0 or cross it; returns how many, and
   * which by how much.
   */
  bendDirection(now: Vector, direction: Vector, l1: Vector, bent: Vector, cut: Pending): number;
  /** now ← now + share · direction, exactly 0 at `hit` and where a whole step leads there. */
  moveWeights(now: Vector, direction: Vector, share: number, hit: number): void;
  /**
   * Over the penalised columns, with penalties times `level`: the worst violation in units of the
   * gradient, Σ |w_j|, Σ |w_j| max(0, |v_j| − l1_j), and the largest |v_j| / l1_j without `level`.
   */
  measureViolations(
    ...args: [weights: Vector, image: Vector, l1: Vector, l2: Vector, level: number, found: Vector]
  ): void;
}

// The rows and lines of columns that the paper's solver and stochastic gradient descent work on.

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

/** What the paper's solver needs of each row of one worker. */
export interface SaddleRows {
  readonly labels: Float64Array;
  readonly rowWeights: Float64Array;
  readonly alpha: Float64Array;
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

export interface SgdRows {
  readonly labels: Float64Array;
  readonly rowWeights: Float64Array;
  /** −c ℓ' at the row's last step. */
  readonly alpha: Float64Array;
}

export interface SgdStep {
  /** Step sizes η_j/√G_j, or else η₀/√age for all columns. */
  readonly adagrad: boolean;
  /** η₀; AdaGrad's are in the columns' lines. */
  readonly stepSize: number;
  /** By how much a step adds to the age. */
  readonly aging: number;
  /** n/W of the worker's n rows: c_i times it is 1 in the mean. */
  readonly rowShare: number;
  /** Bounds of every weight but that of a column without a penalty, the intercept. */
  readonly bounds?: { readonly low: number; readonly high: number };
}

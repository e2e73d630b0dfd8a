/** Settings of the paper's solver, and of its asynchronous variant. */
export interface DsoSettings {
  /** 'adagrad' (default) or 'sqrt': η₀/√t as in Algorithm 1. */
  readonly step: 'adagrad' | 'sqrt';
  /** Step size for w (η₀); default depends on the loss. */
  readonly stepSize?: number;
  /** Step size for α; default: see docs. */
  readonly dualStepSize?: number;
  /** Variance reduction with a snapshot every epoch (default true). */
  readonly svrg: boolean;
  /** Passes of local dual coordinate descent before the first epoch (default 0; the paper: 20). */
  readonly initialize: number;
  /** The appendix's box on w; default true. α is always kept in the domain of its conjugate. */
  readonly boxes: boolean;
  /** Whether the model is the averaged iterate of Theorem 1 (default false: the last). */
  readonly average: boolean;
}

export interface DsoAsyncSettings extends DsoSettings {
  /** The block visits of an earlier run, to make again in the same order on one thread. */
  readonly order?: Int32Array;
}

export interface RingSettings {
  /** 'rows' (dual), 'columns' (primal) or 'auto' by loss and penalty. */
  readonly mode: 'auto' | 'rows' | 'columns';
  /** Rotations per epoch, B; default by the data. */
  readonly rotations?: number;
}

/** Settings of stochastic gradient descent, serial (sgd) and parallel (psgd). */
export interface SgdSettings {
  /** 'adagrad' (default) or 'sqrt': η₀/√t. */
  readonly step: 'adagrad' | 'sqrt';
  /** Step size η₀; the default depends on the step rule and the loss. */
  readonly stepSize?: number;
  /** Whether the model is the average of the iterates (default true) or the last one. */
  readonly average: boolean;
}

export interface BmrmSettings {
  /** Accuracy of the inner quadratic program, as a share of the current gap (default 0.1). */
  readonly innerTolerance?: number;
}

export interface LbfgsSettings {
  /** Pairs of steps and gradient changes that are remembered (default 10). */
  readonly history: number;
}

export interface AdmmSettings {
  /** Weight ρ of the quadratic tie to the consensus; by default found by balancing residuals. */
  readonly rho?: number;
  /** Passes of local dual coordinate descent per iteration (default 1). */
  readonly passes: number;
}

export interface DcdSettings {
  /** Leaves out rows that rest at a bound (default true). */
  readonly shrink: boolean;
}

/** A solver as a value: what the user chose and its settings; the functions of `solvers` make them. */
export type Solver =
  | { readonly name: 'auto' }
  | { readonly name: 'dso'; readonly settings: DsoSettings }
  | { readonly name: 'dso-async'; readonly settings: DsoAsyncSettings }
  | { readonly name: 'ring'; readonly settings: RingSettings }
  | { readonly name: 'sgd' | 'psgd'; readonly settings: SgdSettings }
  | { readonly name: 'bmrm'; readonly settings: BmrmSettings }
  | { readonly name: 'lbfgs'; readonly settings: LbfgsSettings }
  | { readonly name: 'admm'; readonly settings: AdmmSettings }
  | { readonly name: 'dcd'; readonly settings: DcdSettings };

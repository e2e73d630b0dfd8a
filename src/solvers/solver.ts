/**
 * A solver as a value: what the user chose and its settings. `solvers.dso({...})`,
 * `solvers.ring({...})` and `solvers.auto()` make them.
 */
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

export interface RingSettings {
  /** 'rows' (dual), 'columns' (primal) or 'auto' by loss and penalty. */
  readonly mode: 'auto' | 'rows' | 'columns';
  /** Rotations per epoch, B; default by the data. */
  readonly rotations?: number;
}

export type Solver =
  | { readonly name: 'auto' }
  | { readonly name: 'dso'; readonly settings: DsoSettings }
  | { readonly name: 'ring'; readonly settings: RingSettings };

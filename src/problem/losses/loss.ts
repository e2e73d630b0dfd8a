/**
 * The scalar functions of a loss ℓ(u, y): u is a score ⟨w, x⟩, y a label, `parameter` the loss's
 * single number where it has one (smoothing, δ, ε, τ). A loss knows one score and one label.
 *
 * The dual variable α_i is the paper's: w's image is Σ α_i x_i, and the dual objective holds
 * −ℓ*(−α_i). For hinge and logistic y α_i lies in [0, 1].
 *
 * Every file in this folder that is named after a loss exports these functions with exactly these
 * names, and is written in the part of TypeScript that AssemblyScript compiles too: the same
 * source becomes the WebAssembly kernel and its plain JavaScript twin.
 */
export interface LossFunctions {
  /** ℓ(u, y) */
  value(u: number, y: number, parameter: number): number;
  /** ℓ'(u, y); at a kink any subgradient. */
  derivative(u: number, y: number, parameter: number): number;
  /**
   * ℓ''(u, y), floored where it would make a Newton step wild; 0 for a loss that is not smooth.
   * `slope` is ℓ'(u, y), which callers have at hand and some losses can use.
   */
  curvature(u: number, y: number, parameter: number, slope: number): number;
  /** ℓ*(s) = sup_u { s u − ℓ(u, y) } for s in the domain; callers keep s inside. */
  conjugate(s: number, y: number, parameter: number): number;
  /** (ℓ*)'(s); at the ends of the domain the limit from inside, kept finite. */
  conjugateDerivative(s: number, y: number, parameter: number): number;
  /** Lower end of the domain of ℓ*, −Infinity if open. */
  conjugateLow(y: number, parameter: number): number;
  /** Upper end of the domain of ℓ*, Infinity if open. */
  conjugateHigh(y: number, parameter: number): number;
  /**
   * argmax_a { −ℓ*(−a) − u (a − α) − (q/2)(a − α)² } over the domain. `alpha` itself may lie
   * outside the domain (momentum put it there). q ≥ 0; q = 0 asks for the maximiser of the linear
   * model (an end of the domain where there is one).
   */
  dualStep(alpha: number, u: number, q: number, y: number, parameter: number): number;
}

export type Task = 'classification' | 'regression';

/** Which labels a loss is made for. */
export interface LabelRule {
  /** Ends the sentence "wanted …". */
  readonly wanted: string;
  accepts(label: number): boolean;
}

/** What every loss has, also one without a known conjugate. */
export interface PrimalLoss extends Pick<LossFunctions, 'value' | 'derivative'> {
  readonly name: string;
  readonly task: Task;
  /** Whether ℓ is differentiable, with a second derivative that is bounded on bounded scores. */
  readonly smooth: boolean;
  readonly parameter: number;
}

/** A loss with its conjugate: what a certificate, and so every solver here, needs. */
export interface Loss extends PrimalLoss, LossFunctions {
  /** What `parameter` is called for users (`epsilon`, `delta`, `smoothing`), if it has one. */
  readonly parameterName?: string;
  /** Set where not every finite number is a label; of regression only. */
  readonly labels?: LabelRule;
  /** file: URL of the module of a custom loss, which worker threads import themselves. */
  readonly module?: string;
}

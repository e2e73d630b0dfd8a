/**
 * A separable penalty φ(w) = l1·|w| + (l2/2)·w². L2, L1 and the elastic net are this family, so a
 * kernel needs two numbers and no call. λ and per-feature factors are applied by the objective.
 */
export interface Penalty {
  readonly name: string;
  readonly l1: number;
  readonly l2: number;
  /** φ(w) */
  value(w: number): number;
  /** An element of ∂φ(w), 0 at w = 0. */
  subgradient(w: number): number;
  /** argmin_x { t·φ(x) + ½ (x − w)² }, t ≥ 0. */
  prox(w: number, t: number): number;
  /** φ*(s) = sup_w { s w − φ(w) }; Infinity outside the domain. */
  conjugate(s: number): number;
}

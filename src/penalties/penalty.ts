/**
 * A separable penalty φ(w) = l1·|w| + (l2/2)·w². L2, L1 and the elastic net are this family, so a
 * kernel needs two numbers and no call. λ and per-feature factors are applied by the objective.
 * Where it is bounded, φ is infinite outside [low, high].
 */
export interface Penalty {
  readonly name: string;
  readonly l1: number;
  readonly l2: number;
  /** The ends of the box that weights are kept in, low ≤ 0 ≤ high; none unless given. */
  readonly low?: number;
  readonly high?: number;
  /** φ(w) */
  value(w: number): number;
  /** An element of ∂φ(w), 0 at w = 0; of no meaning where φ(w) is infinite. */
  subgradient(w: number): number;
  /** argmin_x { t·φ(x) + ½ (x − w)² }, t ≥ 0. */
  prox(w: number, t: number): number;
  /** φ*(s) = sup_w { s w − φ(w) }; Infinity outside the domain. */
  conjugate(s: number): number;
}

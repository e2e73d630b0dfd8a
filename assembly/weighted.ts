// The loss c ℓ of a row that counts c, as src/solvers/kernels/plain has it. Mostly c is 1, where multiplying changes
// nothing: a branch that is always foretold spares the row a quotient and α a wait for products.
import * as loss from "./loss";

/** 1/c, and 0 for a row that has no say. */
// @ts-ignore: decorator
@inline
export function inverseOf(c: f64): f64 {
  if (c == 1) return 1;
  return c > 0 ? 1 / c : 0;
}

// @ts-ignore: decorator
@inline
export function value(c: f64, u: f64, y: f64, parameter: f64): f64 {
  if (c == 1) return loss.value(u, y, parameter);
  return c == 0 ? 0 : c * loss.value(u, y, parameter);
}

/** c ℓ*(s/c) */
// @ts-ignore: decorator
@inline
export function conjugate(c: f64, s: f64, y: f64, parameter: f64): f64 {
  if (c == 1) return loss.conjugate(s, y, parameter);
  return c == 0 ? 0 : c * loss.conjugate(s * (1 / c), y, parameter);
}

/** ℓ*'(s/c) */
// @ts-ignore: decorator
@inline
export function conjugateDerivative(c: f64, s: f64, y: f64, parameter: f64): f64 {
  // With one call of the loss, the compiler inlines it.
  let at = s;
  if (c != 1) at = s * inverseOf(c);
  return loss.conjugateDerivative(at, y, parameter);
}

/** c step(α/c, u, c q), for c > 0; `inverse` is that of c. */
// @ts-ignore: decorator
@inline
export function dualStep(c: f64, inverse: f64, alpha: f64, u: f64, q: f64, y: f64, parameter: f64): f64 {
  if (c == 1) return loss.dualStep(alpha, u, q, y, parameter);
  return c * loss.dualStep(alpha * inverse, u, q * c, y, parameter);
}

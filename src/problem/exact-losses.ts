/**
 * The losses and their conjugates in double-double arithmetic, by name: what `dso verify` checks
 * certificates with. Formulas and domains are those of the files in losses/.
 */
import {
  absolute,
  add,
  compare,
  type DoubleDouble,
  divide,
  exact,
  exp,
  greatest,
  log,
  log1p,
  multiply,
  negate,
  one,
  product,
  subtract,
  zero,
} from '../math/double-double.ts';
import type { Loss } from './losses/loss.ts';

export interface ExactLoss {
  /** ℓ(u, y) */
  value(u: DoubleDouble, y: number, parameter: number): DoubleDouble;
  /** ℓ*(s) for s in the domain. */
  conjugate(s: DoubleDouble, y: number, parameter: number): DoubleDouble;
}

const half = exact(0.5);

function square(x: DoubleDouble): DoubleDouble {
  return multiply(x, x);
}

/** 1 − y u */
function violationOf(u: DoubleDouble, y: number): DoubleDouble {
  return subtract(one, multiply(exact(y), u));
}

/** |u − y| − ε, at least 0 */
function excessOf(u: DoubleDouble, y: number, epsilon: number): DoubleDouble {
  return greatest(zero, subtract(absolute(subtract(u, exact(y))), exact(epsilon)));
}

function times(y: number, s: DoubleDouble): DoubleDouble {
  return multiply(exact(y), s);
}

/** x log x, 0 at 0 */
function xLogX(x: DoubleDouble): DoubleDouble {
  return x.hi > 0 ? multiply(x, log(x)) : zero;
}

/** log(1 + eᶻ) */
function softplus(z: DoubleDouble): DoubleDouble {
  return add(greatest(z, zero), log1p(exp(negate(absolute(z)))));
}

/** The conjugate of ½ (u − y)², which huber shares within its domain. */
function halfSquareConjugate(s: DoubleDouble, y: number): DoubleDouble {
  return multiply(s, add(exact(y), multiply(half, s)));
}

/** Where ℓ of poisson goes on as its tangent, as in losses/poisson.ts. */
const farthestScore = exact(200);
const greatestBeta = exact(7.22597376812575e86);

const exactLosses: Readonly<Record<string, ExactLoss>> = {
  hinge: {
    value: (u, y) => greatest(zero, violationOf(u, y)),
    conjugate: (s, y) => times(y, s),
  },
  'squared-hinge': {
    value: (u, y) => square(greatest(zero, violationOf(u, y))),
    conjugate: (s, y) => add(times(y, s), multiply(exact(0.25), square(s))),
  },
  'smoothed-hinge': {
    value(u, y, smoothing) {
      const violation = greatest(zero, violationOf(u, y));
      const width = exact(smoothing);
      return compare(violation, width) >= 0
        ? subtract(violation, multiply(half, width))
        : divide(multiply(half, square(violation)), width);
    },
    conjugate: (s, y, smoothing) => add(times(y, s), multiply(product(0.5, smoothing), square(s))),
  },
  logistic: {
    value: (u, y) => softplus(negate(multiply(exact(y), u))),
    conjugate(s, y) {
      const beta = negate(times(y, s));
      const other = subtract(one, beta);
      return add(xLogX(beta), other.hi > 0 ? multiply(other, log1p(negate(beta))) : zero);
    },
  },
  square: {
    value: (u, y) => multiply(half, square(subtract(u, exact(y)))),
    conjugate: halfSquareConjugate,
  },
  huber: {
    value(u, y, delta) {
      const size = absolute(subtract(u, exact(y)));
      const straight = multiply(exact(delta), subtract(size, product(0.5, delta)));
      return compare(size, exact(delta)) <= 0 ? multiply(half, square(size)) : straight;
    },
    conjugate: halfSquareConjugate,
  },
  absolute: {
    value: excessOf,
    conjugate: (s, y, epsilon) => add(times(y, s), times(epsilon, absolute(s))),
  },
  'squared-absolute': {
    value: (u, y, epsilon) => square(excessOf(u, y, epsilon)),
    conjugate: (s, y, epsilon) =>
      add(add(times(y, s), times(epsilon, absolute(s))), multiply(exact(0.25), square(s))),
  },
  quantile: {
    value(u, y, quantile) {
      const residual = subtract(u, exact(y));
      const slope = exact(residual.hi > 0 ? 1 - quantile : -quantile);
      return multiply(slope, residual);
    },
    conjugate: (s, y) => times(y, s),
  },
  poisson: {
    value(u, y) {
      const beyond = subtract(u, farthestScore);
      const mean = beyond.hi <= 0 ? exp(u) : multiply(greatestBeta, add(beyond, one));
      if (y === 0) return mean;
      const label = exact(y);
      return subtract(subtract(mean, label), times(y, subtract(u, log(label))));
    },
    conjugate(s, y) {
      const beta = add(s, exact(y));
      return subtract(subtract(xLogX(beta), xLogX(exact(y))), s);
    },
  },
};

/** A loss in double-double arithmetic; undefined of custom ones, which are known in doubles alone. */
export function exactLossOf({
  name,
  module,
}: Pick<Loss, 'name' | 'module'>): ExactLoss | undefined {
  return module === undefined && Object.hasOwn(exactLosses, name) ? exactLosses[name] : undefined;
}

/** A loss in doubles behind the same interface. */
export function doubleLossOf(loss: Loss): ExactLoss {
  return {
    value: (u, y, parameter) => exact(loss.value(u.hi, y, parameter)),
    conjugate: (s, y, parameter) => exact(loss.conjugate(s.hi, y, parameter)),
  };
}

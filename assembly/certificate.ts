// Sums of a certificate and bounds on their errors. Twin of src/solvers/kernels/plain/certificate.ts.
import { exp } from "../src/math/elementary.ts";
import { atLeast, exactSumError, OPERATIONS, penaltyConjugate, SECURE, sumError, UNIT } from "../src/math/rounding.ts";
import { xlogx } from "../src/math/scalars.ts";
import * as loss from "./loss";
import { addDouble, double, float, int, setDouble } from "./memory";

// Those of lossKind; custom losses have no WebAssembly.
const RESIDUAL = 1;
const LOG = 2;

export function lossErrors(
  margins: usize, labels: usize, rowWeights: usize, sizes: usize, counts: usize, count: i32, more: i32, adding: f64,
  kind: i32, found: usize, parameter: f64,
): void {
  let errors: f64 = 0;
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const u = double(margins, i);
    const y = double(labels, i);
    const c = double(rowWeights, i);
    if (c == 0) continue;
    const argument = kind == RESIDUAL ? Math.abs(u - y) : 1 + Math.abs(u) + Math.abs(parameter);
    const delta = 2 * UNIT * (SECURE * (<f64>(int(counts, i) + more) * double(sizes, i)) + 4 * argument);
    const here = loss.value(u, y, parameter);
    const most = Math.max(loss.value(u + delta, y, parameter), loss.value(u - delta, y, parameter));
    const size = Math.max(Math.abs(most), Math.abs(here));
    let terms = size;
    if (kind == LOG) terms += exp(u) + y * (1 + Math.abs(u)) + Math.abs(xlogx(y));
    errors += c * (Math.max(0, most - here) + OPERATIONS * UNIT * terms + adding * size);
    sum += c * Math.abs(here);
  }
  setDouble(found, 0, errors);
  setDouble(found, 1, sum);
}

export function conjugateErrors(
  alpha: usize, labels: usize, rowWeights: usize, count: i32, scale: f64, kind: i32, found: usize, parameter: f64,
): void {
  // Compensated, as CompensatedSum does it.
  let sum: f64 = 0;
  let lost: f64 = 0;
  let sizes: f64 = 0;
  let errors: f64 = 0;
  for (let i = 0; i < count; i++) {
    const c = double(rowWeights, i);
    if (c == 0) continue;
    const y = double(labels, i);
    const s = -(scale * double(alpha, i) * (1 / c));
    const value = loss.conjugate(s, y, parameter);
    const term = c * value;
    const next = sum + term;
    lost += Math.abs(sum) >= Math.abs(term) ? sum - next + term : term - next + sum;
    sum = next;
    sizes += Math.abs(term);
    errors += OPERATIONS * UNIT * c * conjugateTerms(kind, s, y, value, parameter);
  }
  setDouble(found, 0, isFinite(sum) ? sum + lost : sum);
  setDouble(found, 1, sizes);
  setDouble(found, 2, errors);
}

// @ts-ignore: decorator
@inline
function conjugateTerms(kind: i32, s: f64, y: f64, value: f64, parameter: f64): f64 {
  if (s == 0) return Math.abs(value);
  const slope = Math.abs(loss.conjugateDerivative(s, y, parameter));
  const linear = Math.abs(s) * (1 + Math.abs(y) + slope + Math.abs(parameter));
  if (kind != LOG) return Math.abs(value) + linear;
  const beta = Math.max(0, s + y);
  return Math.abs(value) + linear + Math.abs(xlogx(beta)) + beta + Math.abs(xlogx(y)) + y;
}

export function curvatureSum(margins: usize, labels: usize, rowWeights: usize, count: i32, parameter: f64): f64 {
  let sum: f64 = 0;
  for (let i = 0; i < count; i++) {
    const c = double(rowWeights, i);
    if (c == 0) continue;
    const u = double(margins, i);
    const y = double(labels, i);
    sum += c * loss.curvature(u, y, parameter, loss.derivative(u, y, parameter));
  }
  return sum;
}

export function imageErrors(
  image: usize, sizes: usize, counts: usize, count: i32, more: i32, exactly: i32,
): void {
  for (let j = 0; j < count; j++) {
    const terms = <f64>(int(counts, j) + more);
    const size = double(sizes, j);
    setDouble(sizes, j, exactly != 0 ? exactSumError(terms, double(image, j), size) : sumError(terms, size));
  }
}

/** Boxes at address 0 have no ends. */
// @ts-ignore: decorator
@inline
function endOf(ends: usize, j: i32, none: f64): f64 {
  return ends == 0 ? none : double(ends, j);
}

export function penaltyBounds(
  image: usize, errors: usize, l1: usize, l2: usize, skip: i32, count: i32, scale: f64, rounding: f64, found: usize,
): void {
  penaltyBoundsInBox(image, errors, l1, l2, skip, count, scale, rounding, found, 0, 0);
}

export function penaltyBoundsInBox(
  image: usize, errors: usize, l1: usize, l2: usize, skip: i32, count: i32, scale: f64, rounding: f64, found: usize,
  lows: usize, highs: usize,
): void {
  let sum: f64 = 0;
  let most: f64 = 0;
  for (let j = 0; j < count; j++) {
    if (j == skip) continue;
    const v = double(image, j);
    const error = double(errors, j);
    const one = double(l1, j);
    const two = double(l2, j);
    const low = endOf(lows, j, -Infinity);
    const high = endOf(highs, j, Infinity);
    sum += penaltyConjugate(scale * v, one, two, low, high, 0);
    const above = penaltyConjugate(scale * (v + error), one, two, low, high, OPERATIONS * UNIT);
    const below = penaltyConjugate(scale * (v - error), one, two, low, high, OPERATIONS * UNIT);
    most += Math.max(above, below) * rounding;
  }
  setDouble(found, 0, sum);
  setDouble(found, 1, most);
}

export function greatestRatio(image: usize, errors: usize, l1: usize, skip: i32, count: i32): f64 {
  return greatestRatioInBox(image, errors, l1, skip, count, 0, 0);
}

export function greatestRatioInBox(
  image: usize, errors: usize, l1: usize, skip: i32, count: i32, lows: usize, highs: usize,
): f64 {
  let greatest: f64 = 0;
  for (let j = 0; j < count; j++) {
    if (j == skip) continue;
    const most = atLeast(double(l1, j), OPERATIONS * UNIT);
    const v = double(image, j);
    const error = double(errors, j);
    if (endOf(highs, j, Infinity) == Infinity) greatest = Math.max(greatest, (v + error) / most);
    if (endOf(lows, j, -Infinity) == -Infinity) greatest = Math.max(greatest, (error - v) / most);
  }
  return greatest;
}

export function columnRooms(image: usize, errors: usize, l1: usize, skip: i32, count: i32, scale: f64): void {
  columnRoomsInBox(image, errors, l1, skip, count, scale, 0, 0);
}

export function columnRoomsInBox(
  image: usize, errors: usize, l1: usize, skip: i32, count: i32, scale: f64, lows: usize, highs: usize,
): void {
  for (let j = 0; j < count; j++) {
    if (j == skip) continue;
    const v = double(image, j);
    const up = endOf(highs, j, Infinity) > 0 ? v : -Infinity;
    const down = endOf(lows, j, -Infinity) < 0 ? -v : -Infinity;
    const most = scale * (Math.max(up, down) + double(errors, j));
    const error = OPERATIONS * UNIT * Math.abs(most);
    setDouble(errors, j, atLeast(double(l1, j), OPERATIONS * UNIT) - (most + error));
  }
}

export function addSquares(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, byRow: i32,
  rowWeights: usize, squares: usize, sums: usize,
): void {
  for (let unit = begin; unit < end; unit++) {
    const last = int(offsets, unit + 1);
    if (byRow != 0) {
      const c = double(rowWeights, unit);
      for (let k = int(offsets, unit); k < last; k++) {
        const column = int(indices, k);
        const part = c * float(values, k);
        addDouble(sums, column, part);
        addDouble(squares, column, part * float(values, k));
      }
      continue;
    }
    let sum = double(sums, unit);
    let square = double(squares, unit);
    for (let k = int(offsets, unit); k < last; k++) {
      const part = double(rowWeights, int(indices, k)) * float(values, k);
      sum += part;
      square += part * float(values, k);
    }
    setDouble(sums, unit, sum);
    setDouble(squares, unit, square);
  }
}

export function addExactly(
  offsets: usize, indices: usize, values: usize, begin: i32, end: i32, byRow: i32,
  alpha: usize, high: usize, low: usize,
): void {
  for (let unit = begin; unit < end; unit++) {
    const last = int(offsets, unit + 1);
    for (let k = int(offsets, unit); k < last; k++) {
      const other = int(indices, k);
      const column = byRow != 0 ? other : unit;
      const a = double(alpha, byRow != 0 ? unit : other);
      const shifted = 134217729 * a;
      const upper = shifted - (shifted - a);
      addTerm(high, low, column, upper * float(values, k));
      addTerm(high, low, column, (a - upper) * float(values, k));
    }
  }
}

/** high[j] += term, with the rounding error in low[j]. */
// @ts-ignore: decorator
@inline
function addTerm(high: usize, low: usize, j: i32, term: f64): void {
  const before = double(high, j);
  const sum = before + term;
  const part = sum - before;
  setDouble(high, j, sum);
  addDouble(low, j, before - (sum - part) + (term - part));
}
